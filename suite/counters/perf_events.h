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

class TracepointCounters {
 public:
  /// Opens one counter per tracepoint ("sched:sched_waking"). They start to count in the next
  /// program that this process starts (at its exec; processes between this one and the exec are not
  /// counted), and in all that it starts. Throws not_possible with the reason and the remedy
  /// (tracefs not mounted, no permission, no such tracepoint).
  [[nodiscard]] static TracepointCounters open(const std::vector<std::string>& tracepoints,
                                               const HostFiles& host = HostFiles::system());
  TracepointCounters(TracepointCounters&& other) noexcept;
  TracepointCounters& operator=(TracepointCounters&& other) noexcept;
  ~TracepointCounters();

  /// The counts so far, in the order of the names; exact once the command and its children have
  /// ended.
  [[nodiscard]] std::vector<std::uint64_t> read() const;

 private:
  TracepointCounters() = default;
  void close();
  std::vector<int> descriptors_;
};

/// Names of the system calls that have a tracepoint of their own ("read", "futex"), sorted; empty
/// where tracefs cannot be read.
[[nodiscard]] std::vector<std::string> traceable_system_calls(
    const HostFiles& host = HostFiles::system());

/// Why tracepoints cannot be counted here, one line; nothing where they can.
[[nodiscard]] std::optional<std::string> tracepoint_problem(
    const HostFiles& host = HostFiles::system());

}  // namespace krepro
