// Two modes in a list of times; see modes.h.
#include "suite/fidelity/modes.h"

#include <cmath>
#include <vector>

#include "suite/statistics/shape.h"
#include "suite/statistics/summary.h"

namespace krepro::fidelity {

std::optional<ModePair> find_modes(std::span<const double> values) {
  constexpr double apart_min = 0.0953;  // ln(1.10)
  const std::optional<TwoModes> modes = detect_two_modes(logarithms(values));
  if (!modes || modes->high - modes->low < apart_min) return std::nullopt;
  const double middle = std::exp((modes->low + modes->high) / 2);
  std::vector<double> low;
  std::vector<double> high;
  for (const double value : values) (value < middle ? low : high).push_back(value);
  return ModePair{median(low), median(high),
                  static_cast<double>(low.size()) / static_cast<double>(values.size())};
}

}  // namespace krepro::fidelity
