// What a job leaves for the parent, in memory that both see.
#pragma once

#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "common/timing/histogram.h"

namespace krepro::randwrite {

/// The call that failed.
enum class Call : std::uint8_t { none, read, write, fsync, fdatasync, open, submit };

/// Why a job ended before its end.
struct JobFailure {
  Call call = Call::none;
  int error_number = 0;  ///< 0: fewer bytes than asked for, and no error.
  std::uint64_t offset = 0;
};

/// CPU time and context switches of the job's thread.
struct ThreadUsage {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;

  [[nodiscard]] static ThreadUsage now();
  ThreadUsage& operator-=(const ThreadUsage& other);
  ThreadUsage& operator+=(const ThreadUsage& other);
};

struct JobResult {
  static constexpr std::size_t series_seconds = 7200;

  Histogram read;
  Histogram write;
  Histogram sync;
  Histogram service;  ///< With a rate only: from the operation's issue, not from its planned start.
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t syncs = 0;
  std::uint64_t short_transfers = 0;
  std::uint64_t retries =
      0;                     ///< Requests issued again: EAGAIN, cancelled, the rest of a short one.
  std::uint64_t passes = 0;  ///< Begun after the first.
  std::int64_t start_ns = 0;  ///< Of the measured part, monotonic.
  std::int64_t end_ns = 0;
  ThreadUsage usage;
  JobFailure failure;
  bool completion_ring_overflowed = false;
  /// Of all operations so far, brought up to date once a second.
  std::atomic<std::uint64_t> progress{0};
  std::array<std::uint64_t, series_seconds> series{};

  [[nodiscard]] std::uint64_t operations() const { return reads + writes; }
  [[nodiscard]] std::int64_t duration_ns() const { return end_ns - start_ns; }
  /// Forgets what was measured so far (the end of the ramp).
  void clear_figures();
};

}  // namespace krepro::randwrite
