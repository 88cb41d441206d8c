// What a design can see: the smallest effect that it detects, and what a given effect would take.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace krepro {

inline constexpr double usual_power = 0.8;

/// Probability that a two-sided t test at `level` calls a true effect of `noncentrality` standard
/// errors significant.
[[nodiscard]] double power_of_t_test(double noncentrality, double df, double level);

/// The effect (in the unit of `standard_error`) that is detected with probability `power`.
[[nodiscard]] double minimum_detectable_effect(double standard_error, double df, double level,
                                               double power = usual_power);

/// A design of one size: what its difference would stand on.
struct DesignError {
  double standard_error = 0;
  double df = 0;
};

/// The smallest size from `from` to `limit` whose minimum detectable effect is at most `effect`;
/// nothing where even `limit` does not do. The design must get better with its size.
[[nodiscard]] std::optional<std::size_t> size_needed(
    const std::function<DesignError(std::size_t)>& design, double effect, double level,
    std::size_t from, std::size_t limit);

}  // namespace krepro
