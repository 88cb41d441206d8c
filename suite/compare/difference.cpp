#include "suite/compare/difference.h"

#include <cmath>
#include <map>

#include "common/base/check.h"
#include "suite/statistics/distributions.h"

namespace krepro {
namespace {

/// The boots of one host.
struct Block {
  std::vector<double> base;
  std::vector<double> other;

  /// Weight of the block's difference: the inverse of its variance in units of the error's.
  [[nodiscard]] double weight() const {
    const auto n = static_cast<double>(base.size());
    const auto m = static_cast<double>(other.size());
    return n * m / (n + m);
  }
  [[nodiscard]] double difference() const { return mean(other) - mean(base); }
};

std::vector<Block> blocks_of(std::span<const BootMean> base, std::span<const BootMean> other) {
  std::map<std::string, Block> by_host;
  for (const BootMean& boot : base) by_host[boot.host].base.push_back(boot.mean);
  for (const BootMean& boot : other) by_host[boot.host].other.push_back(boot.mean);
  std::vector<Block> blocks;
  for (auto& [host, block] : by_host) {
    KREPRO_CHECK(!block.base.empty() && !block.other.empty());
    blocks.push_back(std::move(block));
  }
  return blocks;
}

double squares_about_mean(std::span<const double> values) {
  return values.empty() ? 0 : variance(values) * static_cast<double>(values.size() - 1);
}

struct WeightedDifference {
  double estimate = 0;
  double weight = 0;  ///< Sum over the blocks.
};

WeightedDifference weighted_difference(const std::vector<Block>& blocks) {
  WeightedDifference result;
  for (const Block& block : blocks) {
    result.estimate += block.weight() * block.difference();
    result.weight += block.weight();
  }
  result.estimate /= result.weight;
  return result;
}

}  // namespace

double Difference::standard_error() const { return std::sqrt(variance * factor); }

double Difference::two_sided_p() const {
  const double error = standard_error();
  if (error > 0) return student_t_two_sided_p(estimate / error, df);
  return estimate == 0 ? 1 : 0;
}

Interval Difference::interval(double confidence) const {
  const double half = student_t_quantile(0.5 + confidence / 2, df) * standard_error();
  return {estimate - half, estimate + half};
}

std::optional<Difference> pooled_difference(std::span<const BootMean> base,
                                            std::span<const BootMean> other) {
  if (base.empty() || other.empty()) return std::nullopt;
  const std::vector<Block> blocks = blocks_of(base, other);
  const auto df =
      static_cast<double>(base.size() + other.size()) - static_cast<double>(blocks.size()) - 1;
  if (df < 1) return std::nullopt;
  const WeightedDifference weighted = weighted_difference(blocks);
  double squares = 0;
  for (const Block& block : blocks) {
    squares += squares_about_mean(block.base) + squares_about_mean(block.other);
    // A difference that varies from host to host is noise of the answer "this kernel is slower".
    const double excess = block.difference() - weighted.estimate;
    squares += block.weight() * excess * excess;
  }
  return Difference{weighted.estimate, squares / df, 1 / weighted.weight, df};
}

SideVariance side_variance(std::span<const BootMean> side) {
  std::map<std::string, std::vector<double>> by_host;
  for (const BootMean& boot : side) by_host[boot.host].push_back(boot.mean);
  SideVariance result;
  for (const auto& [host, means] : by_host) {
    result.variance += squares_about_mean(means);
    result.df += static_cast<double>(means.size()) - 1;
  }
  if (result.df > 0) result.variance /= result.df;
  return result;
}

std::optional<WelchParts> welch_parts(std::span<const BootMean> base,
                                      std::span<const BootMean> other) {
  if (base.empty() || other.empty()) return std::nullopt;
  WelchParts parts;
  parts.base = side_variance(base);
  parts.other = side_variance(other);
  if (parts.base.df < 1 || parts.other.df < 1) return std::nullopt;
  const std::vector<Block> blocks = blocks_of(base, other);
  const WeightedDifference weighted = weighted_difference(blocks);
  parts.estimate = weighted.estimate;
  for (const Block& block : blocks) {
    const double share = block.weight() / weighted.weight;
    parts.base_share += share * share / static_cast<double>(block.base.size());
    parts.other_share += share * share / static_cast<double>(block.other.size());
  }
  return parts;
}

double satterthwaite_df(const WelchParts& parts) {
  const double base = parts.base.variance * parts.base_share;
  const double other = parts.other.variance * parts.other_share;
  const double total = base + other;
  if (total <= 0) return parts.base.df + parts.other.df;
  return total * total / (base * base / parts.base.df + other * other / parts.other.df);
}

Difference welch_difference(const WelchParts& parts) {
  const double factor = parts.base_share + parts.other_share;
  const double total =
      parts.base.variance * parts.base_share + parts.other.variance * parts.other_share;
  return {parts.estimate, total / factor, factor, satterthwaite_df(parts)};
}

std::optional<Difference> paired_difference(std::span<const double> differences) {
  if (differences.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  return Difference{mean(differences), variance(differences), 1 / n, n - 1};
}

}  // namespace krepro
