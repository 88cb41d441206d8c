// Turns the trials of a table's rows into verdicts: which test each row gets, the adjustment over
// the whole table, `same` by equivalence, and what the data could not have shown. Pure: no clock,
// no files, no text layout. docs/statistics.md gives the reasons and the simulation that checks
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/compare/difference.h"
#include "suite/statistics/summary.h"

namespace krepro {

/// The valid trials of one benchmark in one boot of one side, in the order they ran.
struct BootTrials {
  std::string host;
  std::string boot;                  ///< Boot id: pairs the sides of a paired comparison.
  std::vector<double> values;        ///< In the metric's unit.
  std::vector<std::int64_t> blocks;  ///< Repetition of each: pairs trials within a boot.
};

/// One row in one column of a comparison.
struct RowData {
  /// Rows whose noise is alike, so that their variances may be shrunk towards each other; rows of
  /// different columns have different families.
  std::string family;
  bool higher_is_better = true;
  std::vector<BootTrials> base;
  std::vector<BootTrials> other;
  std::string refusal;  ///< Why this row gets no verdict, whatever the numbers; empty: none.
};

enum class Rule : std::uint8_t {
  moderated,  ///< Moderated t on boot means, Benjamini-Hochberg over the table.
  strict,     ///< Welch's t on boot means, Holm over the table.
  overlap,    ///< As published elsewhere: 95 % intervals of the pooled trials do not overlap.
};

enum class Method : std::uint8_t {
  none,
  moderated,
  welch,
  moderated_welch,
  pooled,
  paired,
  within_boot,
  overlap
};

enum class Verdict : std::uint8_t {
  worse,
  better,
  same,        ///< The interval lies within the tolerance.
  unresolved,  ///< Neither: see RowTest::reason and minimum_detectable.
  stopped,     ///< The other side's value is 0 in every trial: worse than any ratio.
  invalid,     ///< The numbers allow no ratio; the reason says why.
};

struct JudgeOptions {
  Rule rule = Rule::moderated;
  double tolerance = 0.02;  ///< A ratio between 1 / 1.02 and 1.02 is no difference that matters.
  double level = 0.05;
  double detect = 0.05;    ///< The effect that the needed boots and repetitions are given for.
  bool paired = false;     ///< Trials of the same boot and block are pairs (--paired).
  bool plan_ahead = true;  ///< Work out what unresolved rows could have shown; simulations do not.
};

/// A side needs at least this many boots for a verdict between kernels.
inline constexpr std::size_t minimum_boots = 3;
/// Fewer rows than this in a family tell too little of the noise's own spread to shrink it.
inline constexpr std::size_t minimum_rows_to_shrink = 8;
/// Above this ratio the sides have variances of their own (Welch).
inline constexpr double maximum_variance_ratio = 4;

/// Differences are of the logarithm of speed: the metric's where higher is better, its inverse's
/// where lower is; so that positive is better in every unit.
struct RowTest {
  Method method = Method::none;
  std::optional<Difference> difference;
  std::optional<Interval> interval;  ///< 95 %, for this row alone.
  std::optional<double> p;
  std::optional<double> adjusted_p;
  Verdict verdict = Verdict::unresolved;
  std::string reason;  ///< Why it is not worse, better or same; one line.
  std::size_t base_boots = 0;
  std::size_t other_boots = 0;
  std::optional<double> minimum_detectable;  ///< Relative, 0.014: a change of 1.4 %, power 80 %.
  std::optional<std::size_t> boots_needed;   ///< A side, to detect JudgeOptions::detect.
  std::optional<std::size_t> repetitions_needed;  ///< A boot, with as many boots as there are.
};

/// One RowTest for each row, in their order.
[[nodiscard]] std::vector<RowTest> judge(const std::vector<RowData>& rows,
                                         const JudgeOptions& options);

/// 0.12 of log speed -> +0.1275: the normalised change.
[[nodiscard]] double change_of(double log_speed_difference);

[[nodiscard]] const char* to_string(Verdict verdict);
[[nodiscard]] const char* to_string(Method method);

}  // namespace krepro
