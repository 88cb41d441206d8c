// A trial of the original program (upstream = true): the same placement, counters and record; its
// figures are read from its output by the patterns that the generator's description gives.
#include <fmt/core.h>

#include <array>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "suite/execute/trial_parts.h"
#include "suite/original/original.h"

namespace krepro {
namespace {

/// What the original prints is short; more than this is not its result.
constexpr std::size_t most_output_bytes = 16U << 20U;

std::string take_output(WatchedProcess& process, std::string text) {
  while (const std::optional<std::string> line = process.output().take()) {
    if (text.size() + line->size() < most_output_bytes) text += *line + "\n";
  }
  return text;
}

/// Runs until it ends. Throws TrialAborted on a signal and at the time `deadline_ns`.
std::string output_until_end(WatchedProcess& process, const Interruption& interruption,
                             std::int64_t deadline_ns, std::int64_t limit_ns) {
  const std::array<WatchedProcess*, 1> only = {&process};
  std::string text;
  while (!process.ended()) {
    const Wake wake = wait_for_activity(only, &interruption, deadline_ns);
    text = take_output(process, std::move(text));
    if (wake == Wake::interrupted) {
      throw TrialAborted{"truncated", fmt::format("interrupted by {}", interruption.signal_name())};
    }
    if (wake == Wake::timeout) {
      throw TrialAborted{"failed",
                         fmt::format("hung: {} did not end within {} and was killed; it "
                                     "was: {}",
                                     process.name(), format_duration(static_cast<double>(limit_ns)),
                                     describe_process_group(process.child().pid()))};
    }
  }
  return take_output(process, std::move(text));
}

nlohmann::json original_sample(const TrialRequest& request, const OriginalProgram& original,
                               const std::vector<std::string>& argv, const std::string& output,
                               const ChildEnd& end) {
  nlohmann::json metrics = nlohmann::json::object();
  const std::map<std::string, double> figures = original.read_figures(output);
  for (const MetricInfo& metric : request.generator->metrics) {
    const auto found = figures.find(metric.name);
    if (found == figures.end()) continue;
    metrics[metric.name] = {{"value", found->second},
                            {"unit", metric.unit},
                            {"better", metric.higher_is_better ? "higher" : "lower"},
                            {"primary", metric.primary}};
  }
  const MetricInfo* primary = request.generator->primary_metric();
  if (primary != nullptr && !metrics.contains(primary->name)) {
    throw TrialAborted{"failed", fmt::format("no {} in the output of {}", primary->name, argv[0])};
  }
  return {{"generator", request.generator->name},
          {"valid", true},
          {"truncated", false},
          {"operations", 0},  // The original does not tell.
          {"duration_ns", end.elapsed_ns},
          {"errors", nlohmann::json::object()},
          {"metrics", std::move(metrics)},
          {"options", request.benchmark->options},
          {"extra",
           {{"upstream", true},
            {"argv", argv},
            {"version", original.version()},
            {"output", output.substr(0, 4096)},
            {"voluntary_switches", end.usage.ru_nvcsw},
            {"involuntary_switches", end.usage.ru_nivcsw}}}};
}

void run(const TrialRequest& request, const Interruption& interruption, RecordedTrial& record,
         TrialClock& clock) {
  const OriginalProgram original = OriginalProgram::from_description(request.generator->described);
  original.require_installed();
  SpawnRequest spawn = placed_request(request, "load");
  spawn.argv = original.command(original.arguments_from_json(request.benchmark->options));
  spawn.pipe_stdin = false;
  const std::int64_t limit_ns =
      run_limit_ns(*request.benchmark, *request.generator, request.limits);
  if (request.observer != nullptr) request.observer->start();
  TrialCounters counters(*request.counters, clock);
  counters.read_before(0);
  clock.go_ns = clock.ready_ns = now_ns();
  WatchedProcess process(spawn.argv[0], spawn);
  std::string output;
  try {
    output = output_until_end(process, interruption, clock.go_ns + limit_ns, limit_ns);
  } catch (const TrialAborted&) {
    record.log = process.errors().text();
    process.finish(0);
    throw;
  }
  const ChildEnd end = process.finish(request.limits.stop_ns);
  clock.sample_ns = now_ns();
  if (request.observer != nullptr) request.observer->stop();
  counters.read_after();
  record.counters = counters.deltas(nullptr);
  const std::string& errors = process.errors().text();
  if (!end.exited() || end.exit_code() != 0) {
    record.log = errors;
    throw TrialAborted{"failed", fmt::format("{} ended with {}: {}", process.name(), end.describe(),
                                             process.errors().last_line())};
  }
  record.sample = original_sample(request, original, spawn.argv, output + errors, end);
  record.status = "valid";
}

}  // namespace

void run_original_trial(const TrialRequest& request, const Interruption& interruption,
                        RecordedTrial& record) {
  TrialClock clock;
  clock.begin_ns = now_ns();
  try {
    run(request, interruption, record, clock);
  } catch (const TrialAborted& aborted) {
    record.status = aborted.status;
    record.reason = aborted.reason;
  }
  clock.end_ns = now_ns();
  record.window = {clock.go_ns, clock.sample_ns};
  record.harness = clock.to_json(
      record.sample.is_object() ? record.sample.value("duration_ns", std::int64_t{0}) : 0);
}

}  // namespace krepro
