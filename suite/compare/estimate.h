// One row's difference before the table as a whole is looked at: which of its boots count, which
// test its design allows, and why it may allow none. Part of judge(); see judge.h.
#pragma once

#include <optional>
#include <string>

#include "suite/compare/judge.h"

namespace krepro {

struct RowEstimate {
  Method method = Method::none;
  std::optional<Difference> difference;  ///< By Welch, or what else the design allows.
  std::optional<Difference>
      shrinkable;  ///< One variance for both sides; where the design is equal.
  Verdict verdict = Verdict::unresolved;
  std::string reason;  ///< Why the row cannot be tested; empty: it can.
  std::size_t base_boots = 0;
  std::size_t other_boots = 0;
  std::optional<WelchParts> sides;  ///< Where each side has a variance of its own.
  bool equal_boots = false;
  double variance_ratio = 0;       ///< Of the sides; 0: not known.
  bool unequal_variances = false;  ///< Beyond maximum_variance_ratio, and beyond chance (F test).
  double prior_df = 0;             ///< What shrinking added.
  double repetitions = 0;          ///< In a boot: harmonic mean.
  double within_variance = 0;      ///< Of one trial about its boot's mean.
};

[[nodiscard]] RowEstimate estimate_row(const RowData& row, const JudgeOptions& options);

/// Rule::overlap: replaces the verdict.
void judge_by_overlap(const RowData& row, RowTest& test);

}  // namespace krepro
