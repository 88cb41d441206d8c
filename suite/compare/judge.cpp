#include "suite/compare/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "suite/compare/estimate.h"
#include "suite/compare/multiplicity.h"
#include "suite/compare/power.h"
#include "suite/compare/shrinkage.h"
#include "suite/statistics/distributions.h"

namespace krepro {
namespace {

/// A variance is never shrunk below this share of what the row itself showed: without it the
/// noisiest rows of a family pay for the quiet ones with false alarms (see the self test).
constexpr double smallest_share_of_own = 0.85;

/// Gives the rows of one family that are fit for it a common estimate of their noise. Rows keep
/// their own where too few are fit.
void shrink_family(const std::vector<RowEstimate*>& family) {
  std::vector<double> variances;
  std::vector<double> df;
  double df_sum = 0;
  for (const RowEstimate* row : family) {
    variances.push_back(row->shrinkable->variance);
    df.push_back(row->shrinkable->df);
    df_sum += row->shrinkable->df;
  }
  const ShrunkVariances shrunk = shrink_variances(variances, df);
  for (std::size_t i = 0; i < family.size(); ++i) {
    RowEstimate& row = *family[i];
    row.difference = row.shrinkable;
    row.difference->variance = std::max(shrunk.variances[i], smallest_share_of_own * variances[i]);
    // The prior is itself estimated: never more degrees of freedom than all rows have together.
    row.difference->df = std::min(df[i] + shrunk.prior_df, df_sum);
    row.prior_df = row.difference->df - df[i];
    if (row.method != Method::paired) row.method = Method::moderated;
  }
}

/// Typical ratio of the sides' variances over the rows of a family.
double family_variance_ratio(const std::vector<RowEstimate*>& family) {
  std::vector<double> logs;
  for (const RowEstimate* row : family) {
    if (row->variance_ratio > 0) logs.push_back(std::log(row->variance_ratio));
  }
  return std::exp(mean(logs));
}

/// Welch's test with each side's variances raised towards the family's, never lowered. The degrees
/// of freedom come from the family's typical variances: by a row's own they would be high just
/// where a side's variance is too small by chance, which in a large table is where the false alarms
/// come from.
void shrink_sides(const std::vector<RowEstimate*>& family) {
  std::vector<double> base_variances;
  std::vector<double> base_df;
  std::vector<double> other_variances;
  std::vector<double> other_df;
  for (const RowEstimate* row : family) {
    base_variances.push_back(row->sides->base.variance);
    base_df.push_back(row->sides->base.df);
    other_variances.push_back(row->sides->other.variance);
    other_df.push_back(row->sides->other.df);
  }
  const ShrunkVariances base = shrink_variances(base_variances, base_df);
  const ShrunkVariances other = shrink_variances(other_variances, other_df);
  if (base.prior_variance <= 0 || other.prior_variance <= 0) return;
  const double base_df_sum = mean(base_df) * static_cast<double>(family.size());
  const double other_df_sum = mean(other_df) * static_cast<double>(family.size());
  for (std::size_t i = 0; i < family.size(); ++i) {
    RowEstimate& row = *family[i];
    WelchParts parts = *row.sides;
    parts.base.df = std::min(base_df[i] + base.prior_df, base_df_sum);
    parts.other.df = std::min(other_df[i] + other.prior_df, other_df_sum);
    parts.base.variance = base.prior_variance;
    parts.other.variance = other.prior_variance;
    const double df = satterthwaite_df(parts);
    parts.base.variance = std::max(base.variances[i], base_variances[i]);
    parts.other.variance = std::max(other.variances[i], other_variances[i]);
    const double own_df = row.difference->df;
    row.difference = welch_difference(parts);
    row.difference->df = df;
    row.prior_df = std::max(0.0, df - own_df);
    row.method = Method::moderated_welch;
  }
}

/// Rows with a design of equal sides share one variance for both; other rows one for each side.
void shrink_like_rows(const std::vector<RowData>& rows, std::vector<RowEstimate>& estimates) {
  std::map<std::string, std::vector<RowEstimate*>> families;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (estimates[i].difference && estimates[i].reason.empty()) {
      families[rows[i].family].push_back(&estimates[i]);
    }
  }
  for (auto& [name, family] : families) {
    const double ratio = family_variance_ratio(family);
    const bool equal_sides = ratio <= maximum_variance_ratio && ratio >= 1 / maximum_variance_ratio;
    std::vector<RowEstimate*> common;
    std::vector<RowEstimate*> apart;
    for (RowEstimate* row : family) {
      if (equal_sides && row->shrinkable && !row->unequal_variances) {
        common.push_back(row);
      } else if (row->sides && !(equal_sides && row->equal_boots)) {
        apart.push_back(row);
      }
    }
    if (common.size() >= minimum_rows_to_shrink) shrink_family(common);
    if (apart.size() >= minimum_rows_to_shrink) shrink_sides(apart);
  }
}

void adjust_over_table(std::vector<RowTest>& tests, Rule rule) {
  std::vector<double> p;
  for (const RowTest& test : tests) {
    if (test.p) p.push_back(*test.p);
  }
  const std::vector<double> adjusted = rule == Rule::strict ? holm(p) : benjamini_hochberg(p);
  std::size_t next = 0;
  for (RowTest& test : tests) {
    if (test.p) test.adjusted_p = adjusted[next++];
  }
}

void give_verdict(RowTest& test, const JudgeOptions& options) {
  const double tolerance = std::log1p(options.tolerance);
  if (test.interval->low > -tolerance && test.interval->high < tolerance) {
    test.verdict = Verdict::same;
  } else if (*test.adjusted_p <= options.level) {
    test.verdict = test.difference->estimate < 0 ? Verdict::worse : Verdict::better;
  } else {
    test.verdict = Verdict::unresolved;
    test.reason = "the interval reaches beyond the tolerance, and the change is not significant";
  }
}

/// The level that one more row would have to reach, given how many the table has flagged already.
double level_of_one_more_row(const std::vector<RowTest>& tests, const JudgeOptions& options) {
  double tested = 0;
  double flagged = 0;
  for (const RowTest& test : tests) {
    if (!test.p) continue;
    ++tested;
    if (*test.adjusted_p <= options.level) ++flagged;
  }
  if (tested == 0) return options.level;
  if (options.rule == Rule::strict) return options.level / std::max(1.0, tested - flagged);
  return options.level * std::min(flagged + 1, tested) / tested;
}

/// What more boots, or more repetitions in as many boots, would do to this row.
void plan_ahead(const RowEstimate& estimate, RowTest& test, double level, double detect) {
  const Difference& difference = *test.difference;
  test.minimum_detectable =
      std::expm1(minimum_detectable_effect(difference.standard_error(), difference.df, level));
  const double effect = std::log1p(detect);
  const double sides = estimate.method == Method::paired ? 1 : 2;
  const auto more_boots = [&](std::size_t boots) {
    const auto n = static_cast<double>(boots);
    return DesignError{std::sqrt(difference.variance * sides / n),
                       sides * (n - 1) + estimate.prior_df};
  };
  test.boots_needed = size_needed(more_boots, effect, level, minimum_boots, 1000);
  if (estimate.repetitions < 1 || estimate.within_variance <= 0) return;
  const double between =
      std::max(0.0, difference.variance - estimate.within_variance / estimate.repetitions);
  const auto more_repetitions = [&](std::size_t repetitions) {
    const double variance = between + estimate.within_variance / static_cast<double>(repetitions);
    return DesignError{std::sqrt(variance * difference.factor), difference.df};
  };
  test.repetitions_needed = size_needed(more_repetitions, effect, level, 1, 1000);
}

RowTest test_of(const RowData& row, const RowEstimate& estimate) {
  RowTest test;
  test.method = estimate.method;
  test.base_boots = estimate.base_boots;
  test.other_boots = estimate.other_boots;
  test.verdict = estimate.verdict;
  test.reason = estimate.reason;
  test.difference = estimate.difference;
  if (estimate.difference && estimate.difference->df > 0) {
    test.interval = estimate.difference->interval();
  }
  if (!row.refusal.empty() && test.verdict == Verdict::unresolved) test.reason = row.refusal;
  if (test.reason.empty() && test.difference) test.p = test.difference->two_sided_p();
  return test;
}

}  // namespace

std::vector<RowTest> judge(const std::vector<RowData>& rows, const JudgeOptions& options) {
  std::vector<RowEstimate> estimates;
  for (const RowData& row : rows) estimates.push_back(estimate_row(row, options));
  if (options.rule == Rule::moderated) shrink_like_rows(rows, estimates);

  std::vector<RowTest> tests;
  for (std::size_t i = 0; i < rows.size(); ++i) tests.push_back(test_of(rows[i], estimates[i]));
  if (options.rule == Rule::overlap) {
    for (std::size_t i = 0; i < rows.size(); ++i) judge_by_overlap(rows[i], tests[i]);
    return tests;
  }
  adjust_over_table(tests, options.rule);
  const double level = level_of_one_more_row(tests, options);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!tests[i].p) continue;
    give_verdict(tests[i], options);
    if (options.plan_ahead) plan_ahead(estimates[i], tests[i], level, options.detect);
  }
  return tests;
}

double change_of(double log_speed_difference) { return std::expm1(log_speed_difference); }

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::worse:
      return "worse";
    case Verdict::better:
      return "better";
    case Verdict::same:
      return "same";
    case Verdict::unresolved:
      return "unresolved";
    case Verdict::stopped:
      return "stopped";
    case Verdict::invalid:
      return "invalid";
  }
  return "";
}

const char* to_string(Method method) {
  switch (method) {
    case Method::none:
      return "none";
    case Method::moderated:
      return "moderated t on boot means";
    case Method::welch:
      return "Welch's t on boot means";
    case Method::moderated_welch:
      return "Welch's t on boot means, variances of each side shrunk";
    case Method::pooled:
      return "t on boot means, hosts as blocks";
    case Method::paired:
      return "paired t";
    case Method::within_boot:
      return "within boots only";
    case Method::overlap:
      return "overlap of 95 % intervals";
  }
  return "";
}

}  // namespace krepro
