// What is fixed in a run, from short ones, taken off long ones.
#include "suite/fidelity/start_up.h"

#include <gtest/gtest.h>

namespace krepro::fidelity {
namespace {

RunFigures run_of(Side side, double operations, double cpu_s, std::uint64_t switches,
                  double wakeups = 0) {
  RunFigures figures;
  figures.side = side;
  figures.operations = operations;
  figures.user_s = cpu_s / 4;
  figures.system_s = cpu_s * 3 / 4;
  figures.voluntary_switches = switches;
  if (wakeups > 0) figures.metrics[counted_key] = wakeups;
  return figures;
}

TEST(StartUpTest, WithoutShortRunsNothingIsTakenOff) {
  const StartUp start_up;
  EXPECT_DOUBLE_EQ(start_up.cpu_s_per_operation(run_of(Side::ours, 100, 2, 10)), 0.02);
  EXPECT_DOUBLE_EQ(start_up.switches_per_operation(run_of(Side::ours, 100, 2, 10)), 0.1);
}

TEST(StartUpTest, WhatIsLeftIsTheSlopeBetweenTheMedianShortRunAndTheLongOne) {
  StartUp start_up;
  // 0.3 s and 50 switches whatever the length, then 1 ms and half a switch an operation; ours costs
  // the same per operation and nothing else. One short run went wrong.
  start_up.learn({run_of(Side::original, 100, 0.4, 100, 10), run_of(Side::ours, 100, 0.1, 50, 10),
                  run_of(Side::original, 100, 0.4, 100, 10), run_of(Side::ours, 100, 0.1, 50, 10),
                  run_of(Side::original, 100, 5.0, 9000, 10),
                  run_of(Side::ours, 100, 0.1, 50, 10)});
  const RunFigures original = run_of(Side::original, 1000, 1.3, 550, 910);
  const RunFigures ours = run_of(Side::ours, 1000, 1.0, 500, 910);
  EXPECT_NEAR(start_up.cpu_s_per_operation(original), 0.001, 1e-9);
  EXPECT_NEAR(start_up.cpu_s_per_operation(ours), 0.001, 1e-9);
  EXPECT_NEAR(start_up.switches_per_operation(original), 0.5, 1e-9);
  EXPECT_NEAR(start_up.switches_per_operation(ours), 0.5, 1e-9);
  EXPECT_NEAR(start_up.counted_per_operation(ours), 1.0, 1e-9);
}

TEST(StartUpTest, RatiosGetANumberAboveZeroEvenWhereNothingIsLeft) {
  StartUp start_up;
  start_up.learn({run_of(Side::ours, 100, 0.1, 50)});
  const RunFigures less = run_of(Side::ours, 90, 0.05, 40);
  EXPECT_GT(start_up.cpu_s_per_operation(less), 0);
  EXPECT_GT(start_up.switches_per_operation(less), 0);
}

}  // namespace
}  // namespace krepro::fidelity
