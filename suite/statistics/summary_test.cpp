// Reference values: R 4.2.2 (mean, sd, median, mad, t.test on values and on their logarithms).
#include "suite/statistics/summary.h"

#include <gtest/gtest.h>

#include <vector>

namespace krepro {
namespace {

const std::vector<double> seconds{0.331, 0.352, 0.297, 0.401, 0.344};

TEST(Summary, DescribesAList) {
  const Summary summary = summarize(seconds);
  EXPECT_EQ(summary.count, 5u);
  EXPECT_NEAR(summary.mean, 0.345, 1e-12);
  EXPECT_NEAR(summary.standard_deviation, 0.037702785043017724, 1e-12);
  EXPECT_NEAR(summary.median, 0.344, 1e-12);
  EXPECT_EQ(summary.min, 0.297);
  EXPECT_EQ(summary.max, 0.401);
  ASSERT_TRUE(summary.interval);
  EXPECT_NEAR(summary.interval->low, 0.29818580918006948, 1e-9);
  EXPECT_NEAR(summary.interval->high, 0.39181419081993041, 1e-9);
  EXPECT_NEAR(*summary.coefficient_of_variation(), 0.10928343490729776, 1e-9);
  EXPECT_NEAR(*summary.relative_half_width(), 0.0468141908199304 / 0.345, 1e-9);
}

TEST(Summary, DescribesAListOnTheLogScale) {
  const LogSummary summary = summarize_log(seconds);
  EXPECT_NEAR(summary.geometric_mean, 0.34337287467881766, 1e-12);
  EXPECT_NEAR(summary.log_standard_deviation, 0.10849570499249249, 1e-9);
  EXPECT_NEAR(summary.interval->low, 0.30009579610750348, 1e-9);
  EXPECT_NEAR(summary.interval->high, 0.39289097879584367, 1e-9);
  EXPECT_NEAR(geometric_mean(seconds), summary.geometric_mean, 1e-15);
}

TEST(Summary, OneValueHasNoInterval) {
  const std::vector<double> one{42};
  const Summary summary = summarize(one);
  EXPECT_EQ(summary.mean, 42);
  EXPECT_FALSE(summary.interval);
  EXPECT_FALSE(summary.coefficient_of_variation());
  EXPECT_FALSE(summary.relative_half_width());
  EXPECT_FALSE(summarize_log(one).interval);
}

TEST(Summary, AnEmptyListIsAllZero) {
  const Summary summary = summarize({});
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.mean, 0);
  EXPECT_FALSE(summary.interval);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(geometric_mean({}), 0);
}

TEST(Summary, AMeanOfZeroHasNoRelativeFigure) {
  const std::vector<double> zeros{0, 0, 0};
  EXPECT_FALSE(summarize(zeros).coefficient_of_variation());
  EXPECT_FALSE(summarize(zeros).relative_half_width());
}

TEST(Summary, KeepsTheDigitsOfLargeValuesThatDifferLittle) {
  const std::vector<double> large{1e15 + 1, 1e15 + 2, 1e15 + 3};
  EXPECT_NEAR(variance(large), 1, 1e-9);
  const std::vector<double> huge{1e308, 1e308, 1e308};
  EXPECT_NEAR(mean(huge) / 1e308, 1, 1e-12);
}

TEST(Summary, MedianAndRobustSpread) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_NEAR(robust_standard_deviation(seconds), 0.0192738, 1e-9);
  const std::vector<double> equal{5, 5, 5, 5, 9};
  EXPECT_EQ(robust_standard_deviation(equal), 0);
}

}  // namespace
}  // namespace krepro
