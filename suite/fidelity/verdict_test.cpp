// Verdicts from figures made here.
#include "suite/fidelity/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krepro::fidelity {
namespace {

using ::testing::HasSubstr;

RatioEstimate estimate(double low, double high, std::size_t blocks = 6) {
  return {blocks, (low + high) / 2, Interval{low, high}};
}

TEST(Verdict, TheWholeIntervalDecides) {
  EXPECT_EQ(judge_ratio(estimate(0.96, 1.04), 0.95, 1.05).verdict, Verdict::same);
  EXPECT_EQ(judge_ratio(estimate(1.06, 1.09), 0.95, 1.05).verdict, Verdict::differs);
  EXPECT_EQ(judge_ratio(estimate(0.85, 0.94), 0.95, 1.05).verdict, Verdict::differs);
  EXPECT_EQ(judge_ratio(estimate(0.94, 1.00), 0.95, 1.05).verdict, Verdict::unresolved);
  EXPECT_EQ(judge_ratio(estimate(0.80, 1.30), 0.95, 1.05).verdict, Verdict::unresolved);
}

TEST(Verdict, TwoBlocksDecideNothing) {
  const Judgement judgement = judge_ratio(estimate(0.99, 1.01, 2), 0.95, 1.05);
  EXPECT_EQ(judgement.verdict, Verdict::unresolved);
  EXPECT_THAT(judgement.reason, HasSubstr("needs at least 3"));
}

TEST(Verdict, TwoModesAreComparedOneByOneAndNotAveraged) {
  Finding finding;
  finding.estimate = estimate(0.99, 1.01);
  finding.original_modes = ModePair{0.2, 0.4, 0.5};
  finding.ours_modes = ModePair{0.19, 0.42, 0.4};
  judge_time(finding, 0.95, 1.05);
  EXPECT_EQ(finding.verdict, Verdict::unresolved);
  EXPECT_THAT(finding.reason, HasSubstr("fast ones 0.950, of the slow ones 1.050"));
}

TEST(Verdict, NextToNoSwitchesOnBothSidesAreTheSameWhateverTheirRatio) {
  Finding finding;
  finding.original = 0.0002;
  finding.ours = 0.0006;
  finding.estimate = estimate(2, 4);
  judge_events(finding, 0.1);
  EXPECT_EQ(finding.verdict, Verdict::same);
  finding.ours = 0.6;
  judge_events(finding, 0.1);
  EXPECT_EQ(finding.verdict, Verdict::differs);
}

CallSpreads calls(const CallCounts& counts) {
  CallSpreads spreads;
  for (const auto& [name, count] : counts) spreads[name] = {count, count, count};
  return spreads;
}

TEST(Verdict, EveryCallOfNoteMustAgree) {
  const auto same = compare_calls(calls({{"read", 1}, {"write", 1}}),
                                  calls({{"read", 1.009}, {"write", 1}}), 0.01, false);
  EXPECT_EQ(judge_calls(same, "message").verdict, Verdict::same);
  const auto more = compare_calls(calls({{"read", 1}, {"write", 1}}),
                                  calls({{"read", 1}, {"write", 1}, {"futex", 0.02}}), 0.01, false);
  const Finding finding = judge_calls(more, "message");
  EXPECT_EQ(finding.verdict, Verdict::differs);
  EXPECT_THAT(finding.reason, HasSubstr("futex 0.000 in the original, 0.020 in ours"));
}

TEST(Verdict, CallsOfTheSetUpAreSummedUpAndNotJudged) {
  const auto compared = compare_calls(calls({{"read", 1}, {"brk", 0.0004}, {"poll", 0.0003}}),
                                      calls({{"read", 1}}), 0.01, false);
  ASSERT_EQ(compared.size(), 2U);
  EXPECT_EQ(compared[1].name, "other");
  EXPECT_NEAR(compared[1].original.median, 0.0007, 1e-9);
  EXPECT_EQ(judge_calls(compared, "message").verdict, Verdict::same);
}

TEST(Verdict, CallsThatVaryFromRunToRunAreUnresolvedWhereTheirRangesMeet) {
  CallSpreads original;
  original["futex"] = {0.50, 0.40, 0.60};
  CallSpreads ours;
  ours["futex"] = {0.55, 0.52, 0.58};
  EXPECT_EQ(judge_calls(compare_calls(original, ours, 0.01, false), "op").verdict,
            Verdict::unresolved);
  ours["futex"] = {0.70, 0.65, 0.75};
  EXPECT_EQ(judge_calls(compare_calls(original, ours, 0.01, false), "op").verdict,
            Verdict::differs);
}

TEST(Verdict, CallsThatVaryAreLeftToBlocksOfRunsWhereThoseCanBeMade) {
  CallSpreads original = calls({{"read", 1}});
  original["epoll_wait"] = {1.3, 0.2, 1.4};
  CallSpreads ours = calls({{"read", 1}});
  ours["epoll_wait"] = {1.4, 1.3, 1.5};
  const auto compared = compare_calls(original, ours, 0.1, true);
  EXPECT_EQ(compared[0].name, "epoll_wait");
  EXPECT_TRUE(varies(compared[0], 0.1));
  EXPECT_EQ(compared[0].verdict, Verdict::not_judged);
  EXPECT_FALSE(varies(compared[1], 0.1));
  EXPECT_EQ(judge_calls(compared, "op").verdict, Verdict::same) << "by read alone";
}

TEST(Verdict, NoCallsAtAllAreNotTheSame) {
  EXPECT_EQ(judge_calls(compare_calls({}, {}, 0.01, false), "op").verdict, Verdict::unresolved);
}

TEST(Verdict, TheWorstOfARowIsTheRows) {
  const auto of = [](std::vector<Verdict> verdicts) { return overall(verdicts); };
  EXPECT_EQ(of({Verdict::same, Verdict::differs, Verdict::unresolved}), Verdict::differs);
  EXPECT_EQ(of({Verdict::same, Verdict::unresolved}), Verdict::unresolved);
  EXPECT_EQ(of({Verdict::same, Verdict::not_judged}), Verdict::same);
  EXPECT_EQ(of({}), Verdict::unresolved);
}

}  // namespace
}  // namespace krepro::fidelity
