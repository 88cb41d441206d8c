// When the next operation is to start. Closed: at once (the caller's end of one operation is the
// start of the next: one clock reading per operation). Constant rate and Poisson: a schedule fixed
// in advance by rate and seed, which does not wait for the system: an operation that starts late
// keeps its intended start, and latency counts from there.
#pragma once

#include <cstdint>

#include "common/base/random.h"

namespace krepro {

enum class Arrivals : std::uint8_t { closed, constant, poisson };

class Pacer {
 public:
  /// A closed loop.
  Pacer() : arrivals_(Arrivals::closed), random_(0) {}
  /// `rate` operations a second (> 0, else usage_error; below 1 is fine) for this worker. `phase`
  /// in [0,1), a share of the interval, shifts a constant schedule, so that workers that share a
  /// rate do not fire together. Same arrivals, rate, seed and stream: the same schedule.
  Pacer(Arrivals arrivals, double rate, std::uint64_t seed, std::uint64_t stream, double phase = 0);

  /// Sets time zero of the schedule.
  void start(std::int64_t start_ns) { start_ns_ = start_ns; }
  [[nodiscard]] bool closed() const { return arrivals_ == Arrivals::closed; }
  /// The intended start of the next operation, as monotonic ns, and moves on to the one after it.
  /// Never goes back. Constant: operation n (from 0) is due at start + (phase + n) * interval, each
  /// computed anew, so that no rounding adds up. Poisson: the first is due one gap after the start.
  /// Not for closed loops.
  std::int64_t next_ns();

 private:
  Arrivals arrivals_;
  double interval_ns_ = 0;
  double phase_ = 0;
  std::uint64_t issued_ = 0;
  double elapsed_ns_ =
      0;  ///< Poisson: sum of the gaps so far (below 2^53 ns = 104 days exact to 1 ns).
  std::int64_t start_ns_ = 0;
  RandomStream random_;
};

}  // namespace krepro
