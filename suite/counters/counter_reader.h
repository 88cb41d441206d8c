// Everything that is counted around a trial: read just before `go` and just after the end, never in
// between, and turned into deltas for the run file. What cannot be had on this machine is null,
// with the reason. docs/counters.md explains each counter. What the figures mean for a result:
// counter_table.h.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/host_files.h"
#include "suite/counters/host_counters.h"
#include "suite/counters/host_perf.h"
#include "suite/counters/schedstat.h"
#include "suite/counters/system_counters.h"

namespace krepro {

/// Absolute values at one moment, as the kernel gave them.
struct CounterReading {
  std::int64_t at_ns = 0;  ///< When the counters that move fastest were read; monotonic.
  HostCounters host;
  std::string schedstat;          ///< Text of /proc/schedstat; parsed after the trial.
  std::string schedstat_problem;  ///< Why there is none; else empty.
  CounterGroup vmstat;
  CounterGroup softirqs;
  CounterGroup interrupts;
  CounterGroup network;
  CounterGroup idle;
  std::map<std::string, CounterGroup> disks;
  PerfReading software;
  PerfReading hardware;
};

class CounterReader {
 public:
  /// Finds what does not change during a run (caches, idle states, disks) and opens the perf
  /// counters, which cost nothing until they are read. Perf counters are of this machine alone:
  /// with another root there are none.
  explicit CounterReader(const HostFiles& host = HostFiles::system());

  /// The slow files first, what moves fastest last.
  [[nodiscard]] CounterReading read_before() const;
  /// The other way round.
  [[nodiscard]] CounterReading read_after() const;
  /// The `counters` of a `sample` line (docs/run-file.md), without zeros.
  [[nodiscard]] nlohmann::json deltas(const CounterReading& before,
                                      const CounterReading& after) const;
  /// The text of /proc/schedstat where its layout is not known, to be kept once; else empty.
  [[nodiscard]] std::string unknown_schedstat() const;

 private:
  void read_slow(CounterReading& reading) const;
  void read_fast(CounterReading& reading) const;
  HostFiles host_;
  std::map<int, std::string> caches_;
  std::vector<IdleState> idle_states_;
  std::vector<std::string> disks_;
  HostPerf perf_;
  std::string perf_problem_;
};

}  // namespace krepro
