// The statistics of the comparison, on numbers made here: no program runs and no clock is read.
#include "suite/fidelity/ratio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/random.h"
#include "suite/fidelity/measurement.h"

namespace krepro::fidelity {
namespace {

using ::testing::ElementsAre;

double log_ratio_of_block(std::size_t block, const std::array<double, runs_per_block>& values) {
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    MeasuredRun run;
    run.figures.side = block_order(block)[i];
    run.figures.operations = 1;
    run.figures.elapsed_s = values[i];
    run.phase = "timed";
    run.block = block;  // Blocks before it are not there, and give no ratio.
    runs.push_back(run);
  }
  return block_log_ratios(runs, [](const RunFigures& figures) { return figures.elapsed_s; }).at(0);
}

TEST(Ratio, BlocksAreAbbaAndStartWithTheOtherSideInTurn) {
  EXPECT_THAT(block_order(0), ElementsAre(Side::original, Side::ours, Side::ours, Side::original));
  EXPECT_THAT(block_order(1), ElementsAre(Side::ours, Side::original, Side::original, Side::ours));
}

TEST(Ratio, AProgramThatTakesAFifthLongerHasTheRatioSixFifths) {
  EXPECT_NEAR(std::exp(log_ratio_of_block(0, {1.0, 1.2, 1.2, 1.0})), 1.2, 1e-12);
  EXPECT_NEAR(std::exp(log_ratio_of_block(1, {1.2, 1.0, 1.0, 1.2})), 1.2, 1e-12);
}

TEST(Ratio, ASteadyDriftOfTheMachineCancelsInABlock) {
  // The machine gets slower by the same time with every run; the programs are equal.
  for (std::size_t block : {0U, 1U}) {
    std::array<double, runs_per_block> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1 + 0.05 * static_cast<double>(block * runs_per_block + i);
    }
    EXPECT_NEAR(log_ratio_of_block(block, values), 0, 1e-12);
  }
}

TEST(Ratio, OneBlockHasNoInterval) {
  const std::vector<double> one{0.1};
  EXPECT_FALSE(estimate_ratio(one).interval.has_value());
  EXPECT_TRUE(std::isinf(estimate_ratio(one).half_width()));
}

TEST(Ratio, TheIntervalIsStudentsOnTheLogScale) {
  const std::vector<double> blocks{0.01, 0.03, 0.02};
  const RatioEstimate estimate = estimate_ratio(blocks);
  // Mean 0.02, standard deviation 0.01, t(0.975, 2) = 4.302653.
  const double half = 4.302653 * 0.01 / std::sqrt(3.0);
  ASSERT_TRUE(estimate.interval.has_value());
  EXPECT_NEAR(estimate.ratio, std::exp(0.02), 1e-9);
  EXPECT_NEAR(estimate.interval->low, std::exp(0.02 - half), 1e-6);
  EXPECT_NEAR(estimate.interval->high, std::exp(0.02 + half), 1e-6);
  EXPECT_NEAR(estimate.half_width(), std::exp(half) - 1, 1e-6);
}

TEST(Stopping, GoesOnUntilEveryIntervalIsNarrow) {
  const StoppingRule rule{.half_width = 0.02, .max_blocks = 20, .max_time_ns = 1000};
  EXPECT_EQ(decide(rule, 8, std::vector<double>{0.01, 0.03}, 5), Stop::go_on);
  EXPECT_EQ(decide(rule, 8, std::vector<double>{0.01, 0.02}, 5), Stop::narrow);
}

TEST(Stopping, AFewBlocksThatAgreeByChanceAreNotEnough) {
  const StoppingRule rule{.half_width = 0.02, .max_blocks = 20, .max_time_ns = 1000};
  EXPECT_EQ(decide(rule, blocks_before_stopping - 1, std::vector<double>{0.001}, 5), Stop::go_on);
}

TEST(Stopping, EndsAtTheBoundsOfBlocksAndTime) {
  const StoppingRule rule{.half_width = 0.02, .max_blocks = 9, .max_time_ns = 1000};
  EXPECT_EQ(decide(rule, 9, std::vector<double>{0.5}, 5), Stop::out_of_blocks);
  EXPECT_EQ(decide(rule, 2, std::vector<double>{0.5}, 1000), Stop::out_of_time);
  EXPECT_EQ(decide(rule, 0, std::vector<double>{0.5}, 1000), Stop::go_on);
}

TEST(Stopping, ByWidthNeitherBiasesTheRatioNorRuinsTheCoverage) {
  // Equal programs, blocks whose log ratio varies by 5 %: the case where stopping early tempts
  // most.
  const StoppingRule rule{.half_width = 0.03, .max_blocks = 20, .max_time_ns = INT64_MAX};
  RandomStream random(7);
  constexpr int experiments = 2000;
  int covered = 0;
  double sum_of_logs = 0;
  for (int experiment = 0; experiment < experiments; ++experiment) {
    std::vector<double> log_ratios;
    Stop stop = Stop::go_on;
    while (stop == Stop::go_on) {
      log_ratios.push_back(0.05 * random.normal());
      const std::vector<double> widths{estimate_ratio(log_ratios).half_width()};
      stop = decide(rule, log_ratios.size(), widths, 0);
    }
    const RatioEstimate estimate = estimate_ratio(log_ratios);
    sum_of_logs += std::log(estimate.ratio);
    if (estimate.interval->low <= 1 && estimate.interval->high >= 1) ++covered;
  }
  EXPECT_NEAR(sum_of_logs / experiments, 0, 0.002);
  EXPECT_GT(static_cast<double>(covered) / experiments, 0.915);  // docs/fidelity.md says 93 %
}

}  // namespace
}  // namespace krepro::fidelity
