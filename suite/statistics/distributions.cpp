// The only file of the suite that includes Boost.Math.
#include "suite/statistics/distributions.h"

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

#include "common/base/check.h"

namespace krepro {
namespace {

// An overflow gives infinity and not an exception: a t of 1e300 has p = 0, it is not an error.
using Policy = boost::math::policies::policy<
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>>;
using StudentT = boost::math::students_t_distribution<double, Policy>;
using NoncentralT = boost::math::non_central_t_distribution<double, Policy>;
using Normal = boost::math::normal_distribution<double, Policy>;

}  // namespace

double student_t_cdf(double t, double df) {
  KREPRO_CHECK(df > 0 && !std::isnan(t));
  if (std::isinf(t)) return t > 0 ? 1 : 0;
  return boost::math::cdf(StudentT(df), t);
}

double student_t_upper_tail(double t, double df) { return student_t_cdf(-t, df); }

double student_t_two_sided_p(double t, double df) { return 2 * student_t_cdf(-std::abs(t), df); }

double student_t_quantile(double p, double df) {
  KREPRO_CHECK(df > 0 && p > 0 && p < 1);
  return boost::math::quantile(StudentT(df), p);
}

double noncentral_t_cdf(double t, double df, double noncentrality) {
  KREPRO_CHECK(df > 0 && std::isfinite(t) && std::isfinite(noncentrality));
  return boost::math::cdf(NoncentralT(df, noncentrality), t);
}

double normal_cdf(double z) {
  KREPRO_CHECK(!std::isnan(z));
  return boost::math::cdf(Normal(), z);
}

double normal_quantile(double p) {
  KREPRO_CHECK(p > 0 && p < 1);
  return boost::math::quantile(Normal(), p);
}

double incomplete_beta(double a, double b, double x) {
  return boost::math::ibeta(a, b, x, Policy());
}

double digamma(double x) {
  KREPRO_CHECK(x > 0);
  return boost::math::digamma(x, Policy());
}

double trigamma(double x) {
  KREPRO_CHECK(x > 0);
  return boost::math::trigamma(x, Policy());
}

double trigamma_inverse(double x) {
  KREPRO_CHECK(x > 0 && std::isfinite(x));
  // Asymptotes: trigamma(y) is 1/y^2 near 0 and 1/y far away.
  if (x > 1e7) return 1 / std::sqrt(x);
  if (x < 1e-6) return 1 / x;
  double y = 0.5 + 1 / x;
  // Smyth (2004): Newton on 1/trigamma, which is convex and nearly linear: it converges
  // monotonically from this start; a dozen steps are more than it ever needs.
  for (int step = 0; step < 50; ++step) {
    const double value = trigamma(y);
    const double change = value * (1 - value / x) / boost::math::polygamma(2, y, Policy());
    y += change;
    if (-change / y < 1e-12) break;
  }
  return y;
}

}  // namespace krepro
