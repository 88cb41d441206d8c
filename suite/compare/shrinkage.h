// Variances of many like rows, shrunk towards each other by empirical Bayes, so that a table with
// three boots a side has a usable estimate of its noise: G. K. Smyth, "Linear models and empirical
// Bayes methods for assessing differential expression in microarray experiments", Statistical
// Applications in Genetics and Molecular Biology 3 (2004), sections 5 and 6.2.
#pragma once

#include <span>
#include <vector>

namespace krepro {

struct ShrunkVariances {
  std::vector<double> variances;  ///< One per row, in the order given.
  double prior_variance = 0;      ///< What the rows are drawn towards.
  /// How strongly, in degrees of freedom: they add to each row's own. Infinite where the rows show
  /// no difference in noise beyond chance.
  double prior_df = 0;
};

/// `variances` >= 0 with `df` > 0 degrees of freedom each; at least two rows. A variance of 0 is
/// taken as 1e-5 of the median where the prior is estimated. Where all are 0, all stay 0.
[[nodiscard]] ShrunkVariances shrink_variances(std::span<const double> variances,
                                               std::span<const double> df);

}  // namespace krepro
