// From figures to verdicts: does ours do what the original does? Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/fidelity/modes.h"
#include "suite/fidelity/ratio.h"
#include "suite/fidelity/system_calls.h"

namespace krepro::fidelity {

enum class Verdict : std::uint8_t { same, differs, unresolved, not_judged };
[[nodiscard]] const char* to_string(Verdict verdict);

/// What was found about one quantity of a row.
struct Finding {
  std::string
      quantity;      ///< "seconds", "switches/message", "wake-ups/message", "system calls/message"
  std::string unit;  ///< Of the two figures below.
  std::optional<double> original;  ///< Geometric mean over the runs.
  std::optional<double> ours;
  std::optional<RatioEstimate> estimate;
  std::optional<ModePair> original_modes;
  std::optional<ModePair> ours_modes;
  Verdict verdict = Verdict::not_judged;
  std::string reason;  ///< Of every verdict but `same`; one line.
};

/// Calls per operation below which both sides count as making none of note.
inline constexpr double calls_judged_min = 0.01;
/// Below this a call belongs to the set-up's remains, and is summed up as "other".
inline constexpr double calls_shown_min = 0.001;
/// Switches or wake-ups per operation below which both sides have next to none.
inline constexpr double events_judged_min = 0.001;

/// Same where the whole interval lies within [low, high], differs where it lies wholly outside,
/// else unresolved.
struct Judgement {
  Verdict verdict = Verdict::unresolved;
  std::string reason;
};
[[nodiscard]] Judgement judge_ratio(const RatioEstimate& estimate, double low, double high);

/// The time of a row: as judge_ratio, but with two modes on either side it is unresolved, and the
/// reason compares the modes one by one.
void judge_time(Finding& finding, double low, double high);

/// Switches or wake-ups per operation: as judge_ratio, and same where both have next to none.
void judge_events(Finding& finding, double tolerance);

/// One name of the comparison of system calls.
struct CallComparison {
  std::string name;
  CallSpread original;
  CallSpread ours;
  Verdict verdict = Verdict::not_judged;
};
/// Made often enough to be judged, and its number varies over a side's repetitions by more than
/// `tolerance`: three runs cannot tell.
[[nodiscard]] bool varies(const CallComparison& call, double tolerance);
/// Every name with at least calls_shown_min on a side, sorted by the original's count, then
/// "other". Same where the medians agree within `tolerance`; differs where they do not and the
/// ranges over the repetitions lie apart. Not judged where it varies() and `varying_apart`: then
/// blocks of runs measure it.
[[nodiscard]] std::vector<CallComparison> compare_calls(const CallSpreads& original,
                                                        const CallSpreads& ours, double tolerance,
                                                        bool varying_apart);
[[nodiscard]] Finding judge_calls(const std::vector<CallComparison>& calls,
                                  const std::string& operation);

/// Differs where any differs, else unresolved where any is, else same.
[[nodiscard]] Verdict overall(std::span<const Verdict> verdicts);

}  // namespace krepro::fidelity
