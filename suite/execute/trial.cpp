// What all trials share: limits, placement, the clock of the harness's own cost.
#include "suite/execute/trial.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "common/affinity/cpu_set.h"
#include "common/affinity/memory_policy.h"
#include "common/affinity/scheduling.h"
#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "suite/execute/trial_parts.h"

namespace krepro {
namespace {

constexpr std::size_t longest_reason = 400;

/// The option that says how long the load runs, in ns; 0 where the generator has none.
std::int64_t runtime_of(const Benchmark& benchmark, const GeneratorInfo& generator) {
  for (const Option& option : generator.options.options()) {
    if (option.means != Meaning::runtime) continue;
    Options values(generator.options);
    for (const auto& [name, value] : benchmark.options.items()) {
      if (generator.options.find(name) == &option) values.set_json(name, value);
    }
    if (values.has(option.name)) return values.integer(option.name);
  }
  return 0;
}

}  // namespace

std::int64_t run_limit_ns(const Benchmark& benchmark, const GeneratorInfo& generator,
                          const TrialLimits& limits) {
  if (limits.run_ns) return *limits.run_ns;
  const std::int64_t runtime_ns = runtime_of(benchmark, generator);
  if (runtime_ns > 0) return runtime_ns + runtime_ns / 2 + 60 * one_second_ns;
  const double expected_ns = benchmark.expected_seconds * 1e9;
  return std::max(3600 * one_second_ns, static_cast<std::int64_t>(20 * expected_ns));
}

nlohmann::json TrialClock::to_json(std::int64_t load_ns) const {
  const bool ready = ready_ns != 0;
  const bool measured = sample_ns != 0 && go_ns != 0;
  const std::int64_t start_up_ns = ready ? ready_ns - begin_ns - spawn_ns : 0;
  const std::int64_t total_ns = end_ns - begin_ns;
  nlohmann::json block = {{"total_ns", total_ns},
                          {"spawn_ns", spawn_ns},
                          {"start_up_ns", start_up_ns},
                          {"counters_ns", counters_ns}};
  if (measured) {
    const std::int64_t end_phase_ns = end_ns - sample_ns;
    block["wait_ns"] = sample_ns - go_ns;
    block["end_ns"] = end_phase_ns;
    // Virtual time, which costs nothing, may be longer than the wait.
    block["own_ns"] = total_ns - start_up_ns - counters_ns - std::min(load_ns, sample_ns - go_ns);
  }
  return block;
}

SpawnRequest placed_request(const TrialRequest& trial, const std::string& role) {
  const Benchmark& benchmark = *trial.benchmark;
  SpawnRequest request;
  // Numbers and messages of programs must not depend on the user's language.
  request.environment = {"LC_ALL=C"};
  const auto cpus = benchmark.cpus.find(role);
  if (cpus != benchmark.cpus.end()) request.cpus = CpuSet::parse(cpus->get<std::string>());
  const auto memory = benchmark.memory_policy.find(role);
  if (memory != benchmark.memory_policy.end()) {
    request.memory = parse_memory_policy(memory->get<std::string>());
  }
  const auto scheduling = benchmark.scheduling.find(role);
  const auto varied = trial.roles.scheduling.find(role);
  if (varied != trial.roles.scheduling.end()) {
    request.scheduling = parse_scheduling(varied->second);
  } else if (scheduling != benchmark.scheduling.end()) {
    request.scheduling = parse_scheduling(scheduling->get<std::string>());
  }
  const auto cgroup = trial.roles.cgroup.find(role);
  if (cgroup != trial.roles.cgroup.end()) request.cgroup = cgroup->second;
  return request;
}

std::string one_line(const std::string& text) {
  std::string line;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\n') {
      while (line.ends_with(' ')) line.pop_back();
      line += "; ";
    } else {
      line += byte < 0x20 || byte == 0x7f ? '?' : letter;
    }
  }
  while (line.ends_with(' ') || line.ends_with(';')) line.pop_back();
  if (line.size() > longest_reason) line = line.substr(0, longest_reason) + "...";
  return line;
}

RecordedTrial run_trial(const TrialRequest& request, const Interruption& interruption) {
  KREPRO_CHECK(request.benchmark != nullptr && request.generator != nullptr &&
               request.counters != nullptr);
  RecordedTrial record;
  record.benchmark = request.benchmark->name;
  record.repetition = request.trial.repetition;
  record.warmup = request.trial.warmup;
  record.order = request.trial.index;
  record.simulated = request.simulated_boot.has_value();
  try {
    if (request.benchmark->upstream) {
      run_original_trial(request, interruption, record);
    } else {
      run_control_trial(request, interruption, record);
    }
  } catch (const Error& error) {
    // Not startable: the program is missing, a placement or policy is refused.
    record.status = error.code() == ExitCode::not_possible ? "skipped" : "failed";
    record.reason = error.what();
    if (!error.remedy().empty()) record.reason += "; " + error.remedy();
  }
  record.reason = one_line(record.reason);
  return record;
}

}  // namespace krepro
