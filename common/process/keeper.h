// The keeper: the process between a Child's caller and its program, which outlives the caller by
// the time it takes to kill, reap and remove what the caller left. Internal to common/process;
// child.h is for everybody else.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/process/child.h"

namespace krepro::keeper {

/// Everything that the keeper and the program's process need, made before the fork.
struct Job {
  const SpawnRequest* request = nullptr;
  const char* path = nullptr;  ///< The executable file, absolute.
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int streams[3] = {-1, -1, -1};  ///< What becomes stdin, stdout, stderr; -1: the caller's.
  int life_read = -1;             ///< Ends when the caller does.
  int end_write = -1;             ///< Receives one EndReport.
  int start_write = -1;           ///< Receives StartReports; ends with the program's exec.
  std::vector<std::filesystem::path> remove_at_end;  ///< Absolute.
};

/// Written just before exec, and again with `failed` where something did not work. Smaller than
/// PIPE_BUF, so that each is written in one piece.
struct StartReport {
  std::int64_t exec_at_ns = 0;
  pid_t pid = -1;
  bool failed = false;
  int exit_code = 0;  ///< ExitCode of the error.
  char message[1536] = {};
  char remedy[1024] = {};
};

struct EndReport {
  rusage usage = {};
  std::int64_t ended_at_ns = 0;
  int wait_status = 0;
  int leftover_processes = 0;
};

/// What a freshly forked process does instead of returning. All signals must be blocked.
[[noreturn]] void run(const Job& job);

}  // namespace krepro::keeper
