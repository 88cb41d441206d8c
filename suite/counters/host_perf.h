// Software and hardware counters of all CPUs by perf_event_open(2): migrations; cycles,
// instructions, cache misses. They count whatever runs, free-running and bound to CPUs, not to
// tasks: a counter that follows tasks would cost every context switch of the load something.
// Tracepoints of one command: perf_events.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// Sums over the CPUs at one moment, by name. Hardware counters that had to share the unit with
/// others are scaled up to the whole time.
struct PerfReading {
  std::map<std::string, double> values;
  double running_share = 1;  ///< Least share of the time that a group was really counting.
};

/// Counters that are opened together on every CPU, so that they count the same time.
class HostPerf {
 public:
  /// Opens what can be opened: nothing throws. `host`: for the reason where it is refused.
  [[nodiscard]] static HostPerf open(const std::vector<int>& cpus,
                                     const HostFiles& host = HostFiles::system());
  HostPerf() = default;
  HostPerf(HostPerf&& other) noexcept;
  HostPerf& operator=(HostPerf&& other) noexcept;
  ~HostPerf();

  /// One reading per CPU and group of those that are open.
  [[nodiscard]] PerfReading read_software() const { return read(software_); }
  [[nodiscard]] PerfReading read_hardware() const { return read(hardware_); }
  /// Why there is none: "kernel.perf_event_paranoid is 2 ...", "no such counter on this machine
  /// ..."; empty where there is.
  [[nodiscard]] const std::string& software_problem() const { return software_.problem; }
  [[nodiscard]] const std::string& hardware_problem() const { return hardware_.problem; }

 private:
  struct Group {
    std::vector<std::string> names;
    std::vector<int> leaders;      ///< One per CPU; reading it reads its members.
    std::vector<int> descriptors;  ///< All, leaders included.
    std::string problem;
  };
  [[nodiscard]] static PerfReading read(const Group& group);
  static void close(Group& group);
  void take(HostPerf& other);
  Group software_;
  Group hardware_;
};

/// What the kernel's refusal means, one line.
[[nodiscard]] std::string perf_refusal(int error_number, const HostFiles& host);

}  // namespace krepro
