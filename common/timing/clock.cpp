// Sleeping on the clock, and what a reading of it costs.
#include "common/timing/clock.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/check.h"

namespace krepro {

bool sleep_until_ns(std::int64_t deadline_ns) {
  if (deadline_ns <= 0) return true;  // Before the boot; the kernel refuses negative times.
  timespec deadline{};
  deadline.tv_sec = deadline_ns / 1'000'000'000;
  deadline.tv_nsec = deadline_ns % 1'000'000'000;
  const int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
  KREPRO_CHECK(error == 0 || error == EINTR);
  return error == 0;
}

double clock_cost_ns() {
  // Batches, because one reading is near the clock's resolution; their median, because some of them
  // are hit by an interrupt.
  constexpr int readings = 64;
  std::array<std::int64_t, 151> batches_ns{};
  for (std::int64_t& batch_ns : batches_ns) {
    const std::int64_t start_ns = now_ns();
    std::int64_t end_ns = start_ns;
    for (int i = 0; i < readings; ++i) end_ns = now_ns();
    batch_ns = end_ns - start_ns;
  }
  const auto middle = batches_ns.begin() + batches_ns.size() / 2;
  std::nth_element(batches_ns.begin(), middle, batches_ns.end());
  return static_cast<double>(*middle) / readings;
}

}  // namespace krepro
