// Measuring and judging a row; see row.h.
#include "suite/fidelity/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"
#include "common/timing/clock.h"
#include "suite/counters/perf_events.h"

namespace krepro::fidelity {

namespace {

/// The wake-up as the waker's kernel path has it: sched:sched_wakeup may fire on the other CPU, in
/// the context of whatever runs there, and would then be missed.
constexpr const char* wakeup_tracepoint = "sched:sched_waking";
/// The short runs that tell what start-up costs: how many of each side, and which part of the row's
/// length.
constexpr int start_up_runs = 3;
constexpr std::int64_t start_up_divisor = 20;

/// Where a run keeps the switches of the row's server among its metrics, as counted_key.
constexpr const char* server_switches_key = "(server switches)";

double server_switches_of(const RunFigures& figures) {
  const auto found = figures.metrics.find(server_switches_key);
  const double count = found == figures.metrics.end() ? 0 : found->second;
  return std::max(count, 0.5) / figures.operations;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

/// Why a row of which a run failed has no verdict, or which findings the verdict stands on.
void settle(RowResult& result) {
  std::vector<Verdict> verdicts;
  for (const Finding& finding : result.findings) {
    if (finding.verdict != Verdict::not_judged) verdicts.push_back(finding.verdict);
  }
  std::string problem = result.timed.problem;
  for (const auto& [event, series] : result.counted) {
    if (problem.empty()) problem = series.problem;
  }
  if (!problem.empty()) {
    result.verdict = Verdict::unresolved;
    result.reason = problem;
    return;
  }
  result.verdict = overall(verdicts);
  for (const Finding& finding : result.findings) {
    if (finding.verdict != Verdict::differs && finding.verdict != Verdict::unresolved) continue;
    if (!result.reason.empty()) result.reason += "; ";
    result.reason += fmt::format("{}: {}", finding.quantity, finding.reason);
  }
}

/// The ratio is one of times; the figures beside it are the metric's own ("iops"), where more may
/// be better.
void show_as_metric(Finding& finding, const MetricDescription& primary) {
  if (!primary.higher_is_better) return;
  if (finding.original) finding.original = 1 / *finding.original;
  if (finding.ours) finding.ours = 1 / *finding.ours;
}

/// Geometric means of both sides' change, and the ratio of the two.
Finding find_reaction(const std::vector<MeasuredRun>& runs, const Quantity& quantity,
                      const std::string& name) {
  Finding finding;
  finding.quantity = name;
  finding.unit = std::string("x");  // g++ 12 warns of the plain assignment
  const auto change = [&](Side side) -> std::optional<double> {
    const std::vector<double> plain = values_of(runs, side, quantity);
    const std::vector<double> changed = values_of(runs, side, quantity, true);
    if (plain.empty() || changed.empty()) return std::nullopt;
    return geometric_mean(changed) / geometric_mean(plain);
  };
  finding.original = change(Side::original);
  finding.ours = change(Side::ours);
  finding.estimate = estimate_ratio(block_log_reactions(runs, quantity));
  return finding;
}

}  // namespace

RatioBounds time_bounds(const Original& original, Placement placement) {
  if (placement == Placement::pinned) return {original.time_ratio_low, original.time_ratio_high};
  if (original.floating_ratio_high > 0) {
    return {original.floating_ratio_low, original.floating_ratio_high};
  }
  return {1 - original.switches_tolerance, 1 + original.switches_tolerance};
}

double wanted_half_width(const Original& original, Placement placement) {
  const RatioBounds bounds = time_bounds(original, placement);
  return std::min(bounds.high - 1, 1 - bounds.low) / 2;
}

RowMeasuring::RowMeasuring(const Programs& programs, FidelitySettings settings, Hooks hooks)
    : programs_(&programs),
      settings_(std::move(settings)),
      hooks_(std::move(hooks)),
      calls_(programs),
      wakeups_problem_(tracepoint_problem()) {}

Conditions RowMeasuring::conditions(Placement placement) const {
  Conditions conditions;
  conditions.cpus =
      placement == Placement::pinned ? settings_.pinned_cpus : settings_.floating_cpus;
  return conditions;
}

StoppingRule RowMeasuring::rule_for(Placement placement) const {
  StoppingRule rule;
  rule.half_width =
      settings_.half_width.value_or(wanted_half_width(programs_->original().about(), placement));
  rule.max_blocks = settings_.max_blocks;
  rule.max_time_ns = settings_.max_time_ns;
  return rule;
}

MeasuringHooks RowMeasuring::hooks_for(const FidelityRow& row, const RowResult& result,
                                       const Event* event) {
  MeasuringHooks hooks;
  hooks.run = [this, &row, &result, event](Side side, bool perturbed) {
    RunRequest request;
    request.side = side;
    request.arguments = result.arguments;
    request.operations = row.operations;
    request.conditions = conditions(result.placement);
    request.seed = settings_.seed + runs_made_++;
    std::optional<Competitors> competitors;
    if (perturbed) {
      request.conditions = settings_.perturbation->apply(request.conditions);
      if (settings_.perturbation->competitors) competitors.emplace(*request.conditions.cpus);
    }
    std::optional<TracepointCounters> counters;
    if (event != nullptr) counters = TracepointCounters::open({event->tracepoint});
    const std::optional<std::uint64_t> server_before = hooks_.server_switches();
    RunFigures figures = programs_->run(request);
    if (server_before) {
      figures.metrics[server_switches_key] =
          static_cast<double>(hooks_.server_switches().value_or(*server_before) - *server_before);
    }
    if (counters) figures.metrics[counted_key] = static_cast<double>(counters->read()[0]);
    return figures;
  };
  hooks.now_ns = [] { return now_ns(); };
  hooks.interrupted = hooks_.interrupted;
  hooks.progress = [this, event](std::size_t blocks, const RatioEstimate& estimate) {
    const double half = estimate.half_width();
    hooks_.progress(fmt::format("{}block {}, {} ratio {:.3f}{}",
                                event != nullptr ? "counting " + event->name + ", " : "", blocks,
                                event != nullptr ? "their" : "time", estimate.ratio,
                                std::isfinite(half) ? fmt::format(" +-{}", percent(half)) : ""));
  };
  return hooks;
}

RowResult RowMeasuring::measure_row(const FidelityRow& row, Placement placement) {
  RowResult result;
  result.name = row.name;
  result.placement = placement;
  result.arguments = programs_->original().arguments(row.options);
  result.cpus = conditions(placement).cpus->to_string();
  if (settings_.perturbation) {
    measure_reaction(row, result);
  } else {
    measure_alike(row, result);
  }
  settle(result);
  return result;
}

void RowMeasuring::measure_alike(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  const MetricDescription& primary = programs_->original().primary();
  const Quantity time = time_of(primary);
  const StoppingRule rule = rule_for(result.placement);
  const bool floating = result.placement == Placement::floating;
  const StartUp start_up = measure_start_up(row, result, nullptr);
  const Quantity switches_per_operation = [&](const RunFigures& figures) {
    return start_up.switches_per_operation(figures);
  };
  std::vector<JudgedQuantity> judged{{time, rule.half_width}};
  if (floating) judged.push_back({switches_per_operation, about.switches_tolerance / 2});
  result.timed = measure(hooks_for(row, result, nullptr), rule, judged);

  const RatioBounds bounds = time_bounds(about, result.placement);
  Finding times = find_ratio(result.timed.runs, time, primary.name, primary.unit);
  show_as_metric(times, primary);
  if (floating) {
    times.original_modes = find_modes(values_of(result.timed.runs, Side::original, time));
    times.ours_modes = find_modes(values_of(result.timed.runs, Side::ours, time));
  }
  judge_time(times, bounds.low, bounds.high);
  result.findings.push_back(times);
  result.findings.push_back(cpu_time(row, result, start_up));
  judge_switches(result, switches_per_operation);
  if (!result.timed.problem.empty()) return;
  if (floating) count_wakeups(row, result);
  if (!floating || row.floating_calls) count_calls(row, result);
}

void RowMeasuring::judge_switches(RowResult& result, const Quantity& switches_per_operation) {
  const Original& about = programs_->original().about();
  const bool floating = result.placement == Placement::floating;
  Finding switches = find_ratio(result.timed.runs, switches_per_operation,
                                fmt::format("switches/{}", about.operation), "1");
  if (floating) {
    judge_events(switches, about.switches_tolerance);
  } else {
    switches.reason = "not judged";
  }
  result.findings.push_back(switches);
  if (!hooks_.server_switches()) return;
  Finding server = find_ratio(result.timed.runs, server_switches_of,
                              fmt::format("server switches/{}", about.operation), "1");
  if (floating) {
    judge_events(server, about.switches_tolerance);
  } else {
    server.reason = "not judged";
  }
  result.findings.push_back(server);
}

StartUp RowMeasuring::measure_start_up(const FidelityRow& row, RowResult& result,
                                       const Event* event) {
  StartUp start_up;
  const OriginalProgram& original = programs_->original();
  const auto scale = scale_of(original, row);
  if (!original.about().without_start_up || !scale) return start_up;
  const ScaledRow shorter =
      scale_row(original, row, std::max<std::int64_t>(1, *scale / start_up_divisor));
  FidelityRow short_row = row;
  short_row.operations = shorter.operations;
  RowResult short_result = result;
  short_result.arguments = shorter.arguments;
  const MeasuringHooks hooks = hooks_for(short_row, short_result, event);
  std::vector<RunFigures> runs;
  for (int i = 0; i < 2 * start_up_runs; ++i) {
    const Side side = i % 2 == 0 ? Side::original : Side::ours;
    runs.push_back(hooks.run(side, false));
    if (hooks_.interrupted() || !runs.back().valid()) return start_up;  // the timed runs tell why
  }
  start_up.learn(runs);
  if (event == nullptr) {
    result.notes.push_back(
        fmt::format("start-up and tear-down are taken off: {:.3g} s of CPU time in the original, "
                    "{:.3g} s in ours",
                    start_up.of(Side::original).cpu_s, start_up.of(Side::ours).cpu_s));
  }
  return start_up;
}

Finding RowMeasuring::cpu_time(const FidelityRow& row, const RowResult& result,
                               const StartUp& start_up) const {
  const Original& about = programs_->original().about();
  const std::string name = fmt::format("CPU time/{}", about.operation);
  const Quantity quantity = [&](const RunFigures& figures) {
    return start_up.cpu_s_per_operation(figures);
  };
  Finding cpu = find_ratio(result.timed.runs, quantity, name, "s");
  RatioBounds bounds{row.cpu_ratio_low, row.cpu_ratio_high};
  if (bounds.high == 0 && about.cpu_tolerance > 0 && result.placement == Placement::pinned) {
    bounds = {1 - about.cpu_tolerance, 1 + about.cpu_tolerance};
  }
  if (bounds.high == 0) {
    cpu.reason = "not judged";
    return cpu;
  }
  const Judgement judgement =
      judge_ratio(cpu.estimate.value_or(RatioEstimate{}), bounds.low, bounds.high);
  cpu.verdict = judgement.verdict;
  cpu.reason = judgement.reason;
  return cpu;
}

void RowMeasuring::measure_reaction(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  const Quantity time = time_of(programs_->original().primary());
  result.timed =
      measure_perturbed(hooks_for(row, result, nullptr), rule_for(result.placement), time);
  const RatioBounds bounds = time_bounds(about, result.placement);
  Finding reaction = find_reaction(result.timed.runs, time, "change of time");
  if (result.placement == Placement::floating) {
    reaction.original_modes = find_modes(values_of(result.timed.runs, Side::original, time));
    reaction.ours_modes = find_modes(values_of(result.timed.runs, Side::ours, time));
  }
  judge_time(reaction, bounds.low, bounds.high);
  result.findings.push_back(reaction);
  Finding switches = find_reaction(result.timed.runs, switches_of,
                                   fmt::format("change of switches/{}", about.operation));
  switches.reason = "not judged";
  result.findings.push_back(switches);
}

void RowMeasuring::count_calls(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  Finding finding;
  finding.quantity = fmt::format("system calls/{}", about.operation);
  finding.verdict = Verdict::unresolved;
  if (calls_.counter() == CallCounter::none) {
    finding.reason = calls_.description();
    result.findings.push_back(finding);
    return;
  }
  hooks_.progress("counting system calls");
  try {
    const Conditions where = conditions(result.placement);
    const CallSpreads original = calls_.count(Side::original, row, where);
    if (hooks_.interrupted()) {
      result.timed.problem = "interrupted";
      return;
    }
    const CallSpreads ours = calls_.count(Side::ours, row, where);
    result.calls = compare_calls(original, ours, about.syscall_tolerance,
                                 calls_.counter() == CallCounter::tracepoints);
    const std::vector<Finding> varying = calls_.counter() == CallCounter::tracepoints
                                             ? count_varying_calls(row, result)
                                             : std::vector<Finding>();
    result.findings.push_back(judge_calls(result.calls, about.operation));
    result.findings.insert(result.findings.end(), varying.begin(), varying.end());
    return;
  } catch (const Error& error) {
    if (error.code() == ExitCode::usage) throw;
    finding.reason = error.what();
  }
  result.findings.push_back(finding);
}

std::vector<Finding> RowMeasuring::count_varying_calls(const FidelityRow& row, RowResult& result) {
  const double tolerance = programs_->original().about().syscall_tolerance;
  std::vector<Finding> findings;
  for (CallComparison& call : result.calls) {
    if (call.verdict != Verdict::not_judged || !varies(call, tolerance)) continue;
    const auto& names = system_call_names();
    const auto known = std::find_if(names.begin(), names.end(),
                                    [&](const auto& name) { return name.name == call.name; });
    if (known == names.end()) continue;
    findings.push_back(
        count_event(row, result, {call.name, light_system_call_tracepoint(*known), tolerance}));
    // What three runs said is of no more use.
    call.original.median = findings.back().original.value_or(call.original.median);
    call.ours.median = findings.back().ours.value_or(call.ours.median);
  }
  return findings;
}

Finding RowMeasuring::count_event(const FidelityRow& row, RowResult& result, const Event& event) {
  StoppingRule rule = rule_for(result.placement);
  rule.half_width = event.tolerance / 2;
  const StartUp start_up = measure_start_up(row, result, &event);
  const Quantity per_operation = [&](const RunFigures& figures) {
    return start_up.counted_per_operation(figures);
  };
  Series& series = result.counted[event.name];
  series = measure(hooks_for(row, result, &event), rule, {{per_operation, rule.half_width}});
  Finding finding =
      find_ratio(series.runs, per_operation,
                 fmt::format("{}/{}", event.name, programs_->original().about().operation), "1");
  judge_events(finding, event.tolerance);
  return finding;
}

void RowMeasuring::count_wakeups(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  if (wakeups_problem_) {
    result.notes.push_back(
        fmt::format("wake-ups/{} not counted: {}", about.operation, *wakeups_problem_));
    return;
  }
  result.findings.push_back(
      count_event(row, result, {"wake-ups", {wakeup_tracepoint, ""}, about.switches_tolerance}));
}

}  // namespace krepro::fidelity
