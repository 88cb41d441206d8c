// hackbench-load as krepro-hackbench sees it: started, read until it is ready, told to go, read to
// its end. What its lines say is parsed here; what they mean for the sample is hackbench.cpp's.
//
// Its lines, in order:
//   hackbench-load 1                           first of all, before any worker exists
//   channels N capacity_min B capacity_max B   read back from all pipes (sockets: send buffers)
//   stack BYTES                                of each thread
//   receivers PID... / senders PID...          one line each for every group
//   ready                                      all workers wait; a byte on stdin starts them,
//                                              end of file on stdin ends them
//   elapsed_ns N                               from the start signal until all were reaped
//   reaped PID VOLUNTARY INVOLUNTARY USER_US SYSTEM_US    for each process, from wait4(2)
//   process VOLUNTARY INVOLUNTARY USER_US SYSTEM_US       for all threads together
//   end
// and where it fails, at once and as the last line: "error ERRNO WHAT", or "failed PID STATUS" of
// the worker that failed (STATUS as wait4(2) has it).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/process/child.h"

namespace krepro::hackbench {

struct WorkerProcess {
  pid_t id = 0;  ///< Process or thread id.
  bool sender = false;
  std::uint64_t group = 0;  ///< From 0.
};

/// What wait4(2), or getrusage(2) for all threads, counted.
struct Usage {
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
};

struct WorkerFailure {
  pid_t id = 0;
  int wait_status = 0;
};

struct LoadFailure {
  int error_number = 0;
  std::string what;
};

/// All that the lines said so far.
struct LoadReport {
  std::int64_t capacity_min_bytes = -1;
  std::int64_t capacity_max_bytes = -1;
  std::int64_t stack_bytes = 0;
  std::vector<WorkerProcess> workers;
  bool ready = false;
  std::int64_t elapsed_ns = 0;
  std::vector<std::pair<pid_t, Usage>> reaped;
  std::optional<Usage> process;
  bool ended = false;
  std::optional<WorkerFailure> worker_failure;
  std::optional<LoadFailure> failure;

  /// Takes in one line, without its end. Throws an Error (failed) for one that is not understood.
  void add_line(std::string_view line);
};

class LoadProcess {
 public:
  /// Starts `program` with `arguments`. Throws usage_error where it is not there.
  LoadProcess(const std::string& program, const std::vector<std::string>& arguments);

  /// Reads until the line "ready"; calls `check` at least every 50 ms, which may throw. Throws
  /// where the load ended instead; not_possible where a limit stood in its way.
  void wait_until_ready(const std::function<void()>& check);
  void go();
  /// SIGTERM to the load and all its workers.
  void stop();
  /// Readable when the load has reported, or has ended.
  [[nodiscard]] int done_fd() const { return child_.stdout_fd(); }
  /// Reads all lines that are left, and waits until load and workers are gone.
  ChildEnd read_to_end();

  [[nodiscard]] const LoadReport& report() const { return report_; }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }

 private:
  bool read_some(int timeout_ms);
  Child child_;
  std::string unread_;
  LoadReport report_;
};

/// The error of a set-up that failed in the load: not_possible with a remedy where a limit was hit,
/// otherwise usage (set-up failed).
[[nodiscard]] Error set_up_error(const LoadFailure& failure);

}  // namespace krepro::hackbench
