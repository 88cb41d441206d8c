// Child processes that leave nothing behind. Each child runs below a keeper of its own: a small
// process forked by the caller, subreaper of everything the child starts. The keeper holds the read
// end of a pipe whose write end lives in the caller only: when that pipe ends (close_and_kill(),
// exit, crash, SIGKILL) it kills the child's process group and every descendant, reaps them,
// removes the paths it was given, and ends. Parent-death signals are not used: they are lost on
// fork and on changing user. The caller must be single-threaded when it spawns (checked).
// Starting one costs the caller one fork (its page tables are copied once: small callers start
// children faster than those with gigabytes) and the program's own exec.
// A process that the caller forks without exec holds the life pipes of the Children that are alive
// then: it must end with the caller, or close life_fd().
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/affinity/memory_policy.h"
#include "common/affinity/scheduling.h"

namespace krepro {

struct SpawnRequest {
  std::vector<std::string>
      argv;  ///< argv[0] is searched in PATH unless it has a slash (then from the caller's folder).
  std::vector<std::string>
      environment;  ///< "NAME=value" added to the caller's, in place of the same NAME.
  std::filesystem::path working_directory;  ///< Empty: the caller's.
  std::optional<CpuSet> cpus;  ///< In force before the program's first instruction, as all below.
  std::optional<Scheduling> scheduling;
  std::optional<MemoryPolicy> memory;
  std::filesystem::path
      cgroup;  ///< Folder of a control group, version 1 or 2, to be in. Empty: the caller's.
  std::vector<std::filesystem::path>
      remove_at_end;         ///< Removed (recursively) by the keeper when all is over.
  bool pipe_stdin = true;    ///< false: /dev/null.
  bool pipe_stdout = true;   ///< false: /dev/null.
  bool pipe_stderr = true;   ///< false: the caller's.
  std::vector<int> inherit;  ///< Further descriptors that the child keeps, with the same numbers.
};

/// How a child ended. `usage` is wait4's: the child and all it had waited for.
struct ChildEnd {
  int wait_status = 0;
  rusage usage{};
  std::int64_t elapsed_ns =
      0;  ///< From just before exec to its end as the keeper saw it, monotonic.
  int leftover_processes =
      0;  ///< Descendants that were still alive when the child ended, and were killed.

  [[nodiscard]] bool exited() const;
  [[nodiscard]] int exit_code() const;         ///< Only when exited().
  [[nodiscard]] int signal() const;            ///< Only when not exited().
  [[nodiscard]] std::string describe() const;  ///< "exit status 3", "killed by signal 9 (Killed)"
};

class Child {
 public:
  /// Starts it. Throws usage_error / not_possible where the program cannot be executed or a setting
  /// not applied; nothing runs then.
  [[nodiscard]] static Child spawn(const SpawnRequest& request);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  ///< Kills and reaps what still runs, and waits for the keeper.

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// When the program was about to be executed, on the monotonic clock.
  [[nodiscard]] std::int64_t exec_at_ns() const { return exec_at_ns_; }
  [[nodiscard]] int stdin_fd() const {
    return stdin_;
  }  ///< Write end; -1 if not piped or closed. Non-blocking is up to the caller.
  [[nodiscard]] int stdout_fd() const { return stdout_; }  ///< Read end; -1 if not piped.
  [[nodiscard]] int stderr_fd() const { return stderr_; }
  /// Becomes readable when the child has ended and all its descendants are gone; wait() then does
  /// not block.
  [[nodiscard]] int end_fd() const { return end_; }
  [[nodiscard]] int life_fd() const { return life_; }
  void close_stdin();
  /// Sends a signal to the child's process group.
  void signal(int signal_number) const;
  /// Waits for the end, at most `timeout_ns` (-1: for ever). Nothing where the time ran out. Throws
  /// where the keeper itself was killed.
  std::optional<ChildEnd> wait(std::int64_t timeout_ns = -1);
  /// SIGTERM to the group, after `grace_ns` SIGKILL to all descendants; returns how it ended.
  ChildEnd terminate(std::int64_t grace_ns);
  /// Closes the life pipe: the keeper kills everything at once.
  ChildEnd close_and_kill();

 private:
  Child() = default;
  pid_t pid_ = -1;
  pid_t keeper_ = -1;
  int stdin_ = -1;
  int stdout_ = -1;
  int stderr_ = -1;
  int end_ = -1;
  int life_ = -1;
  std::int64_t exec_at_ns_ = 0;
  std::string name_;  ///< argv[0], for messages.
  std::optional<ChildEnd> result_;
};

struct CommandOutput {
  ChildEnd end;
  std::string out;
  std::string err;
  bool timed_out = false;
  bool truncated = false;  ///< More was written than `max_bytes` of either stream, and dropped.
};
/// Runs a program to its end with nothing on its standard input, and returns what it wrote (the
/// first `max_bytes` of each stream), for short helper commands. What runs longer than `timeout_ns`
/// (-1: no limit) is terminated. An exit status other than 0 is not an error here.
[[nodiscard]] CommandOutput run_command(const SpawnRequest& request, std::int64_t timeout_ns,
                                        std::size_t max_bytes = 16U << 20U);

}  // namespace krepro
