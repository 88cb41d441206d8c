// Reference values: R 4.2.2 (t.test, lm), printed with 17 digits.
#include "suite/compare/difference.h"

#include <gtest/gtest.h>

namespace krepro {
namespace {

std::vector<BootMean> boots(const std::vector<double>& means, const std::string& host = "a") {
  std::vector<BootMean> list;
  for (const double mean : means) list.push_back({host, mean});
  return list;
}

const std::vector<BootMean> base = boots({1.02, 0.98, 1.05, 1.01});
const std::vector<BootMean> other = boots({1.10, 1.22, 1.01, 1.31});

TEST(Difference, WelchAgreesWithTheReference) {
  const auto parts = welch_parts(base, other);
  ASSERT_TRUE(parts);
  const Difference difference = welch_difference(*parts);
  EXPECT_NEAR(difference.estimate, 0.145, 1e-12);
  EXPECT_NEAR(difference.df, 3.2866987173619324, 1e-9);
  EXPECT_NEAR(difference.two_sided_p(), 0.11308383778983801, 1e-9);
  EXPECT_NEAR(difference.interval().low, -0.059640652183658126, 1e-9);
  EXPECT_NEAR(difference.interval().high, 0.34964065218365808, 1e-9);
}

TEST(Difference, UnequalNumbersUseEveryBoot) {
  const auto nine = boots({9, 12, 10.5, 11, 8.7, 13, 9.9, 10.1, 11.7});
  const auto twelve = boots({12, 10.2, 13.4, 11.8, 12.9, 11.1, 14.2, 10.6, 12.2, 13.3, 12.5, 11.4});
  const Difference difference = welch_difference(*welch_parts(nine, twelve));
  EXPECT_NEAR(difference.df, 15.640751001620758, 1e-9);
  EXPECT_NEAR(difference.two_sided_p(), 0.022629916728255116, 1e-9);
}

TEST(Difference, OneVarianceForBothSides) {
  const auto difference = pooled_difference(base, other);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->df, 6);
  EXPECT_NEAR(difference->two_sided_p(), 0.075349561846531465, 1e-9);
  EXPECT_NEAR(difference->interval().low, -0.020204306622101324, 1e-9);
  EXPECT_NEAR(difference->interval().high, 0.31020430662210136, 1e-9);
}

TEST(Difference, HostsAreBlocks) {
  // R: lm(v ~ host + side). The hosts differ by 4, which must not count as noise.
  std::vector<BootMean> left = boots({1.0, 1.1, 0.9}, "a");
  for (const BootMean& boot : boots({5.0, 5.2}, "b")) left.push_back(boot);
  std::vector<BootMean> right = boots({1.2, 1.3}, "a");
  for (const BootMean& boot : boots({5.4, 5.3, 5.6}, "b")) right.push_back(boot);
  const auto difference = pooled_difference(left, right);
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->estimate, 0.29166666666666641, 1e-9);
  EXPECT_NEAR(difference->standard_error(), 0.07552724726458046, 1e-9);
  EXPECT_NEAR(difference->variance, 0.013690476190476189, 1e-9);
  EXPECT_EQ(difference->df, 7);
  EXPECT_NEAR(difference->two_sided_p(), 0.0061975205808343092, 1e-9);
}

TEST(Difference, HostsWithOneBootASideArePairs) {
  std::vector<BootMean> left;
  std::vector<BootMean> right;
  for (const auto& [host, step] : {std::pair{"a", 0.1}, {"b", 0.3}, {"c", -0.05}, {"d", 0.2}}) {
    left.push_back({host, 7.0});
    right.push_back({host, 7.0 + step});
  }
  EXPECT_FALSE(welch_parts(left, right));
  const auto difference = pooled_difference(left, right);
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->two_sided_p(), 0.16273310982429359, 1e-9);  // R: t.test of the steps
}

TEST(Difference, Pairs) {
  const auto difference = paired_difference(std::vector<double>{0.1, 0.3, -0.05, 0.2});
  ASSERT_TRUE(difference);
  EXPECT_NEAR(difference->two_sided_p(), 0.16273310982429359, 1e-9);
  EXPECT_NEAR(difference->interval().low, -0.10007588699932297, 1e-9);
  EXPECT_NEAR(difference->interval().high, 0.37507588699932298, 1e-9);
  EXPECT_FALSE(paired_difference(std::vector<double>{0.1}));
}

TEST(Difference, OneBootLeavesNothingToEstimate) {
  EXPECT_FALSE(welch_parts(boots({1}), boots({2, 3})));
  EXPECT_FALSE(pooled_difference(boots({1}), boots({2})));
  EXPECT_FALSE(pooled_difference(boots({}), boots({2, 3})));
}

TEST(Difference, WithoutAnyNoiseOnlyEqualSidesAreEqual) {
  EXPECT_EQ(pooled_difference(boots({1, 1, 1}), boots({1, 1, 1}))->two_sided_p(), 1);
  EXPECT_EQ(pooled_difference(boots({1, 1, 1}), boots({2, 2, 2}))->two_sided_p(), 0);
}

}  // namespace
}  // namespace krepro
