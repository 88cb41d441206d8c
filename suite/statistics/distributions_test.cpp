// Reference values: R 4.2.2 (pt, qt, pnorm, qnorm, pbeta, digamma, trigamma) and limma 3.54.1
// (trigammaInverse), printed with 17 digits.
#include "suite/statistics/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace krepro {
namespace {

void expect_close(double value, double reference) {
  EXPECT_NEAR(value / reference, 1, 1e-9) << value << " is not " << reference;
}

TEST(Distributions, StudentT) {
  expect_close(student_t_cdf(-2.5, 3), 0.043853323504032753);
  expect_close(student_t_cdf(1, 1), 0.75000000000000022);
  expect_close(student_t_cdf(0.3, 7.25), 0.61370158311802636);
  expect_close(student_t_cdf(4, 40), 0.99986704380216662);
  expect_close(student_t_cdf(-12, 6), 1.0153703097686606e-05);
  expect_close(student_t_upper_tail(12, 6), 1.0153703097686606e-05);
  expect_close(student_t_two_sided_p(-12, 6), 2.0307406195373212e-05);
  expect_close(student_t_two_sided_p(40, 10), 2.2808577430857475e-12);
  expect_close(student_t_two_sided_p(2, 2.5), 0.15739149575796593);
  expect_close(student_t_quantile(0.975, 4), 2.7764451051977934);
  expect_close(student_t_quantile(0.975, 2.5), 3.5746548420036919);
  expect_close(student_t_quantile(0.95, 30), 1.6972608865939569);
  expect_close(student_t_quantile(0.005, 1.2), -33.239028298318246);
}

TEST(Distributions, StudentTWithoutEndIsTheNormal) {
  const double infinite = std::numeric_limits<double>::infinity();
  expect_close(student_t_cdf(1.96, infinite), 0.97500210485177963);
  expect_close(student_t_quantile(0.8, infinite), 0.84162123357291441);
  EXPECT_EQ(student_t_two_sided_p(infinite, 4), 0);
  EXPECT_EQ(student_t_cdf(-infinite, 4), 0);
}

TEST(Distributions, NoncentralT) {
  expect_close(noncentral_t_cdf(2.1, 4, 2.5), 0.3304909600969595);
  expect_close(noncentral_t_cdf(-1, 7, 0.5), 0.078102202201008719);
  expect_close(noncentral_t_cdf(3, 18, 3), 0.48421702598239075);
}

TEST(Distributions, Normal) {
  expect_close(normal_cdf(-3), 0.0013498980316300946);
  expect_close(normal_cdf(0.5), 0.69146246127401301);
  expect_close(normal_quantile(0.025), -1.9599639845400538);
  expect_close(normal_quantile(0.999), 3.0902323061678132);
}

TEST(Distributions, SpecialFunctions) {
  expect_close(incomplete_beta(2, 3, 0.4), 0.52480000000000004);
  expect_close(incomplete_beta(0.5, 0.5, 0.1), 0.20483276469913345);
  expect_close(incomplete_beta(10, 1.5, 0.9), 0.54019700650185443);
  expect_close(digamma(0.1), -10.423754940411076);
  expect_close(digamma(2.5), 0.70315664064524341);
  expect_close(digamma(44), 3.7727829557002943);
  expect_close(trigamma(0.1), 101.43329915079275);
  expect_close(trigamma(2.5), 0.49035775610023491);
  expect_close(trigamma(44), 0.022987493536995023);
}

TEST(Distributions, TrigammaInverse) {
  expect_close(trigamma_inverse(0.001), 1000.4999166666823);
  expect_close(trigamma_inverse(0.2), 5.4834517798530467);
  expect_close(trigamma_inverse(1.6449340668482264), 1);
  expect_close(trigamma_inverse(30), 0.18662253008393503);
  expect_close(trigamma_inverse(1e5), 0.0031623035494822258);
  for (const double x : {1e-9, 1e-6, 1e-4, 0.5, 1e6, 1e9}) {
    EXPECT_NEAR(trigamma(trigamma_inverse(x)) / x, 1, 1e-5) << x;
  }
}

}  // namespace
}  // namespace krepro
