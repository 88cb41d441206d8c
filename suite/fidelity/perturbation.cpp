// The changes that --perturb knows; see perturbation.h.
#include "suite/fidelity/perturbation.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"

namespace krepro::fidelity {

namespace {

CpuSet cpus_of(const Conditions& conditions) {
  return conditions.cpus ? *conditions.cpus : CpuSet::allowed();
}

}  // namespace

Conditions Perturbation::apply(const Conditions& conditions) const {
  Conditions changed = conditions;
  if (scheduling) changed.scheduling = scheduling;
  if (fewer_cpus) {
    std::vector<int> cpus = cpus_of(conditions).cpus();
    cpus.resize(std::max<std::size_t>(1, cpus.size() / 2));
    changed.cpus = CpuSet(cpus);
  }
  return changed;
}

Perturbation parse_perturbation(const std::string& text) {
  Perturbation perturbation;
  perturbation.name = text;
  if (text == "NICE") {
    perturbation.scheduling = parse_scheduling("other,nice:5");
    perturbation.competitors = true;
    perturbation.explanation = "nice 5, beside one busy process of nice 0 per CPU";
  } else if (text == "SCHED_BATCH" || text == "SCHED_IDLE") {
    perturbation.scheduling = parse_scheduling(text == "SCHED_BATCH" ? "batch" : "idle");
    perturbation.explanation = fmt::format("policy {}", text);
  } else if (text == "FEWER_CPUS") {
    perturbation.fewer_cpus = true;
    perturbation.explanation = "on half of the CPUs";
  } else {
    try {
      perturbation.scheduling = parse_scheduling(text);
    } catch (const Error& error) {
      throw usage_error(fmt::format("--perturb {}: not NICE, SCHED_BATCH, SCHED_IDLE or "
                                    "FEWER_CPUS, and not a scheduling policy: {}",
                                    text, error.what()),
                        "for instance --perturb SCHED_BATCH, or --perturb other,slice:3ms");
    }
    perturbation.explanation = "scheduling " + to_string(*perturbation.scheduling);
  }
  return perturbation;
}

Competitors::Competitors(const CpuSet& cpus) {
  for (const int cpu : cpus.cpus()) {
    SpawnRequest request;
    request.argv = {"/bin/sh", "-c", "while :; do :; done"};
    request.cpus = CpuSet({cpu});
    request.pipe_stdin = false;
    request.pipe_stdout = false;
    children_.push_back(Child::spawn(request));
  }
}

}  // namespace krepro::fidelity
