// Counts of kernel tracepoints over everything that a command does: the command and all its
// children, from its exec on, by perf_event_open(2) with inheritance, as `perf stat -e` counts
// them. For separate runs that nobody times: every task of the load then carries these events,
// which costs it a few per cent. No sampling, no hardware counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// What one counter counts: a tracepoint ("sched:sched_waking"), and of its events those that the
/// kernel's filter expression lets pass ("id == 0"); empty: all.
struct Tracepoint {
  std::string name;
  std::string filter;
};

class TracepointCounters {
 public:
  /// Opens one counter each. They start to count in the next program that this process starts (at
  /// its exec; processes between this one and the exec are not counted), and in all that it starts.
  /// Throws not_possible with the reason and the remedy (tracefs not mounted, no permission, no
  /// such tracepoint).
  [[nodiscard]] static TracepointCounters open(const std::vector<Tracepoint>& tracepoints,
                                               const HostFiles& host = HostFiles::system());
  TracepointCounters(TracepointCounters&& other) noexcept;
  TracepointCounters& operator=(TracepointCounters&& other) noexcept;
  ~TracepointCounters();

  /// The counts so far, in the order of opening; exact once the command and its children have
  /// ended.
  [[nodiscard]] std::vector<std::uint64_t> read() const;

 private:
  TracepointCounters() = default;
  void close();
  std::vector<int> descriptors_;
};

/// Why tracepoints cannot be counted here, one line; nothing where they can.
[[nodiscard]] std::optional<std::string> tracepoint_problem(
    const HostFiles& host = HostFiles::system());

/// A system call by the kernel's number.
struct SystemCallName {
  long number = 0;
  const char* name = "";
};
/// All that this build's C library knows, by name ("read", "newfstatat"); a newer kernel may have
/// more.
[[nodiscard]] const std::vector<SystemCallName>& system_call_names();
/// Counts one system call, whoever makes it. One tracepoint with a filter serves all calls, and
/// every such counter costs time at every call.
[[nodiscard]] Tracepoint system_call_tracepoint(long number);
/// The same by the call's own tracepoint (syscalls:sys_enter_read), which costs other calls
/// nothing, but the kernel 30 ms to give back. As above where the kernel has none of that name.
[[nodiscard]] Tracepoint light_system_call_tracepoint(const SystemCallName& call,
                                                      const HostFiles& host = HostFiles::system());

}  // namespace krepro
