// Scheduling attributes of a thread: every class that sched_setattr(2) knows, nice, custom slice,
// utilisation clamps, core-scheduling cookies. Applied per thread (a policy on the parent alone
// once hid an effect of 6.96 %), then read back.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace krepro {

enum class SchedulingClass : std::uint8_t { other, batch, idle, fifo, rr, deadline, ext };

struct Scheduling {
  SchedulingClass policy = SchedulingClass::other;
  int nice = 0;      ///< -20 to 19; OTHER, BATCH and EXT.
  int priority = 0;  ///< 1 to 99; FIFO and RR.
  /// Custom slice of OTHER and BATCH, 100 us to 100 ms (kernels from 6.12); 0: the kernel's.
  std::int64_t slice_ns = 0;
  std::int64_t deadline_runtime_ns = 0;  ///< DEADLINE: runtime <= deadline <= period.
  std::int64_t deadline_deadline_ns = 0;
  std::int64_t deadline_period_ns = 0;
  std::optional<std::uint32_t> uclamp_min = std::nullopt;  ///< 0 to 1024.
  std::optional<std::uint32_t> uclamp_max = std::nullopt;
  /// Give the thread a core-scheduling cookie of its own (prctl PR_SCHED_CORE). One that it has
  /// already is not taken away by `false`: the kernel has no call for that.
  bool core_cookie = false;

  bool operator==(const Scheduling&) const = default;
};

/// "other", "batch", "idle", "fifo:10", "rr:10", "deadline:2ms/10ms/10ms", "ext", with optional
/// parts after commas: "other,nice:-5,slice:3ms,uclamp:128-512,cookie". One bound of uclamp may be
/// left out ("uclamp:128-"), and deadline's last part is the period, by default the deadline. The
/// kernel's spelling is read too ("SCHED_FIFO:10"). Throws usage_error.
[[nodiscard]] Scheduling parse_scheduling(std::string_view text);
/// The same format; parse_scheduling() of it gives the same back.
[[nodiscard]] std::string to_string(const Scheduling& scheduling);
/// Name of the class as the kernel spells it: "SCHED_BATCH".
[[nodiscard]] const char* kernel_name(SchedulingClass policy);

/// Applies it to thread `tid` (0: the caller) and reads it back. Throws not_possible with the
/// remedy (CAP_SYS_NICE, RLIMIT_RTPRIO, kernel too old or without the class) or where what was read
/// back differs from what was asked.
void apply_scheduling(const Scheduling& scheduling, pid_t tid = 0);
/// What the kernel says of thread `tid` (0: the caller). Defaults are read as not set, so that the
/// answer equals what was asked: a slice that is the kernel's own (pid 1's) is 0, clamps that do
/// nothing are absent. The core cookie is reported as present or not.
[[nodiscard]] Scheduling read_scheduling(pid_t tid = 0);

}  // namespace krepro
