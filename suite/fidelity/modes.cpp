// Two modes in a list of times; see modes.h.
#include "suite/fidelity/modes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "suite/statistics/summary.h"

namespace krepro {

namespace {

constexpr double centres_apart_min = 0.0953;  ///< ln(1.10)
constexpr double centres_by_spread_min = 5;
constexpr double gap_by_spread_min = 2;
constexpr std::size_t side_values_min = 3;

double sum_of_squares(std::span<const double> values) {
  return variance(values) * (static_cast<double>(values.size()) - 1);
}

}  // namespace

std::optional<TwoModes> find_two_modes(std::span<const double> values) {
  const std::size_t count = values.size();
  if (count < values_for_modes) return std::nullopt;
  std::vector<double> logs = logarithms(values);
  std::sort(logs.begin(), logs.end());
  const std::size_t side_min = std::max(side_values_min, (count + 9) / 10);
  const std::span<const double> all(logs);
  std::size_t split = 0;
  double within = 0;
  for (std::size_t k = side_min; k + side_min <= count; ++k) {
    const double squares = sum_of_squares(all.first(k)) + sum_of_squares(all.subspan(k));
    if (split == 0 || squares < within) {
      split = k;
      within = squares;
    }
  }
  if (split == 0) return std::nullopt;
  const double spread = std::sqrt(within / static_cast<double>(count - 2));
  const double apart = mean(all.subspan(split)) - mean(all.first(split));
  const double gap = logs[split] - logs[split - 1];
  if (apart < centres_apart_min || apart < centres_by_spread_min * spread ||
      gap < gap_by_spread_min * spread) {
    return std::nullopt;
  }
  return TwoModes{std::exp(median(all.first(split))), std::exp(median(all.subspan(split))),
                  static_cast<double>(split) / static_cast<double>(count)};
}

}  // namespace krepro
