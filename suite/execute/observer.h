// A tool that watches one trial (perf, trace-cmd, bpftrace, any command): started before `go`, told
// to end by SIGINT at the sample. Trials that are watched are extra ones and enter no mean; that is
// observations.h's business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/process/child.h"

namespace krepro {

/// When the watched time began and ended; CLOCK_MONOTONIC.
struct ObserverTimes {
  std::int64_t started_ns = 0;
  std::int64_t stopped_ns = 0;  ///< SIGINT sent.
  std::int64_t ended_ns = 0;
};

class Observer {
 public:
  /// `command`: for a shell, with {dir} already filled in. What it prints goes into
  /// DIRECTORY/observer.log. `lead_ns`: how long it gets to attach before `go`.
  Observer(std::string command, std::filesystem::path directory, std::int64_t lead_ns);

  /// Starts it and waits the lead. Throws an Error where it cannot be started or ends at once.
  void start();
  /// SIGINT, which these tools take for "write and end"; returns at once.
  void stop();
  /// Waits for its end, at most `grace_ns`, then kills it. What was wrong with it, one line; empty:
  /// it ended well.
  [[nodiscard]] std::string finish(std::int64_t grace_ns);

  [[nodiscard]] const ObserverTimes& life() const { return times_; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  [[nodiscard]] std::string last_line() const;
  std::string command_;
  std::filesystem::path directory_;
  std::int64_t lead_ns_;
  ObserverTimes times_;
  std::optional<Child> child_;
};

/// `command` with {dir} filled in, quoted for a shell. Throws usage_error for an empty command.
[[nodiscard]] std::string fill_observer_command(const std::string& command,
                                                const std::filesystem::path& directory);

}  // namespace krepro
