// What the two kinds of trials (a generator under the control protocol, an original program) share.
// Private to suite/execute.
#pragma once

#include <cstdint>
#include <string>

#include "common/process/child.h"
#include "suite/counters/counter_reader.h"
#include "suite/counters/task_counters.h"
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

/// CPUs, policy and control group of `role` as the plan and its settings have them, and LC_ALL=C.
[[nodiscard]] SpawnRequest placed_request(const TrialRequest& trial, const std::string& role);

/// The counters around one trial. What reading them costs is booked, and lies outside the time that
/// the load measures.
class TrialCounters {
 public:
  TrialCounters(const CounterReader& reader, TrialClock& clock) : reader_(reader), clock_(clock) {}

  /// Just before `go`. `server`: its process; 0: there is none.
  void read_before(pid_t server);
  /// Just after the end, while the server still runs.
  void read_after();
  /// The `counters` of the record; `sample` tells of the load's tasks.
  [[nodiscard]] nlohmann::json deltas(const nlohmann::json& sample);

 private:
  [[nodiscard]] std::map<int, TaskCounters> read_server() const;
  [[nodiscard]] nlohmann::json task_deltas(const nlohmann::json& sample,
                                           nlohmann::json& absent) const;
  const CounterReader& reader_;
  TrialClock& clock_;
  pid_t server_ = 0;
  CounterReading before_;
  CounterReading after_;
  std::map<int, TaskCounters> server_before_;
  std::map<int, TaskCounters> server_after_;
};

/// One line, without control characters, at most 400 bytes.
[[nodiscard]] std::string one_line(const std::string& text);

void run_control_trial(const TrialRequest& request, const Interruption& interruption,
                       RecordedTrial& record);
void run_original_trial(const TrialRequest& request, const Interruption& interruption,
                        RecordedTrial& record);

}  // namespace krepro
