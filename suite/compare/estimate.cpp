#include "suite/compare/estimate.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "suite/statistics/distributions.h"

namespace krepro {
namespace {

/// The logarithm of speed: positive differences are better in every unit.
double log_speed(double value, bool higher_is_better) {
  return higher_is_better ? std::log(value) : -std::log(value);
}

std::size_t count_trials(const std::vector<BootTrials>& side) {
  std::size_t count = 0;
  for (const BootTrials& boot : side) count += boot.values.size();
  return count;
}

std::size_t count_not_positive(const std::vector<BootTrials>& side) {
  std::size_t count = 0;
  for (const BootTrials& boot : side) {
    count += static_cast<std::size_t>(
        std::count_if(boot.values.begin(), boot.values.end(),
                      [](double value) { return !(value > 0) || !std::isfinite(value); }));
  }
  return count;
}

/// Sets verdict and reason where the values allow no ratio. Returns whether they do.
bool check_values(const RowData& row, RowEstimate& estimate) {
  const std::size_t base_trials = count_trials(row.base);
  const std::size_t other_trials = count_trials(row.other);
  const std::size_t base_zeros = count_not_positive(row.base);
  const std::size_t other_zeros = count_not_positive(row.other);
  const auto refuse = [&](Verdict verdict, std::string reason) {
    estimate.verdict = verdict;
    estimate.reason = std::move(reason);
    return false;
  };
  if (base_trials == 0 || other_trials == 0) {
    return refuse(Verdict::invalid, base_trials == 0 ? "the base has no valid trial"
                                                     : "this side has no valid trial");
  }
  if (other_zeros == other_trials && base_zeros == 0 && row.higher_is_better) {
    return refuse(Verdict::stopped, "stopped working: 0 in every trial");
  }
  if (base_zeros + other_zeros > 0) {
    return refuse(Verdict::invalid,
                  fmt::format("no ratio: {} of {} base trials and {} of {} here are 0", base_zeros,
                              base_trials, other_zeros, other_trials));
  }
  return true;
}

struct Sides {
  std::vector<BootTrials> base;
  std::vector<BootTrials> other;
};

/// The boots of the hosts that ran both sides, with logarithms of speed as values.
Sides comparable_sides(const RowData& row) {
  std::set<std::string> base_hosts;
  std::set<std::string> other_hosts;
  for (const BootTrials& boot : row.base) base_hosts.insert(boot.host);
  for (const BootTrials& boot : row.other) other_hosts.insert(boot.host);
  const auto take = [&](const std::vector<BootTrials>& side) {
    std::vector<BootTrials> taken;
    for (const BootTrials& boot : side) {
      if (boot.values.empty() || !base_hosts.contains(boot.host) ||
          !other_hosts.contains(boot.host)) {
        continue;
      }
      taken.push_back(boot);
      for (double& value : taken.back().values) value = log_speed(value, row.higher_is_better);
    }
    return taken;
  };
  return {take(row.base), take(row.other)};
}

std::vector<BootMean> boot_means(const std::vector<BootTrials>& side) {
  std::vector<BootMean> means;
  for (const BootTrials& boot : side) means.push_back({boot.host, mean(boot.values)});
  return means;
}

/// Noise between trials of one boot, pooled, and how many trials a boot has.
void measure_within_boots(const Sides& sides, RowEstimate& estimate) {
  double squares = 0;
  double df = 0;
  double inverse_sum = 0;
  double boots = 0;
  for (const auto* side : {&sides.base, &sides.other}) {
    for (const BootTrials& boot : *side) {
      const auto n = static_cast<double>(boot.values.size());
      squares += variance(boot.values) * (n - 1);
      df += n - 1;
      inverse_sum += 1 / n;
      ++boots;
    }
  }
  if (df > 0) estimate.within_variance = squares / df;
  estimate.repetitions = boots / inverse_sum;
}

/// Too few boots: the difference of the means, with an interval from the trials within the boots
/// alone. It does not know how two boots of one kernel differ.
void estimate_within_boots(const Sides& sides, RowEstimate& estimate) {
  double total = 0;
  double satterthwaite = 0;
  double factor = 0;
  for (const auto* side : {&sides.base, &sides.other}) {
    const auto boots = static_cast<double>(side->size());
    for (const BootTrials& boot : *side) {
      const auto n = static_cast<double>(boot.values.size());
      const double part = variance(boot.values) / n / (boots * boots);
      total += part;
      factor += 1 / n / (boots * boots);
      if (n > 1) satterthwaite += part * part / (n - 1);
    }
  }
  std::vector<double> base_means;
  std::vector<double> other_means;
  for (const BootTrials& boot : sides.base) base_means.push_back(mean(boot.values));
  for (const BootTrials& boot : sides.other) other_means.push_back(mean(boot.values));
  estimate.difference = Difference{mean(other_means) - mean(base_means), total / factor, factor, 0};
  // One trial a boot, or no spread at all, leaves no degree of freedom: no interval.
  if (satterthwaite > 0) estimate.difference->df = total * total / satterthwaite;
}

std::string too_few_boots(std::size_t base, std::size_t other) {
  const std::size_t fewest = std::min(base, other);
  const std::string counts = base == other
                                 ? fmt::format("{} boot{} per kernel", base, base == 1 ? "" : "s")
                                 : fmt::format("{} and {} boots", base, other);
  return fmt::format("{}: {}; {} per side are needed", counts,
                     fewest == 1 ? "the difference between two boots of the same kernel is unknown"
                                 : "too few to know how boots of the same kernel differ",
                     minimum_boots);
}

/// Two-sided F test that the larger of two variances is not the larger by chance.
bool differ_beyond_chance(const SideVariance& base, const SideVariance& other) {
  const double ratio = other.variance / base.variance;
  const double share = other.df * ratio / (other.df * ratio + base.df);
  const double below = incomplete_beta(other.df / 2, base.df / 2, share);
  return 2 * std::min(below, 1 - below) < 0.01;
}

/// Every host has as many boots of the one side as of the other.
bool equal_boots(const Sides& sides) {
  std::map<std::string, int> balance;
  for (const BootTrials& boot : sides.base) ++balance[boot.host];
  for (const BootTrials& boot : sides.other) --balance[boot.host];
  return std::all_of(balance.begin(), balance.end(),
                     [](const auto& host) { return host.second == 0; });
}

void compare_variances(const std::vector<BootMean>& base, const std::vector<BootMean>& other,
                       RowEstimate& estimate) {
  const SideVariance of_base = side_variance(base);
  const SideVariance of_other = side_variance(other);
  if (of_base.variance <= 0 || of_other.variance <= 0) return;
  estimate.variance_ratio = of_other.variance / of_base.variance;
  estimate.unequal_variances = (estimate.variance_ratio > maximum_variance_ratio ||
                                estimate.variance_ratio < 1 / maximum_variance_ratio) &&
                               differ_beyond_chance(of_base, of_other);
}

void estimate_over_boots(const Sides& sides, Rule rule, RowEstimate& estimate) {
  const std::vector<BootMean> base = boot_means(sides.base);
  const std::vector<BootMean> other = boot_means(sides.other);
  estimate.equal_boots = equal_boots(sides);
  const std::optional<Difference> pooled = pooled_difference(base, other);
  estimate.sides = welch_parts(base, other);
  if (estimate.sides) {
    estimate.method = Method::welch;
    estimate.difference = welch_difference(*estimate.sides);
    // With unequal boots Satterthwaite's degrees of freedom are high just where the smaller side's
    // variance is too small by chance. --strict takes the lower bound (Hsu 1938).
    if (rule == Rule::strict && !estimate.equal_boots) {
      estimate.difference->df = std::min(estimate.sides->base.df, estimate.sides->other.df);
    }
  } else if (pooled) {
    // One boot a side on each host: the hosts are the pairs.
    estimate.method = Method::pooled;
    estimate.difference = pooled;
  } else {
    estimate.reason = "no degree of freedom is left: more boots per host are needed";
    return;
  }
  compare_variances(base, other, estimate);
  if (estimate.equal_boots) estimate.shrinkable = pooled;
}

/// other - base of the blocks that both sides ran in one boot.
std::vector<double> block_differences(const BootTrials& base, const BootTrials& other) {
  std::map<std::int64_t, double> base_blocks;
  for (std::size_t i = 0; i < base.values.size(); ++i) base_blocks[base.blocks[i]] = base.values[i];
  std::vector<double> differences;
  for (std::size_t i = 0; i < other.values.size(); ++i) {
    const auto pair = base_blocks.find(other.blocks[i]);
    if (pair != base_blocks.end()) differences.push_back(other.values[i] - pair->second);
  }
  return differences;
}

/// Blocks within one or two boots: the verdict holds for these boots. Each boot counts the same.
std::optional<Difference> difference_over_blocks(
    const std::vector<std::vector<double>>& differences) {
  const auto boots = static_cast<double>(differences.size());
  Difference result;
  double squares = 0;
  for (const std::vector<double>& boot : differences) {
    const auto n = static_cast<double>(boot.size());
    result.estimate += mean(boot) / boots;
    squares += variance(boot) * (n - 1);
    result.df += n - 1;
    result.factor += 1 / n / (boots * boots);
  }
  if (result.df < 1) return std::nullopt;
  result.variance = squares / result.df;
  return result;
}

void estimate_pairs(const Sides& sides, RowEstimate& estimate) {
  std::vector<std::vector<double>> differences;
  for (const BootTrials& base : sides.base) {
    for (const BootTrials& other : sides.other) {
      if (base.boot != other.boot || base.host != other.host) continue;
      std::vector<double> pairs = block_differences(base, other);
      if (!pairs.empty()) differences.push_back(std::move(pairs));
    }
  }
  estimate.base_boots = estimate.other_boots = differences.size();
  estimate.method = Method::paired;
  if (differences.empty()) {
    estimate.reason = "no block ran both sides in one boot: nothing to pair";
  } else if (differences.size() >= minimum_boots) {
    std::vector<double> boot_differences;
    for (const std::vector<double>& boot : differences) boot_differences.push_back(mean(boot));
    estimate.difference = paired_difference(boot_differences);
  } else {
    std::size_t blocks = 0;
    for (const std::vector<double>& boot : differences) blocks += boot.size();
    estimate.difference = difference_over_blocks(differences);
    if (blocks < differences.size() + 2) {
      estimate.reason = fmt::format("{} block{}: at least 3 in a boot are needed", blocks,
                                    blocks == 1 ? "" : "s");
    }
  }
  if (estimate.difference && estimate.reason.empty()) estimate.shrinkable = estimate.difference;
}

}  // namespace

RowEstimate estimate_row(const RowData& row, const JudgeOptions& options) {
  RowEstimate estimate;
  if (!check_values(row, estimate)) return estimate;
  const Sides sides = comparable_sides(row);
  if (sides.base.empty() || sides.other.empty()) {
    estimate.reason = "the sides ran on different hosts, and no host ran both";
    return estimate;
  }
  estimate.base_boots = sides.base.size();
  estimate.other_boots = sides.other.size();
  if (options.paired) {
    estimate_pairs(sides, estimate);
    return estimate;
  }
  measure_within_boots(sides, estimate);
  if (std::min(sides.base.size(), sides.other.size()) < minimum_boots) {
    estimate.method = Method::within_boot;
    estimate.reason = too_few_boots(sides.base.size(), sides.other.size());
    estimate_within_boots(sides, estimate);
  } else {
    estimate_over_boots(sides, options.rule, estimate);
  }
  return estimate;
}

void judge_by_overlap(const RowData& row, RowTest& test) {
  if (test.verdict == Verdict::invalid || test.verdict == Verdict::stopped) return;
  const auto pooled_trials = [](const std::vector<BootTrials>& side) {
    std::vector<double> values;
    for (const BootTrials& boot : side) {
      values.insert(values.end(), boot.values.begin(), boot.values.end());
    }
    return summarize(values);
  };
  const Summary base = pooled_trials(row.base);
  const Summary other = pooled_trials(row.other);
  test.method = Method::overlap;
  test.interval.reset();
  test.p.reset();
  test.reason.clear();
  const double log_ratio = std::log(other.mean / base.mean);
  test.difference = Difference{.estimate = row.higher_is_better ? log_ratio : -log_ratio};
  if (!row.refusal.empty()) {
    test.reason = row.refusal;
  } else if (!base.interval || !other.interval) {
    test.method = Method::none;
    test.reason = "n = 1: no interval";
  } else if (base.interval->low > other.interval->high ||
             other.interval->low > base.interval->high) {
    test.verdict = test.difference->estimate < 0 ? Verdict::worse : Verdict::better;
  } else {
    test.reason = "the 95 % intervals overlap";
  }
}

}  // namespace krepro
