// A kernel against itself: noise is told apart by where it comes from, and alarms are counted.
#include "suite/compare/aa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/random.h"

namespace krepro {
namespace {

using testing::HasSubstr;

std::vector<SideRow> noisy_rows(std::size_t boots, std::size_t repetitions, double between,
                                double within) {
  RandomStream random(9);
  std::vector<SideRow> rows(10);
  for (SideRow& row : rows) {
    row.present = true;
    row.benchmark.name = "row";
    row.benchmark.family = "family";
    for (std::size_t boot = 0; boot < boots; ++boot) {
      BootTrials trials{"host", "boot" + std::to_string(boot), {}, {}};
      const double effect = between * random.normal();
      for (std::size_t i = 0; i < repetitions; ++i) {
        trials.values.push_back(std::exp(effect + within * random.normal()));
        trials.blocks.push_back(static_cast<std::int64_t>(i));
      }
      row.boots.push_back(trials);
    }
  }
  return rows;
}

const AaRule* rule(const AaResult& result, const std::string& part) {
  for (const AaRule& known : result.rules) {
    if (known.name.find(part) != std::string::npos) return &known;
  }
  return nullptr;
}

TEST(Aa, NoiseWithinAndBetweenBootsIsToldApart) {
  const AaResult result = compare_with_itself(noisy_rows(40, 10, 0.05, 0.02), 1, 1);
  EXPECT_NEAR(*result.rows[0].within_boots, 0.02, 0.004);
  EXPECT_NEAR(*result.rows[0].between_boots, 0.05, 0.02);
}

TEST(Aa, TheRuleOfCompareHoldsWhereThatOfIntervalsDoesNot) {
  const AaResult result = compare_with_itself(noisy_rows(8, 5, 0.05, 0.01), 100, 1);
  ASSERT_NE(rule(result, "krepro compare"), nullptr);
  EXPECT_LT(rule(result, "krepro compare")->rows_called, 0.05);
  EXPECT_GT(rule(result, "intervals of trials apart")->rows_called, 0.10);
}

TEST(Aa, OneBootIsDealtInPairsAndSaysWhatItLacks) {
  const AaResult result = compare_with_itself(noisy_rows(1, 10, 0, 0.02), 100, 1);
  EXPECT_EQ(rule(result, "boots dealt"), nullptr);
  ASSERT_NE(rule(result, "in pairs"), nullptr);
  EXPECT_LT(rule(result, "in pairs")->rows_called, 0.05);
  EXPECT_THAT(aa_report(result, "6.18"), HasSubstr("difference between boots is not in this"));
}

TEST(Aa, TooFewTrialsAreSaid) {
  const AaResult result = compare_with_itself(noisy_rows(1, 3, 0, 0.02), 10, 1);
  EXPECT_TRUE(result.rules.empty());
  EXPECT_THAT(aa_report(result, "6.18"), HasSubstr("too few trials"));
}

}  // namespace
}  // namespace krepro
