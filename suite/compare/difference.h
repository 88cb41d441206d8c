// The difference of two sides of one row with its standard error, from the means of their boots:
// the boot is the unit of replication, because trials of one boot share its memory layout and its
// page placement and are not independent of each other. Pure functions; logarithms in, logarithms
// out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/statistics/summary.h"

namespace krepro {

/// One boot of one side, in one row.
struct BootMean {
  std::string host;  ///< A block: differences between hosts are taken out.
  double mean = 0;   ///< Of the logarithms of its trials.
};

/// An estimate: standard error squared = variance * factor.
struct Difference {
  double estimate = 0;  ///< other - base, of logarithms.
  double variance = 0;  ///< Of one boot's mean about its side.
  double factor = 0;    ///< 1/n + 1/m for one host.
  double df = 0;

  [[nodiscard]] double standard_error() const;
  [[nodiscard]] double two_sided_p() const;
  [[nodiscard]] Interval interval(double confidence = 0.95) const;
};

/// One variance for both sides, after taking out the hosts: the additive model
/// host + side + error. Every host must have boots of both sides. Nothing where no degree of
/// freedom is left.
[[nodiscard]] std::optional<Difference> pooled_difference(std::span<const BootMean> base,
                                                          std::span<const BootMean> other);

/// Variance of the boots of one side about their hosts' means, with its degrees of freedom.
struct SideVariance {
  double variance = 0;
  double df = 0;
};
[[nodiscard]] SideVariance side_variance(std::span<const BootMean> side);

/// What Welch's test is made of: standard error squared = base.variance * base_share +
/// other.variance * other_share.
struct WelchParts {
  double estimate = 0;
  SideVariance base;
  SideVariance other;
  double base_share = 0;  ///< 1/n for one host.
  double other_share = 0;
};
/// Nothing where a side has no degree of freedom.
[[nodiscard]] std::optional<WelchParts> welch_parts(std::span<const BootMean> base,
                                                    std::span<const BootMean> other);
/// A variance for each side, degrees of freedom by Satterthwaite's approximation (Welch 1947).
[[nodiscard]] Difference welch_difference(const WelchParts& parts);
/// Satterthwaite's degrees of freedom for these variances.
[[nodiscard]] double satterthwaite_df(const WelchParts& parts);

/// Mean of differences that were taken in pairs (blocks); nothing for fewer than two.
[[nodiscard]] std::optional<Difference> paired_difference(std::span<const double> differences);

}  // namespace krepro
