#include "suite/statistics/shape.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "suite/statistics/distributions.h"
#include "suite/statistics/summary.h"

namespace krepro {
namespace {

double squares_about_mean(std::span<const double> values) {
  return values.size() < 2 ? 0 : variance(values) * static_cast<double>(values.size() - 1);
}

/// Distance of the group means, in units of their common spread, above which a split is no accident
/// of so few values. Fitted to normal lists of 6 to 200 values: about 1 % pass.
double distance_needed(std::size_t count) { return 3.6 + 28 / static_cast<double>(count); }

}  // namespace

std::optional<Trend> fit_trend(std::span<const double> positions, std::span<const double> values) {
  KREPRO_CHECK(positions.size() == values.size());
  if (values.size() < 4) return std::nullopt;
  const double middle = mean(positions);
  const double level = mean(values);
  double position_squares = 0;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    position_squares += (positions[i] - middle) * (positions[i] - middle);
    products += (positions[i] - middle) * (values[i] - level);
  }
  if (position_squares <= 0) return std::nullopt;
  Trend trend;
  trend.slope = products / position_squares;
  const auto [first, last] = std::minmax_element(positions.begin(), positions.end());
  trend.change = trend.slope * (*last - *first);
  const double df = static_cast<double>(values.size()) - 2;
  const double residual = std::max(0.0, squares_about_mean(values) - trend.slope * products);
  const double error = std::sqrt(residual / df / position_squares);
  if (error > 0) {
    trend.p = student_t_two_sided_p(trend.slope / error, df);
  } else {
    trend.p = trend.slope == 0 ? 1 : 0;
  }
  return trend;
}

std::optional<TwoModes> detect_two_modes(std::span<const double> log_values) {
  if (log_values.size() < 6) return std::nullopt;
  std::vector<double> sorted(log_values.begin(), log_values.end());
  std::sort(sorted.begin(), sorted.end());
  // A mode is more than a stray value.
  const std::size_t smallest_group = std::max<std::size_t>(2, sorted.size() / 10);
  std::size_t best_split = 0;
  double least_squares = 0;
  for (std::size_t split = smallest_group; split + smallest_group <= sorted.size(); ++split) {
    const std::span<const double> all(sorted);
    const double squares =
        squares_about_mean(all.first(split)) + squares_about_mean(all.subspan(split));
    if (best_split == 0 || squares < least_squares) {
      best_split = split;
      least_squares = squares;
    }
  }
  if (best_split == 0) return std::nullopt;
  const std::span<const double> all(sorted);
  const TwoModes modes{
      mean(all.first(best_split)), mean(all.subspan(best_split)),
      static_cast<double>(sorted.size() - best_split) / static_cast<double>(sorted.size())};
  const double spread = std::sqrt(least_squares / static_cast<double>(sorted.size() - 2));
  const double distance = modes.high - modes.low;
  if (distance < 0.02 || distance < distance_needed(sorted.size()) * spread) return std::nullopt;
  return modes;
}

std::vector<std::size_t> find_outliers(std::span<const double> log_values) {
  std::vector<std::size_t> found;
  if (log_values.size() < 5) return found;
  const double center = median(log_values);
  // The median distance of few values is itself a matter of chance.
  const double deviations = 5 + 20 / static_cast<double>(log_values.size());
  const double limit = std::max(0.05, deviations * robust_standard_deviation(log_values));
  for (std::size_t i = 0; i < log_values.size(); ++i) {
    if (std::abs(log_values[i] - center) > limit) found.push_back(i);
  }
  if (found.size() * 4 > log_values.size()) found.clear();
  return found;
}

}  // namespace krepro
