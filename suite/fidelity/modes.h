// Do the times of one program have two modes? On virtual machines a wake-up across CPUs can cost
// ten times one on the same CPU, and a load with few tasks then takes one of two times, by where
// its tasks happened to land: a mean over both describes neither. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace krepro {

/// Runs below which nothing is said about modes.
inline constexpr std::size_t values_for_modes = 8;

struct TwoModes {
  double low_median = 0;
  double high_median = 0;
  double low_share = 0;  ///< Of the values, 0 to 1.
};

/// The two modes of `values` (all > 0), or nothing. The best split in two (least squares on the log
/// scale) counts as two modes where each side has at least 3 values and a tenth of all, the centres
/// lie at least 10 % apart and five times the spread within the sides, and the gap between the
/// sides is twice that spread. Of normal data without modes and with a spread large enough to pass
/// the 10 %, 2 % are called so at 12 values and 0.2 % at 20 (simulated).
[[nodiscard]] std::optional<TwoModes> find_two_modes(std::span<const double> values);

}  // namespace krepro
