// The guess of the time left; the line itself needs a terminal, which tests have not.
#include "suite/execute/progress_line.h"

#include <gtest/gtest.h>

namespace krepro {
namespace {

Plan plan_of(const std::vector<double>& expected_seconds) {
  Plan plan;
  for (const double seconds : expected_seconds) {
    Benchmark benchmark;
    benchmark.expected_seconds = seconds;
    plan.trials.push_back({plan.trials.size(), plan.benchmarks.size(), 0, false});
    plan.benchmarks.push_back(benchmark);
  }
  return plan;
}

TEST(TimeLeftTest, ExpectationsServeUntilSomethingIsMeasured) {
  const Plan plan = plan_of({10, 20});
  EXPECT_DOUBLE_EQ(TimeLeft(plan).estimate_seconds({0, 1}), 30);
}

TEST(TimeLeftTest, WhatWasMeasuredCountsAndCorrectsTheOtherExpectations) {
  const Plan plan = plan_of({10, 20});
  TimeLeft left(plan);
  left.learn(0, 5);
  EXPECT_DOUBLE_EQ(left.estimate_seconds({0, 1}), 5 + 10);
}

TEST(TimeLeftTest, WithoutExpectationsTheMeanOfTheOthersIsTaken) {
  const Plan plan = plan_of({0, 0});
  TimeLeft left(plan);
  EXPECT_LT(left.estimate_seconds({0, 1}), 0);
  left.learn(0, 4);
  left.learn(0, 6);
  EXPECT_DOUBLE_EQ(left.estimate_seconds({0, 1}), 10);
}

TEST(ProgressLineTest, NothingIsShownWhereItIsNotWanted) {
  EXPECT_FALSE(ProgressLine(true).shown());
}

}  // namespace
}  // namespace krepro
