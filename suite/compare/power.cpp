#include "suite/compare/power.h"

#include <cmath>

#include "common/base/check.h"
#include "suite/statistics/distributions.h"

namespace krepro {
namespace {

/// From here on the t is a normal for every purpose of planning, and cheaper to compute.
constexpr double many_df = 1e4;

double upper_part(double critical, double df, double noncentrality) {
  if (df > many_df) return normal_cdf(noncentrality - critical);
  return 1 - noncentral_t_cdf(critical, df, noncentrality);
}

}  // namespace

double power_of_t_test(double noncentrality, double df, double level) {
  KREPRO_CHECK(level > 0 && level < 1 && df > 0);
  const double critical = student_t_quantile(1 - level / 2, df);
  const double effect = std::abs(noncentrality);
  // So far out that only a spread ten times its expectation could hide it; the library's series
  // would not converge.
  if (effect > 10 * critical + 40) return 1;
  // The tail on the other side, P(T < -critical), is P(T > critical) with the opposite effect.
  return upper_part(critical, df, effect) + upper_part(critical, df, -effect);
}

double minimum_detectable_effect(double standard_error, double df, double level, double power) {
  KREPRO_CHECK(power > level && power < 1);
  if (standard_error <= 0) return 0;
  double low = 0;
  double high = student_t_quantile(1 - level / 2, df) + 1;
  while (power_of_t_test(high, df, level) < power) high *= 2;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (power_of_t_test(middle, df, level) < power ? low : high) = middle;
  }
  return (low + high) / 2 * standard_error;
}

std::optional<std::size_t> size_needed(const std::function<DesignError(std::size_t)>& design,
                                       double effect, double level, std::size_t from,
                                       std::size_t limit) {
  const auto detects = [&](std::size_t size) {
    const DesignError error = design(size);
    return error.standard_error <= 0 ||
           power_of_t_test(effect / error.standard_error, error.df, level) >= usual_power;
  };
  if (!detects(limit)) return std::nullopt;
  std::size_t low = from;
  std::size_t high = limit;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (detects(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace krepro
