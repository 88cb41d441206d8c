// Checks of this machine against the profile, and of its noise.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/doctor/checks.h"

namespace krepro {

namespace {

CheckResult machine_check(const Patient& patient) {
  const bool named = patient.plan != nullptr || !patient.no_row_can_run.empty();
  if (!named) return fine("no profile was named");
  if (patient.machine_differences.empty()) return fine("as the profile expects, where it says so");
  return {Weight::problem,
          fmt::format("not the machine that the profile was written for: {}",
                      fmt::join(patient.machine_differences, "; ")),
          patient.plan != nullptr && patient.plan->fitted
              ? ""
              : "--fit scales the rows to this one; or use the real one"};
}

CheckResult rows_check(const Patient& patient) {
  if (!patient.no_row_can_run.empty()) {
    return {Weight::problem, patient.no_row_can_run, "see krepro list, or use another machine"};
  }
  if (patient.plan == nullptr) return fine("no profile was named");
  const std::vector<SkippedBenchmark>& skipped = patient.plan->skipped;
  if (skipped.empty()) {
    return fine(fmt::format("all {} rows can run here", patient.plan->benchmarks.size()));
  }
  std::string text = fmt::format("{}: {}", skipped.front().name, skipped.front().reason);
  if (skipped.size() > 1) text += fmt::format("; and {} more rows", skipped.size() - 1);
  return {Weight::problem, "a row cannot run here: " + text, "krepro plan PROFILE names them all"};
}

CheckResult topology_check(const Patient& patient) {
  const Machine& machine = *patient.machine;
  if (!machine.has_topology()) {
    return {Weight::warning, "the topology cannot be read: " + machine.topology_problem,
            "mount /sys in the container"};
  }
  if (machine.llcs_by_cpuid) {
    return {
        Weight::note,
        "sysfs tells of no caches; last-level caches are by CPUID, which a hypervisor may invent",
        ""};
  }
  if (machine.llcs.empty()) {
    return {Weight::warning, "the last-level caches are not known: llc: placements cannot work",
            ""};
  }
  return fine(summary(machine));
}

CheckResult ports_check(const Patient& patient) {
  if (patient.plan == nullptr) return fine("no profile was named");
  if (patient.taken_ports.empty()) return fine("no port that the rows name is taken");
  return {
      Weight::problem,
      fmt::format("ports {} are taken by another program", fmt::join(patient.taken_ports, ", ")),
      "ss -ltnp shows by whom; or let the server choose: port = 0"};
}

CheckResult tools_check(const Patient& patient) {
  if (patient.missing_tools.empty()) return fine("all that this needs is installed");
  return {Weight::note, fmt::format("not installed: {}", fmt::join(patient.missing_tools, "; ")),
          "install them where the row or krepro fidelity needs them"};
}

CheckResult noise_check(const Patient& patient) {
  constexpr double noisy = 0.1;
  if (!patient.noise) return {Weight::unseen, "not measured (--quick, or part of krepro run)", ""};
  Weight weight = Weight::fine;
  std::vector<std::string> texts;
  for (const NoiseRow& row : *patient.noise) {
    if (!row.failure.empty()) {
      weight = Weight::problem;
      texts.push_back(fmt::format("{}: {}", row.name, row.failure));
      continue;
    }
    texts.push_back(fmt::format("{}: one trial +-{:.1f} %, itself against itself {:+.1f} %{}",
                                row.name, 100 * row.variation, 100 * row.aa_change,
                                row.two_modes ? ", two modes" : ""));
    if (row.variation > noisy || row.two_modes) weight = std::min(weight, Weight::warning);
  }
  return {weight, fmt::format("{}", fmt::join(texts, "; ")),
          weight == Weight::fine ? "" : "krepro aa PROFILE measures the rows themselves"};
}

}  // namespace

std::vector<Check> plan_checks() {
  return {
      {"machine", "the effect may need the caches, CPUs or nodes that this machine has not",
       "published: the newidle regression needs many last-level caches", machine_check},
      {"rows", "what does not run is no result", "by construction", rows_check},
      {"topology", "placements stand on it", "by construction", topology_check},
      {"ports", "a server cannot listen where another one does", "by construction", ports_check},
      {"tools", "what they would show stays unseen", "nothing by itself", tools_check},
      {"noise", "an effect below the noise cannot be seen",
       "measured: trials of known loads, here and now", noise_check},
  };
}

}  // namespace krepro
