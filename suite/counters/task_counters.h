// Run time, run-queue wait and context switches of the tasks of a trial: of the load as its sample
// tells them (its tasks may have ended by then), of a server as /proc/PID tells them before and
// after.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/host_files.h"

namespace krepro {

struct TaskCounters {
  std::uint64_t run_ns = 0;
  std::uint64_t wait_ns = 0;  ///< Runnable and not running.
  std::uint64_t timeslices = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

/// All threads of process `pid` and of its living descendants, by thread id; empty where there is
/// no such process.
[[nodiscard]] std::map<int, TaskCounters> read_task_tree(int pid, const HostFiles& host);

/// {"tasks", "run_ns", ...}: of those that live now, what was added since; one that began in
/// between counts whole, one that ended is lost. Null where none lives now.
[[nodiscard]] nlohmann::json task_delta(const std::map<int, TaskCounters>& before,
                                        const std::map<int, TaskCounters>& after);

/// The same from the `threads` of a generator's sample; null where it tells of none.
[[nodiscard]] nlohmann::json task_sums(const nlohmann::json& sample);

}  // namespace krepro
