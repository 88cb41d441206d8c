// Figures that describe one list of values: mean, spread, median, interval of the mean; on the
// plain and on the log scale. Not for comparing two lists: see suite/compare.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace krepro {

struct Interval {
  double low = 0;
  double high = 0;
};

/// What a row of a table says about one list of values. All zero for an empty list.
struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double standard_deviation = 0;  ///< With n - 1; 0 for fewer than two values.
  double median = 0;
  double min = 0;
  double max = 0;
  /// Of the mean, by Student's t, at the asked confidence; nothing for fewer than two values: one
  /// value says nothing of its spread.
  std::optional<Interval> interval;

  /// Standard deviation as a share of the mean (0.02 = 2 %); nothing for fewer than two values or a
  /// mean of 0.
  [[nodiscard]] std::optional<double> coefficient_of_variation() const;
  /// Half the interval as a share of the mean: the "+-2 %" of the tables.
  [[nodiscard]] std::optional<double> relative_half_width() const;
};

/// Values must be finite. `confidence`: 0.95 for a 95 % interval.
[[nodiscard]] Summary summarize(std::span<const double> values, double confidence = 0.95);

/// The same on the log scale: geometric mean, and its interval, back on the plain scale. All values
/// must be > 0.
struct LogSummary {
  std::size_t count = 0;
  double geometric_mean = 0;
  double log_standard_deviation = 0;  ///< Of ln(value); about the CV where it is small.
  std::optional<Interval> interval;   ///< Of the geometric mean.
};
[[nodiscard]] LogSummary summarize_log(std::span<const double> values, double confidence = 0.95);

/// Arithmetic mean; 0 for an empty list.
[[nodiscard]] double mean(std::span<const double> values);
/// Unbiased variance (n - 1); 0 for fewer than two values.
[[nodiscard]] double variance(std::span<const double> values);
/// Middle value, or the mean of the two middle ones; 0 for an empty list.
[[nodiscard]] double median(std::span<const double> values);
/// All values must be > 0; 0 for an empty list.
[[nodiscard]] double geometric_mean(std::span<const double> values);
/// Median of the distances from the median, times 1.4826: the standard deviation where the values
/// are normal, and hardly moved by outliers.
[[nodiscard]] double robust_standard_deviation(std::span<const double> values);
/// ln of each value; all must be > 0.
[[nodiscard]] std::vector<double> logarithms(std::span<const double> values);

}  // namespace krepro
