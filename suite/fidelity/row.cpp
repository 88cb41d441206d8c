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
/// Where a counted run keeps its wake-ups among its metrics; no generator has a metric of that
/// name.
constexpr const char* wakeups_key = "(wake-ups)";

/// The same for the switches of the row's server.
constexpr const char* server_switches_key = "(server switches)";

double server_switches_of(const RunFigures& figures) {
  const auto found = figures.metrics.find(server_switches_key);
  const double count = found == figures.metrics.end() ? 0 : found->second;
  return std::max(count, 0.5) / figures.operations;
}

double wakeups_of(const RunFigures& figures) {
  const auto found = figures.metrics.find(wakeups_key);
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
  const std::string& problem =
      result.timed.problem.empty() ? result.counted.problem : result.timed.problem;
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
                                       bool count_wakeups) {
  MeasuringHooks hooks;
  hooks.run = [this, &row, &result, count_wakeups](Side side, bool perturbed) {
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
    if (count_wakeups) counters = TracepointCounters::open({{wakeup_tracepoint, ""}});
    const std::optional<std::uint64_t> server_before = hooks_.server_switches();
    RunFigures figures = programs_->run(request);
    if (server_before) {
      figures.metrics[server_switches_key] =
          static_cast<double>(hooks_.server_switches().value_or(*server_before) - *server_before);
    }
    if (counters) figures.metrics[wakeups_key] = static_cast<double>(counters->read()[0]);
    return figures;
  };
  hooks.now_ns = [] { return now_ns(); };
  hooks.interrupted = hooks_.interrupted;
  hooks.progress = [this, count_wakeups](std::size_t blocks, const RatioEstimate& estimate) {
    const double half = estimate.half_width();
    hooks_.progress(fmt::format("{}block {}, {} ratio {:.3f}{}",
                                count_wakeups ? "counting wake-ups, " : "", blocks,
                                count_wakeups ? "their" : "time", estimate.ratio,
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
  std::vector<JudgedQuantity> judged{{time, rule.half_width}};
  const bool floating = result.placement == Placement::floating;
  if (floating) judged.push_back({switches_of, about.switches_tolerance / 2});
  result.timed = measure(hooks_for(row, result, false), rule, judged);

  const RatioBounds bounds = time_bounds(about, result.placement);
  Finding times = find_ratio(result.timed.runs, time, primary.name, primary.unit);
  show_as_metric(times, primary);
  if (floating) {
    times.original_modes = find_modes(values_of(result.timed.runs, Side::original, time));
    times.ours_modes = find_modes(values_of(result.timed.runs, Side::ours, time));
  }
  judge_time(times, bounds.low, bounds.high);
  result.findings.push_back(times);
  Finding cpu =
      find_ratio(result.timed.runs, cpu_time_of, fmt::format("CPU time/{}", about.operation), "s");
  if (about.cpu_tolerance > 0 && !floating && cpu.estimate) {
    const Judgement judgement =
        judge_ratio(*cpu.estimate, 1 - about.cpu_tolerance, 1 + about.cpu_tolerance);
    cpu.verdict = judgement.verdict;
    cpu.reason = judgement.reason;
  } else {
    cpu.reason = "not judged";
  }
  result.findings.push_back(cpu);
  judge_switches(result);
  if (!result.timed.problem.empty()) return;
  if (floating) {
    count_wakeups(row, result);
  } else {
    count_calls(row, result);
  }
}

void RowMeasuring::judge_switches(RowResult& result) {
  const Original& about = programs_->original().about();
  const bool floating = result.placement == Placement::floating;
  Finding switches =
      find_ratio(result.timed.runs, switches_of, fmt::format("switches/{}", about.operation), "1");
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

void RowMeasuring::measure_reaction(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  const Quantity time = time_of(programs_->original().primary());
  result.timed = measure_perturbed(hooks_for(row, result, false), rule_for(result.placement), time);
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
    result.calls = compare_calls(original, ours, about.syscall_tolerance);
    finding = judge_calls(result.calls, about.operation);
  } catch (const Error& error) {
    if (error.code() == ExitCode::usage) throw;
    finding.reason = error.what();
  }
  result.findings.push_back(finding);
}

void RowMeasuring::count_wakeups(const FidelityRow& row, RowResult& result) {
  const Original& about = programs_->original().about();
  const std::string name = fmt::format("wake-ups/{}", about.operation);
  if (wakeups_problem_) {
    result.notes.push_back(fmt::format("{} not counted: {}", name, *wakeups_problem_));
    return;
  }
  StoppingRule rule = rule_for(result.placement);
  rule.half_width = about.switches_tolerance / 2;
  result.counted = measure(hooks_for(row, result, true), rule, {{wakeups_of, rule.half_width}});
  Finding wakeups = find_ratio(result.counted.runs, wakeups_of, name, "1");
  judge_events(wakeups, about.switches_tolerance);
  result.findings.push_back(wakeups);
}

}  // namespace krepro::fidelity
