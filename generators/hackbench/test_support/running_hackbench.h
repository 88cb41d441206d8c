// For tests only: krepro-hackbench as its users run it, and the processes that it has at a moment.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/host_files.h"
#include "common/process/child.h"
#include "common/process/process_tree.h"

namespace krepro::hackbench {

/// Runs krepro-hackbench to its end with `arguments`; with `prefix` before it ("prlimit", ...).
[[nodiscard]] CommandOutput run_hackbench(const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& prefix = {});

/// Waits at most ten seconds until none of them exists, not even as a zombie.
[[nodiscard]] bool gone_soon(const std::vector<pid_t>& pids);

/// The suite's side of the control protocol, until the load runs.
class RunningHackbench {
 public:
  /// Configures it and hears `ready`.
  explicit RunningHackbench(const nlohmann::json& options);
  void go();
  void say(const nlohmann::json& command);
  /// The next event of that name; null where the program ends, or after a minute.
  [[nodiscard]] nlohmann::json hear(const std::string& event);
  /// The exit status; -1 where it does not end within a minute.
  [[nodiscard]] int exit_status();

  [[nodiscard]] pid_t load_pid() const { return load_pid_; }
  [[nodiscard]] std::vector<pid_t> workers() const {
    return children_of(load_pid_, HostFiles("/"));
  }
  [[nodiscard]] Child& child() { return child_; }

 private:
  Child child_;
  std::string unread_;
  pid_t load_pid_ = 0;
};

}  // namespace krepro::hackbench
