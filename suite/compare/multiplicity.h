// Adjusts p-values for the number of questions that one table asks.
#pragma once

#include <span>
#include <vector>

namespace krepro {

/// Benjamini and Hochberg (1995): calling significant what is at most q holds the expected share of
/// false verdicts among the verdicts at q. In the order given.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);
/// Holm (1979): calling significant what is at most a holds the probability of any false verdict in
/// the table at a. In the order given.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace krepro
