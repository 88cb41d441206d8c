// Only what holds on a machine of any speed: never early, absolute, woken by signals.
#include "common/timing/clock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

namespace krepro {
namespace {

constexpr std::int64_t millisecond = 1'000'000;

TEST(Clock, NeverGoesBack) {
  std::int64_t last_ns = now_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t current_ns = now_ns();
    ASSERT_GE(current_ns, last_ns);
    last_ns = current_ns;
  }
}

TEST(SleepUntil, IsNeverEarly) {
  for (int i = 1; i <= 5; ++i) {
    const std::int64_t deadline_ns = now_ns() + i * 300'000;
    EXPECT_TRUE(sleep_until_ns(deadline_ns));
    EXPECT_GE(now_ns(), deadline_ns);
  }
}

TEST(SleepUntil, APastDeadlineIsReached) {
  EXPECT_TRUE(sleep_until_ns(now_ns() - millisecond));
  EXPECT_TRUE(sleep_until_ns(0));
  EXPECT_TRUE(sleep_until_ns(-1));
}

TEST(SleepUntil, ASignalHandlerEndsItEarly) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  // It repeats, because the first may arrive before the sleep has begun.
  const itimerval every_10_ms{{0, 10'000}, {0, 10'000}};
  const itimerval off{};
  const std::int64_t deadline_ns = now_ns() + 60'000 * millisecond;
  ASSERT_EQ(setitimer(ITIMER_REAL, &every_10_ms, nullptr), 0);
  const bool reached = sleep_until_ns(deadline_ns);
  setitimer(ITIMER_REAL, &off, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_FALSE(reached);
  EXPECT_LT(now_ns(), deadline_ns);
}

TEST(ClockCost, IsMoreThanNothing) {
  const double cost_ns = clock_cost_ns();
  EXPECT_GT(cost_ns, 0);
  EXPECT_LT(cost_ns, 100'000);  // The slowest clock sources take some microseconds.
}

}  // namespace
}  // namespace krepro
