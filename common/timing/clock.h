// The one clock of every measurement: CLOCK_MONOTONIC, nanoseconds. No wall clock is ever used to
// measure.
#pragma once

#include <time.h>

#include <cstdint>

namespace krepro {

/// Nanoseconds of CLOCK_MONOTONIC; about 20 ns a call through the vDSO.
[[nodiscard]] inline std::int64_t now_ns() {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

/// Sleeps until the monotonic time `deadline_ns` (absolute, so that no drift accumulates). Returns
/// early only when a signal handler ran. True when the deadline was reached; at once for a past
/// one.
bool sleep_until_ns(std::int64_t deadline_ns);

/// Measured cost of one now_ns() in ns (median of short batches, some 200 us in total); recorded in
/// every sample.
[[nodiscard]] double clock_cost_ns();

}  // namespace krepro
