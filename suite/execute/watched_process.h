// A child process under the eyes of the suite's one loop: its output in bounded buffers, its end
// noticed, its input written without blocking. What the lines mean is control_trial.cpp's business.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "common/process/child.h"
#include "suite/execute/interruption.h"
#include "suite/execute/output_reader.h"

namespace krepro {

class WatchedProcess {
 public:
  /// Throws as Child::spawn does.
  WatchedProcess(std::string name, const SpawnRequest& request);

  /// For messages: "null (load)".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Writes one line of JSON to its standard input; false where it does not take it.
  bool send(const nlohmann::json& line);
  [[nodiscard]] LineReader& output() { return output_; }
  [[nodiscard]] const TailReader& errors() const { return errors_; }
  [[nodiscard]] Child& child() { return child_; }
  /// It ended, nothing of it is left, and all it printed was read.
  [[nodiscard]] bool ended() const { return ended_ && output_.ended() && errors_.ended(); }
  /// Closes its standard input, waits for its end; after `grace_ns` it is killed. Its output is
  /// read on meanwhile, so that a full pipe does not hold it.
  ChildEnd finish(std::int64_t grace_ns);

 private:
  friend class ProcessPoll;
  std::string name_;
  Child child_;
  LineReader output_;
  TailReader errors_;
  bool ended_ = false;
};

enum class Wake : std::uint8_t { activity, timeout, interrupted };

/// Sleeps until one of the processes printed or ended, the time `deadline_ns` (monotonic) came, or
/// a signal asked the run to end (`interruption` may be nullptr), and reads what is there.
Wake wait_for_activity(std::span<WatchedProcess* const> processes, const Interruption* interruption,
                       std::int64_t deadline_ns);

/// The processes of group `group` by name, number and state, for the reason of a trial that hung:
/// "krepro-null 4711 S hrtimer_nanosleep"; at most four of them. "" where none is found.
[[nodiscard]] std::string describe_process_group(pid_t group);

}  // namespace krepro
