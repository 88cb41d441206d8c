// The verdicts of single rows and small tables, row by row as an operator would check them.
#include "suite/compare/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/random.h"

namespace krepro {
namespace {

using testing::HasSubstr;

std::vector<BootTrials> side(const std::vector<std::vector<double>>& boots,
                             const std::string& host = "host") {
  std::vector<BootTrials> list;
  for (const std::vector<double>& values : boots) {
    BootTrials boot{host, "boot" + std::to_string(list.size()), values, {}};
    for (std::size_t i = 0; i < values.size(); ++i) {
      boot.blocks.push_back(static_cast<std::int64_t>(i));
    }
    list.push_back(boot);
  }
  return list;
}

std::vector<std::vector<double>> scaled(std::vector<std::vector<double>> boots, double factor) {
  for (auto& boot : boots) {
    for (double& value : boot) value *= factor;
  }
  return boots;
}

const std::vector<std::vector<double>> quiet{
    {100.0, 100.2}, {100.4, 100.1}, {99.8, 99.9}, {100.1, 99.7}};

RowData row(const std::vector<std::vector<double>>& base,
            const std::vector<std::vector<double>>& other, bool higher_is_better = true) {
  RowData data;
  data.family = "family";
  data.higher_is_better = higher_is_better;
  data.base = side(base);
  data.other = side(other);
  return data;
}

RowTest judge_one(const RowData& data, const JudgeOptions& options = {}) {
  return judge({data}, options)[0];
}

TEST(Judge, DirectionFollowsTheMetric) {
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 0.9), true)).verdict, Verdict::worse);
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 1.1), true)).verdict, Verdict::better);
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 0.9), false)).verdict, Verdict::better);
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 1.1), false)).verdict, Verdict::worse);
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 1.001), true)).verdict, Verdict::same);
  EXPECT_EQ(judge_one(row(quiet, scaled(quiet, 1.001), false)).verdict, Verdict::same);
}

TEST(Judge, ChangeIsThatOfSpeed) {
  // Twice the time is half the speed.
  const RowTest time = judge_one(row(quiet, scaled(quiet, 2), false));
  EXPECT_NEAR(change_of(time.difference->estimate), -0.5, 1e-12);
  // Rate and latency of one load tell the same change: 11.4 % fewer transactions.
  const RowTest rate = judge_one(row(quiet, scaled(quiet, 0.886), true));
  const RowTest latency = judge_one(row(quiet, scaled(quiet, 1 / 0.886), false));
  EXPECT_NEAR(rate.difference->estimate, latency.difference->estimate, 1e-12);
}

TEST(Judge, SameWinsOverASignificantChangeWithinTheTolerance) {
  const auto still = std::vector<std::vector<double>>{{100}, {100.001}, {99.999}, {100}};
  const RowTest test = judge_one(row(still, scaled(still, 1.01)));
  EXPECT_LT(*test.adjusted_p, 1e-6);
  EXPECT_EQ(test.verdict, Verdict::same);
  JudgeOptions strictest;
  strictest.tolerance = 0.005;
  EXPECT_EQ(judge_one(row(still, scaled(still, 1.01)), strictest).verdict, Verdict::better);
}

TEST(Judge, NoiseIsUnresolvedAndSaysWhatItWouldTake) {
  const std::vector<std::vector<double>> noisy{{100, 104}, {110, 112}, {92, 97}, {104, 99}};
  const RowTest test = judge_one(row(noisy, scaled(noisy, 0.97)));
  EXPECT_EQ(test.verdict, Verdict::unresolved);
  ASSERT_TRUE(test.minimum_detectable);
  EXPECT_GT(*test.minimum_detectable, 0.10);
  ASSERT_TRUE(test.boots_needed);
  EXPECT_GT(*test.boots_needed, 20u);
  // Nearly all of the noise lies between boots: no number of repetitions can do it.
  EXPECT_FALSE(test.repetitions_needed);
}

TEST(Judge, NoiseWithinBootsIsMendedByRepetitions) {
  const std::vector<std::vector<double>> noisy{
      {90, 110, 107}, {109, 92, 93}, {112, 91, 104}, {89, 108, 93}};
  const RowTest test = judge_one(row(noisy, scaled(noisy, 0.98)));
  EXPECT_EQ(test.verdict, Verdict::unresolved);
  ASSERT_TRUE(test.repetitions_needed);
}

TEST(Judge, FewerThanThreeBootsGiveNoVerdict) {
  const RowTest one = judge_one(row({{100, 101, 99}}, {{50, 51, 49}}));
  EXPECT_EQ(one.verdict, Verdict::unresolved);
  EXPECT_EQ(one.method, Method::within_boot);
  EXPECT_THAT(one.reason, HasSubstr("1 boot per kernel"));
  EXPECT_THAT(one.reason, HasSubstr("the difference between two boots of the same kernel is"));
  EXPECT_TRUE(one.interval);
  EXPECT_FALSE(one.p);
  const RowTest single = judge_one(row({{100}}, {{50}}));
  EXPECT_EQ(single.verdict, Verdict::unresolved);
  EXPECT_FALSE(single.interval);
  const RowTest two = judge_one(row({{100}, {101}}, {{50}, {51}}));
  EXPECT_EQ(two.verdict, Verdict::unresolved);
  EXPECT_THAT(two.reason, HasSubstr("3 per side are needed"));
}

TEST(Judge, DifferentHostsAreNoComparisonOfKernels) {
  RowData data = row(quiet, scaled(quiet, 0.5));
  for (BootTrials& boot : data.other) boot.host = "another";
  const RowTest test = judge_one(data);
  EXPECT_EQ(test.verdict, Verdict::unresolved);
  EXPECT_THAT(test.reason, HasSubstr("different hosts"));
}

TEST(Judge, HostsThatRanBothSidesAreBlocks) {
  RowData data = row(quiet, scaled(quiet, 0.9));
  for (const BootTrials& boot : side(scaled(quiet, 3), "fast")) data.base.push_back(boot);
  for (const BootTrials& boot : side(scaled(quiet, 2.7), "fast")) data.other.push_back(boot);
  const RowTest test = judge_one(data);
  EXPECT_EQ(test.verdict, Verdict::worse);
  EXPECT_NEAR(change_of(test.difference->estimate), -0.1, 1e-9);
  // A host with one side only adds nothing.
  for (const BootTrials& boot : side(scaled(quiet, 9), "lonely")) data.other.push_back(boot);
  EXPECT_NEAR(change_of(judge_one(data).difference->estimate), -0.1, 1e-9);
}

TEST(Judge, ZeroIsNoRatio) {
  const std::vector<std::vector<double>> zeros{{0}, {0}, {0}};
  EXPECT_EQ(judge_one(row(quiet, zeros)).verdict, Verdict::stopped);
  const RowTest base_zero = judge_one(row(zeros, quiet));
  EXPECT_EQ(base_zero.verdict, Verdict::invalid);
  EXPECT_THAT(base_zero.reason, HasSubstr("3 of 3 base trials"));
  EXPECT_FALSE(base_zero.difference);
  EXPECT_EQ(judge_one(row(quiet, zeros, false)).verdict, Verdict::invalid);
  EXPECT_EQ(judge_one(row(quiet, {{100}, {0}, {100}})).verdict, Verdict::invalid);
  EXPECT_EQ(judge_one(row(quiet, {})).verdict, Verdict::invalid);
}

TEST(Judge, ARefusedRowGetsNoVerdictButKeepsItsInterval) {
  RowData data = row(quiet, scaled(quiet, 0.5));
  data.refusal = "both sides ran the same kernel";
  const RowTest test = judge_one(data);
  EXPECT_EQ(test.verdict, Verdict::unresolved);
  EXPECT_EQ(test.reason, data.refusal);
  EXPECT_TRUE(test.interval);
  EXPECT_FALSE(test.p);
}

TEST(Judge, ManyRowsShareTheirNoiseAndFewDoNot) {
  RandomStream random(3);
  std::vector<RowData> rows;
  for (int i = 0; i < 8; ++i) {
    std::vector<std::vector<double>> base;
    std::vector<std::vector<double>> other;
    for (int boot = 0; boot < 3; ++boot) {
      base.push_back({std::exp(0.01 * random.normal())});
      other.push_back({std::exp(0.01 * random.normal())});
    }
    rows.push_back(row(base, other));
  }
  EXPECT_EQ(judge(rows, {})[0].method, Method::moderated);
  JudgeOptions strict;
  strict.rule = Rule::strict;
  EXPECT_EQ(judge(rows, strict)[0].method, Method::welch);
  rows.pop_back();
  EXPECT_EQ(judge(rows, {})[0].method, Method::welch);
}

TEST(Judge, TheWholeTableIsCorrectedFor) {
  const std::vector<std::vector<double>> some{{100}, {101}, {99}, {100.5}};
  const RowData shifted = row(some, scaled(some, 0.97));
  const RowTest alone = judge_one(shifted);
  EXPECT_EQ(alone.verdict, Verdict::worse);
  std::vector<RowData> rows(7, row(some, some));
  rows[0] = shifted;
  EXPECT_GT(*judge(rows, {})[0].adjusted_p, 5 * *alone.adjusted_p);
}

TEST(Judge, PairsWithinOneBoot) {
  // Drift moves both settings; the pairs do not see it.
  RowData data;
  data.family = "family";
  data.base = side({{100, 110, 121, 133}});
  data.other = side({{105, 115, 127, 140}});
  JudgeOptions paired;
  paired.paired = true;
  const RowTest test = judge_one(data, paired);
  EXPECT_EQ(test.method, Method::paired);
  EXPECT_EQ(test.verdict, Verdict::better);
  EXPECT_EQ(judge_one(data).verdict, Verdict::unresolved);
  data.other[0].boot = "another boot";
  EXPECT_THAT(judge_one(data, paired).reason, HasSubstr("nothing to pair"));
}

TEST(Judge, PairsOverSeveralBootsStandOnTheBoots) {
  const std::vector<std::vector<double>> base{{100, 101}, {120, 119}, {90, 91}, {105, 104}};
  JudgeOptions paired;
  paired.paired = true;
  const RowTest test = judge_one(row(base, scaled(base, 0.9)), paired);
  EXPECT_EQ(test.verdict, Verdict::worse);
  EXPECT_EQ(test.difference->df, 3);
}

TEST(Judge, PublishedRuleLooksAtIntervalsOfPooledTrials) {
  JudgeOptions overlap;
  overlap.rule = Rule::overlap;
  EXPECT_EQ(judge_one(row({{100, 101, 99}}, {{110, 111, 109}}), overlap).verdict, Verdict::better);
  EXPECT_EQ(judge_one(row({{100, 101, 99}}, {{110, 111, 109}}, false), overlap).verdict,
            Verdict::worse);
  const RowTest close = judge_one(row({{100, 101, 99}}, {{101, 102, 100}}), overlap);
  EXPECT_EQ(close.verdict, Verdict::unresolved);
  EXPECT_THAT(close.reason, HasSubstr("overlap"));
  EXPECT_THAT(judge_one(row({{100}}, {{90}}), overlap).reason, HasSubstr("n = 1"));
}

}  // namespace
}  // namespace krepro
