#include "suite/statistics/summary.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "suite/statistics/distributions.h"

namespace krepro {
namespace {

/// Interval of the mean by Student's t. `count` >= 2.
Interval interval_of_mean(double mean, double standard_deviation, std::size_t count,
                          double confidence) {
  const auto n = static_cast<double>(count);
  const double half =
      student_t_quantile(0.5 + confidence / 2, n - 1) * standard_deviation / std::sqrt(n);
  return {mean - half, mean + half};
}

}  // namespace

std::optional<double> Summary::coefficient_of_variation() const {
  if (count < 2 || mean == 0) return std::nullopt;
  return standard_deviation / std::abs(mean);
}

std::optional<double> Summary::relative_half_width() const {
  if (!interval || mean == 0) return std::nullopt;
  return (interval->high - interval->low) / 2 / std::abs(mean);
}

Summary summarize(std::span<const double> values, double confidence) {
  KREPRO_CHECK(confidence > 0 && confidence < 1);
  Summary summary;
  summary.count = values.size();
  if (values.empty()) return summary;
  summary.mean = mean(values);
  summary.standard_deviation = std::sqrt(variance(values));
  summary.median = median(values);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  summary.min = *smallest;
  summary.max = *largest;
  if (values.size() >= 2) {
    summary.interval =
        interval_of_mean(summary.mean, summary.standard_deviation, values.size(), confidence);
  }
  return summary;
}

LogSummary summarize_log(std::span<const double> values, double confidence) {
  const Summary logs = summarize(logarithms(values), confidence);
  LogSummary summary;
  summary.count = logs.count;
  if (logs.count == 0) return summary;
  summary.geometric_mean = std::exp(logs.mean);
  summary.log_standard_deviation = logs.standard_deviation;
  if (logs.interval) {
    summary.interval = Interval{std::exp(logs.interval->low), std::exp(logs.interval->high)};
  }
  return summary;
}

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  // Two passes: the second takes out the rounding of the first, and what overflow a sum of large
  // values could have.
  const auto n = static_cast<double>(values.size());
  double first = 0;
  for (const double value : values) first += value / n;
  double correction = 0;
  for (const double value : values) correction += (value - first) / n;
  return first + correction;
}

double variance(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double center = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return squares / static_cast<double>(values.size() - 1);
}

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  const double below = *std::max_element(sorted.begin(), middle);
  return below + (*middle - below) / 2;
}

double geometric_mean(std::span<const double> values) {
  return values.empty() ? 0 : std::exp(mean(logarithms(values)));
}

double robust_standard_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - center));
  return 1.4826 * median(distances);
}

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    KREPRO_CHECK(value > 0 && std::isfinite(value));
    logs.push_back(std::log(value));
  }
  return logs;
}

}  // namespace krepro
