// What a list of trials looks like beyond its mean: a trend over the order they ran in, two modes,
// single values far off. They are named in notes; nothing is ever left out because of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace krepro {

/// A straight line through values in the order they were taken (least squares).
struct Trend {
  double slope = 0;   ///< Per step of the order.
  double change = 0;  ///< From the first to the last.
  double p = 1;       ///< That the slope is 0, two-sided, by Student's t.
};
/// `positions` and `values` are of one length. Nothing for fewer than 4 values, or where all
/// positions are equal.
[[nodiscard]] std::optional<Trend> fit_trend(std::span<const double> positions,
                                             std::span<const double> values);

/// Two groups of values with a gap between them.
struct TwoModes {
  double low = 0;         ///< Mean of the lower group.
  double high = 0;        ///< Mean of the upper group.
  double share_high = 0;  ///< Of the values.
};
/// The best split in two is taken for two modes when the groups are far apart against their own
/// spread; about 1 % of normal lists are (docs/statistics.md). Values on the log scale, so that a
/// distance below 2 % counts as one mode. Nothing for fewer than 6 values.
[[nodiscard]] std::optional<TwoModes> detect_two_modes(std::span<const double> log_values);

/// Indexes of values more than 5 robust standard deviations (more where the values are few) and
/// more than 5 % from the median, in values on the log scale. Nothing for fewer than 5 values, or
/// when more than a quarter would be outliers: then it is the shape of the whole.
[[nodiscard]] std::vector<std::size_t> find_outliers(std::span<const double> log_values);

}  // namespace krepro
