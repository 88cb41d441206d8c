// The probability distributions and special functions that the comparisons stand on, over
// Boost.Math, which is included in distributions.cpp alone. Not for tests of hypotheses: see
// suite/compare.
#pragma once

namespace krepro {

/// P(T <= t) for Student's t with `df` > 0 degrees of freedom; infinite `df` is the normal.
[[nodiscard]] double student_t_cdf(double t, double df);
/// P(|T| >= |t|), computed in the tail, so that small p keep their digits.
[[nodiscard]] double student_t_two_sided_p(double t, double df);
/// P(T >= t).
[[nodiscard]] double student_t_upper_tail(double t, double df);
/// The t with student_t_cdf(t, df) = p; 0 < p < 1.
[[nodiscard]] double student_t_quantile(double p, double df);
/// P(T <= t) for the noncentral t: what a t statistic follows when the true effect is
/// `noncentrality` standard errors.
[[nodiscard]] double noncentral_t_cdf(double t, double df, double noncentrality);

[[nodiscard]] double normal_cdf(double z);
/// The z with normal_cdf(z) = p; 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// Regularised incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1.
[[nodiscard]] double incomplete_beta(double a, double b, double x);
/// First derivative of ln(gamma(x)); x > 0.
[[nodiscard]] double digamma(double x);
/// Second derivative of ln(gamma(x)); x > 0.
[[nodiscard]] double trigamma(double x);
/// The y > 0 with trigamma(y) = x; x > 0. Newton's iteration of Smyth (2004), appendix.
[[nodiscard]] double trigamma_inverse(double x);

}  // namespace krepro
