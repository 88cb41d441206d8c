// Shapes of samples with known answers: one mode, two modes, a trend, outliers.
#include "suite/statistics/shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "common/base/random.h"
#include "suite/statistics/summary.h"

namespace krepro {
namespace {

std::vector<double> normal_values(RandomStream& random, std::size_t count, double sd) {
  std::vector<double> values(count);
  for (double& value : values) value = sd * random.normal();
  return values;
}

TEST(Shape, TrendAgreesWithLinearRegression) {
  // R 4.2.2: summary(lm(log(t) ~ seq_along(t)))
  const std::vector<double> values =
      logarithms(std::vector<double>{10, 10.4, 9.9, 10.6, 10.8, 10.7, 11.1, 11.0});
  std::vector<double> positions(values.size());
  std::iota(positions.begin(), positions.end(), 1.0);
  const auto trend = fit_trend(positions, values);
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope, 0.014817700660466419, 1e-12);
  EXPECT_NEAR(trend->p, 0.0050823120367044896, 1e-9);
  EXPECT_NEAR(trend->change, 7 * 0.014817700660466419, 1e-12);
}

TEST(Shape, NoTrendIsSeenInTooFewOrUnmovedValues) {
  EXPECT_FALSE(fit_trend(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}));
  EXPECT_FALSE(fit_trend(std::vector<double>{2, 2, 2, 2}, std::vector<double>{1, 2, 3, 4}));
  const auto flat = fit_trend(std::vector<double>{1, 2, 3, 4}, std::vector<double>{5, 5, 5, 5});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->p, 1);
}

TEST(Shape, TwoModesAreFoundAndDescribed) {
  RandomStream random(1);
  std::vector<double> values = normal_values(random, 12, 0.01);
  for (std::size_t i = 0; i < 4; ++i) values[i] += 0.5;
  const auto modes = detect_two_modes(values);
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->high - modes->low, 0.5, 0.03);
  EXPECT_NEAR(modes->share_high, 1.0 / 3, 1e-9);
}

TEST(Shape, OneModeIsRarelyTakenForTwo) {
  RandomStream random(2);
  for (const std::size_t count : {6U, 10U, 30U}) {
    int alarms = 0;
    for (int list = 0; list < 1000; ++list) {
      if (detect_two_modes(normal_values(random, count, 0.1))) ++alarms;
    }
    EXPECT_LE(alarms, 30) << count << " values";
  }
}

TEST(Shape, ModesCloserThanTwoPerCentDoNotMatter) {
  EXPECT_FALSE(detect_two_modes(std::vector<double>{0, 0, 0, 0.01, 0.01, 0.01}));
  EXPECT_TRUE(detect_two_modes(std::vector<double>{0, 0, 0, 0.05, 0.05, 0.05}));
}

TEST(Shape, AnOutlierIsNamed) {
  std::vector<double> values(20, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.002 * static_cast<double>(i % 5);
  values[7] = std::log(10);
  EXPECT_EQ(find_outliers(values), std::vector<std::size_t>{7});
}

TEST(Shape, OneTickBesideNineteenEqualValuesIsNoOutlier) {
  std::vector<double> values(20, std::log(1e6));
  values[3] = std::log(1e6 + 1);
  EXPECT_TRUE(find_outliers(values).empty());
}

}  // namespace
}  // namespace krepro
