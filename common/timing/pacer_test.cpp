// Schedules, computed and compared with exact ones; no test waits for one.
#include "common/timing/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/timing/test_times.h"

namespace krepro {
namespace {

std::vector<std::int64_t> schedule(Pacer pacer, std::size_t length) {
  pacer.start(start);
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < length; ++i) starts.push_back(pacer.next_ns() - start);
  return starts;
}

TEST(Pacer, WithoutARateIsAClosedLoop) {
  EXPECT_TRUE(Pacer().closed());
  EXPECT_FALSE(Pacer(Arrivals::constant, 1, 0, 0).closed());
}

TEST(ConstantPacer, FirstOperationsAreDueAtMultiplesOfTheInterval) {
  EXPECT_EQ(schedule(Pacer(Arrivals::constant, 1000, 0, 0), 4),
            (std::vector<std::int64_t>{0, 1'000'000, 2'000'000, 3'000'000}));
  EXPECT_EQ(schedule(Pacer(Arrivals::constant, 3, 0, 0), 4),
            (std::vector<std::int64_t>{0, 333'333'333, 666'666'666, second}));
  EXPECT_EQ(schedule(Pacer(Arrivals::constant, 0.1, 0, 0), 3),
            (std::vector<std::int64_t>{0, 10 * second, 20 * second}));
}

TEST(ConstantPacer, DoesNotDriftInALongRun) {
  struct Case {
    double rate;
    std::uint64_t operations;
    std::int64_t due_ns;
  };
  for (const Case& example :
       {Case{0.1, 100'000, 1'000'000 * second},  // 11 days
        Case{10'000'000, 20'000'000, 2 * second}, Case{3, 3'000'000, 1'000'000 * second},
        Case{7, 7'000'000, 1'000'000 * second}, Case{1e9 / 3, 10'000'000, 30'000'000}}) {
    Pacer pacer(Arrivals::constant, example.rate, 0, 0);
    pacer.start(start);
    std::int64_t last_ns = 0;
    for (std::uint64_t i = 0; i <= example.operations; ++i) last_ns = pacer.next_ns();
    EXPECT_NEAR(static_cast<double>(last_ns - start), static_cast<double>(example.due_ns), 1)
        << example.rate << "/s";
  }
}

TEST(ConstantPacer, PhaseShiftsWorkersApart) {
  EXPECT_EQ(schedule(Pacer(Arrivals::constant, 1000, 0, 0, 0.25), 3),
            (std::vector<std::int64_t>{250'000, 1'250'000, 2'250'000}));
}

TEST(ConstantPacer, EightWorkersShareALowRateEvenly) {
  // 8 workers, together 4/s: one operation every 250 ms, 20 in 5 s.
  std::vector<std::int64_t> all;
  for (std::uint64_t worker = 0; worker < 8; ++worker) {
    const Pacer pacer(Arrivals::constant, 4.0 / 8, 1, worker, static_cast<double>(worker) / 8);
    for (const std::int64_t due_ns : schedule(pacer, 10)) {
      if (due_ns < 5 * second) all.push_back(due_ns);
    }
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), 20U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], static_cast<std::int64_t>(i) * second / 4);
  }
}

TEST(ConstantPacer, AnIntervalOfCenturiesDoesNotWrap) {
  const std::vector<std::int64_t> starts = schedule(Pacer(Arrivals::constant, 1e-12, 0, 0), 3);
  EXPECT_EQ(starts[0], 0);
  EXPECT_GT(starts[1], 1'000'000'000 * second);
  EXPECT_GE(starts[2], starts[1]);
}

TEST(PoissonPacer, MeetsItsRateWithinTheStatisticalBand) {
  for (const double rate : {0.1, 100.0, 1e7}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      constexpr std::size_t operations = 100'000;
      const auto last_ns =
          static_cast<double>(schedule(Pacer(Arrivals::poisson, rate, seed, 0), operations).back());
      const double achieved = static_cast<double>(operations) / (last_ns / 1e9);
      // 4 standard deviations of the mean of exponential gaps.
      EXPECT_NEAR(achieved / rate, 1, 4 / std::sqrt(operations)) << rate << " seed " << seed;
    }
  }
}

TEST(PoissonPacer, ItsGapsAreExponential) {
  const std::vector<std::int64_t> starts = schedule(Pacer(Arrivals::poisson, 1000, 7, 0), 100'000);
  std::size_t longer_than_mean = 0;
  std::size_t longer_than_three = 0;
  double sum_of_squares = 0;
  std::int64_t last_ns = 0;
  for (const std::int64_t due_ns : starts) {
    const double gap = static_cast<double>(due_ns - last_ns) / 1e6;
    ASSERT_GE(gap, 0);
    if (gap > 1) ++longer_than_mean;
    if (gap > 3) ++longer_than_three;
    sum_of_squares += gap * gap;
    last_ns = due_ns;
  }
  const auto count = static_cast<double>(starts.size());
  EXPECT_NEAR(static_cast<double>(longer_than_mean) / count, std::exp(-1), 0.01);
  EXPECT_NEAR(static_cast<double>(longer_than_three) / count, std::exp(-3), 0.004);
  EXPECT_NEAR(sum_of_squares / count, 2, 0.1);
}

TEST(PoissonPacer, SameSeedSameSchedule) {
  const auto of = [](std::uint64_t seed, std::uint64_t stream) {
    return schedule(Pacer(Arrivals::poisson, 1000, seed, stream), 1000);
  };
  EXPECT_EQ(of(1, 0), of(1, 0));
  EXPECT_NE(of(1, 0), of(2, 0));
  EXPECT_NE(of(1, 0), of(1, 1));
}

TEST(PoissonPacer, ThePublishedScheduleOfSeedOne) {
  // Computed by an implementation in another language; within 1 ns, since the last bit of the
  // logarithm is the C library's.
  const std::vector<std::int64_t> starts = schedule(Pacer(Arrivals::poisson, 1000, 1, 0), 3);
  EXPECT_NEAR(static_cast<double>(starts[0]), 645170, 1);
  EXPECT_NEAR(static_cast<double>(starts[1]), 900369, 1);
  EXPECT_NEAR(static_cast<double>(starts[2]), 1306098, 1);
}

TEST(Pacer, RefusesARateThatIsNone) {
  for (const double rate : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    try {
      const Pacer pacer(Arrivals::constant, rate, 0, 0);
      ADD_FAILURE() << rate << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("must be above 0"), std::string::npos);
    }
  }
}

TEST(PacerDeathTest, AClosedLoopHasNoSchedule) {
  Pacer closed;
  EXPECT_DEATH(closed.next_ns(), "internal error");
}

}  // namespace
}  // namespace krepro
