// Do the times of one program have two modes? On virtual machines a wake-up across CPUs can cost
// ten times one on the same CPU, and a load with few tasks then takes one of two times, by where
// its tasks happened to land: a mean over both describes neither. The test for modes is
// suite/statistics/shape.h's.
#pragma once

#include <optional>
#include <span>

namespace krepro::fidelity {

struct ModePair {
  double low_median = 0;
  double high_median = 0;
  double low_share = 0;  ///< Of the values, 0 to 1.
};

/// The two modes of `values` (all > 0) where they lie at least 10 % apart; closer ones do not spoil
/// a comparison whose bounds are of that size.
[[nodiscard]] std::optional<ModePair> find_modes(std::span<const double> values);

}  // namespace krepro::fidelity
