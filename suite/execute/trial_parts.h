// What the two kinds of trials (a generator under the control protocol, an original program) share.
// Private to suite/execute.
#pragma once

#include <cstdint>
#include <string>

#include "common/process/child.h"
#include "suite/counters/host_counters.h"
#include "suite/execute/trial.h"
#include "suite/execute/watched_process.h"

namespace krepro {

/// Ends a trial early: thrown and caught within run_trial().
struct TrialAborted {
  std::string status;  ///< "failed", "truncated", "skipped"
  std::string reason;
};

/// Where the time of a trial went, by monotonic time stamps; 0: not reached.
struct TrialClock {
  std::int64_t begin_ns = 0;
  std::int64_t spawn_ns = 0;     ///< Spent in starting processes, until their exec.
  std::int64_t counters_ns = 0;  ///< Spent in reading counters.
  std::int64_t ready_ns = 0;
  std::int64_t go_ns = 0;
  std::int64_t sample_ns = 0;
  std::int64_t end_ns = 0;

  /// The `harness` block. `load_ns`: what the sample says it measured.
  [[nodiscard]] nlohmann::json to_json(std::int64_t load_ns) const;
};

/// CPUs and policy of `role` as the plan has them, and LC_ALL=C.
[[nodiscard]] SpawnRequest placed_request(const Benchmark& benchmark, const std::string& role);

/// Reads the host's counters and books the time.
[[nodiscard]] HostCounters timed_counters(TrialClock& clock);

/// One line, without control characters, at most 400 bytes.
[[nodiscard]] std::string one_line(const std::string& text);

void run_control_trial(const TrialRequest& request, const Interruption& interruption,
                       RecordedTrial& record);
void run_original_trial(const TrialRequest& request, const Interruption& interruption,
                        RecordedTrial& record);

}  // namespace krepro
