// Verdicts of fidelity; see verdict.h.
#include "suite/fidelity/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace krepro::fidelity {

namespace {

bool within(double original, double ours, double tolerance) {
  return std::abs(ours - original) <= tolerance * std::max(std::abs(original), std::abs(ours));
}

Verdict judge_call(const CallComparison& call, double tolerance, bool varying_apart) {
  if (std::max(call.original.median, call.ours.median) < calls_judged_min) {
    return Verdict::not_judged;
  }
  if (varying_apart && varies(call, tolerance)) return Verdict::not_judged;
  if (within(call.original.median, call.ours.median, tolerance)) return Verdict::same;
  const bool overlap = call.original.low <= call.ours.high && call.ours.low <= call.original.high;
  return overlap ? Verdict::unresolved : Verdict::differs;
}

std::string describe_modes(const Finding& finding) {
  if (finding.original_modes && finding.ours_modes) {
    return fmt::format("two modes; ratio of the fast ones {:.3f}, of the slow ones {:.3f}",
                       finding.ours_modes->low_median / finding.original_modes->low_median,
                       finding.ours_modes->high_median / finding.original_modes->high_median);
  }
  return fmt::format("two modes, in {} only", finding.original_modes ? "the original" : "ours");
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "same";
    case Verdict::differs:
      return "differs";
    case Verdict::unresolved:
      return "unresolved";
    case Verdict::not_judged:
      break;
  }
  return "-";
}

Judgement judge_ratio(const RatioEstimate& estimate, double low, double high) {
  if (estimate.blocks < blocks_for_verdict || !estimate.interval) {
    return {Verdict::unresolved,
            fmt::format("{} block{} of runs; a verdict needs at least {}", estimate.blocks,
                        estimate.blocks == 1 ? "" : "s", blocks_for_verdict)};
  }
  const Interval interval = *estimate.interval;
  const std::string place = fmt::format("{:.3f} to {:.3f}", interval.low, interval.high);
  if (interval.low >= low && interval.high <= high) return {Verdict::same, ""};
  if (interval.low > high || interval.high < low) {
    return {Verdict::differs, fmt::format("ratio {}, outside {:.2f} to {:.2f}", place, low, high)};
  }
  return {Verdict::unresolved,
          fmt::format("ratio {}, not wholly in {:.2f} to {:.2f}", place, low, high)};
}

void judge_time(Finding& finding, double low, double high) {
  if (finding.original_modes || finding.ours_modes) {
    finding.verdict = Verdict::unresolved;
    finding.reason = describe_modes(finding);
    return;
  }
  const Judgement judgement = judge_ratio(finding.estimate.value_or(RatioEstimate{}), low, high);
  finding.verdict = judgement.verdict;
  finding.reason = judgement.reason;
}

void judge_events(Finding& finding, double tolerance) {
  if (finding.original && finding.ours && *finding.original < events_judged_min &&
      *finding.ours < events_judged_min) {
    finding.verdict = Verdict::same;
    finding.reason = fmt::format("both below {}", events_judged_min);
    return;
  }
  const Judgement judgement =
      judge_ratio(finding.estimate.value_or(RatioEstimate{}), 1 - tolerance, 1 + tolerance);
  finding.verdict = judgement.verdict;
  finding.reason = judgement.reason;
}

bool varies(const CallComparison& call, double tolerance) {
  const auto wide = [&](const CallSpread& spread) {
    return spread.high - spread.low > tolerance * std::abs(spread.median);
  };
  return std::max(call.original.high, call.ours.high) >= calls_judged_min &&
         (wide(call.original) || wide(call.ours));
}

std::vector<CallComparison> compare_calls(const CallSpreads& original, const CallSpreads& ours,
                                          double tolerance, bool varying_apart) {
  std::map<std::string, CallComparison> by_name;
  for (const auto& [name, spread] : original) by_name[name].original = spread;
  for (const auto& [name, spread] : ours) by_name[name].ours = spread;
  std::vector<CallComparison> calls;
  CallComparison other{"other", {}, {}, Verdict::not_judged};
  for (auto& [name, call] : by_name) {
    call.name = name;
    if (std::max(call.original.median, call.ours.median) < calls_shown_min) {
      other.original.median += call.original.median;
      other.ours.median += call.ours.median;
      continue;
    }
    call.verdict = judge_call(call, tolerance, varying_apart);
    calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) {
    return std::max(a.original.median, a.ours.median) > std::max(b.original.median, b.ours.median);
  });
  calls.push_back(other);
  return calls;
}

Finding judge_calls(const std::vector<CallComparison>& calls, const std::string& operation) {
  Finding finding;
  finding.quantity = "system calls/" + operation;
  double original = 0;
  double ours = 0;
  std::vector<Verdict> verdicts;
  for (const CallComparison& call : calls) {
    original += call.original.median;
    ours += call.ours.median;
    if (call.verdict != Verdict::not_judged) verdicts.push_back(call.verdict);
    if (call.verdict != Verdict::differs && call.verdict != Verdict::unresolved) continue;
    finding.reason += fmt::format("{}{} {:.3f} in the original, {:.3f} in ours",
                                  finding.reason.empty() ? "" : "; ", call.name,
                                  call.original.median, call.ours.median);
  }
  finding.original = original;
  finding.ours = ours;
  finding.verdict = overall(verdicts);
  if (verdicts.empty()) {
    finding.verdict = Verdict::unresolved;
    finding.reason =
        fmt::format("no call of at least {} per {} was counted", calls_judged_min, operation);
  }
  return finding;
}

Verdict overall(std::span<const Verdict> verdicts) {
  const auto has = [&](Verdict wanted) {
    return std::find(verdicts.begin(), verdicts.end(), wanted) != verdicts.end();
  };
  if (has(Verdict::differs)) return Verdict::differs;
  if (has(Verdict::unresolved)) return Verdict::unresolved;
  return has(Verdict::same) ? Verdict::same : Verdict::unresolved;
}

}  // namespace krepro::fidelity
