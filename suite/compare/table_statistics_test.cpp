// What looks at a table as a whole: shrinking of variances, adjustment of p-values, power.
// Reference values: limma 3.54.1 (squeezeVar) and R 4.2.2 (p.adjust, power.t.test with strict =
// TRUE).
#include <gtest/gtest.h>

#include <cmath>

#include "suite/compare/multiplicity.h"
#include "suite/compare/power.h"
#include "suite/compare/shrinkage.h"

namespace krepro {
namespace {

void expect_list(const std::vector<double>& list, const std::vector<double>& reference) {
  ASSERT_EQ(list.size(), reference.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_NEAR(list[i], reference[i], 1e-9) << "element " << i;
  }
}

const std::vector<double> variances{0.12, 0.5, 0.33, 2.4, 0.08, 1.1, 0.9, 0.27};

TEST(Shrinkage, AgreesWithTheReference) {
  const ShrunkVariances shrunk = shrink_variances(variances, std::vector<double>(8, 4.0));
  EXPECT_NEAR(shrunk.prior_df, 3.9177408414166646, 1e-9);
  EXPECT_NEAR(shrunk.prior_variance, 0.41997548688889991, 1e-9);
  expect_list(shrunk.variances,
              {0.26842948764640517, 0.46040343961627506, 0.37452035584028065, 1.4202731994656244,
               0.24822170322852413, 0.76352020588449077, 0.66248128379508553, 0.3442086792134591});
}

TEST(Shrinkage, AgreesWithTheReferenceForRowsOfDifferentSize) {
  const ShrunkVariances shrunk =
      shrink_variances(variances, std::vector<double>{4, 4, 6, 6, 3, 4, 4, 8});
  EXPECT_NEAR(shrunk.prior_df, 3.8804770768078378, 1e-9);
  EXPECT_NEAR(shrunk.prior_variance, 0.40687848445266139, 1e-9);
  expect_list(shrunk.variances,
              {0.2612637042018861, 0.4541454276286751, 0.36019340000479638, 1.6172177221555062,
               0.26435414458334744, 0.7586955172499209, 0.65717882070950562, 0.31470812222378081});
}

TEST(Shrinkage, RowsThatDifferByChanceAloneGetOneVariance) {
  const ShrunkVariances shrunk =
      shrink_variances(std::vector<double>{1, 1.1, 0.9, 1.05, 0.95}, std::vector<double>(5, 4.0));
  EXPECT_TRUE(std::isinf(shrunk.prior_df));
  expect_list(shrunk.variances, {1, 1, 1, 1, 1});
}

TEST(Shrinkage, RowsWithoutAnySpreadStayAsTheyAre) {
  const ShrunkVariances shrunk =
      shrink_variances(std::vector<double>{0, 0, 0, 1}, std::vector<double>(4, 4.0));
  expect_list(shrunk.variances, {0, 0, 0, 1});
  EXPECT_EQ(shrunk.prior_df, 0);
}

const std::vector<double> p_values{0.01, 0.02, 0.03, 0.04, 0.05, 0.8, 0.0004, 0.25};

TEST(Multiplicity, BenjaminiHochbergAgreesWithTheReference) {
  expect_list(benjamini_hochberg(p_values),
              {0.04, 0.053333333333333333, 0.06, 0.064, 0.066666666666666666, 0.8, 0.0032,
               0.2857142857142857});
  EXPECT_TRUE(benjamini_hochberg({}).empty());
}

TEST(Multiplicity, HolmAgreesWithTheReference) {
  expect_list(holm(p_values), {0.07, 0.12, 0.15, 0.16, 0.16, 0.8, 0.0032, 0.5});
}

TEST(Power, AgreesWithTheReference) {
  // power.t.test(n = 4, delta = 1.7, sd = 0.8)
  EXPECT_NEAR(power_of_t_test(1.7 / (0.8 * std::sqrt(0.5)), 6, 0.05), 0.70816796521957437, 1e-9);
  // power.t.test(n = 5, power = 0.8, sd = 1, sig.level = 0.01)
  EXPECT_NEAR(minimum_detectable_effect(std::sqrt(0.4), 8, 0.01), 2.7444678913956371, 1e-5);
}

TEST(Power, SizeNeeded) {
  // power.t.test(delta = 1, power = 0.8, sd = 1): n = 16.7
  const auto design = [](std::size_t n) {
    const auto boots = static_cast<double>(n);
    return DesignError{std::sqrt(2 / boots), 2 * boots - 2};
  };
  EXPECT_EQ(size_needed(design, 1, 0.05, 2, 1000), 17u);
  EXPECT_EQ(size_needed(design, 1, 0.05, 2, 10), std::nullopt);
  EXPECT_EQ(size_needed(design, 100, 0.05, 2, 10), 2u);
}

TEST(Power, LargeDegreesOfFreedomJoinSmoothly) {
  EXPECT_NEAR(power_of_t_test(2.8, 9999, 0.05), power_of_t_test(2.8, 10001, 0.05), 1e-4);
  EXPECT_NEAR(minimum_detectable_effect(1, 1e9, 0.05), 1.959964 + 0.841621, 1e-4);
}

}  // namespace
}  // namespace krepro
