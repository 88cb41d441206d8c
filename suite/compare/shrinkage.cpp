#include "suite/compare/shrinkage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/check.h"
#include "suite/statistics/distributions.h"
#include "suite/statistics/summary.h"

namespace krepro {

ShrunkVariances shrink_variances(std::span<const double> variances, std::span<const double> df) {
  KREPRO_CHECK(variances.size() == df.size() && variances.size() >= 2);
  ShrunkVariances result;
  result.variances.assign(variances.begin(), variances.end());
  const double middle = median(variances);
  // Counting resolution makes more than half of the variances zero: they tell nothing of the noise.
  if (middle <= 0) return result;

  // The logarithm of a variance scatters by trigamma(df / 2) on its own; what it scatters beyond
  // that is the difference in noise between the rows.
  std::vector<double> deviations;
  double own_scatter = 0;
  for (std::size_t row = 0; row < variances.size(); ++row) {
    const double variance = std::max(variances[row], 1e-5 * middle);
    deviations.push_back(std::log(variance) - digamma(df[row] / 2) + std::log(df[row] / 2));
    own_scatter += trigamma(df[row] / 2) / static_cast<double>(variances.size());
  }
  const double center = mean(deviations);
  const double excess = variance(deviations) - own_scatter;
  if (excess > 0) {
    result.prior_df = 2 * trigamma_inverse(excess);
    result.prior_variance =
        std::exp(center + digamma(result.prior_df / 2) - std::log(result.prior_df / 2));
    for (std::size_t row = 0; row < variances.size(); ++row) {
      result.variances[row] = (result.prior_df * result.prior_variance + df[row] * variances[row]) /
                              (result.prior_df + df[row]);
    }
  } else {
    result.prior_df = std::numeric_limits<double>::infinity();
    result.prior_variance = mean(variances);
    std::fill(result.variances.begin(), result.variances.end(), result.prior_variance);
  }
  return result;
}

}  // namespace krepro
