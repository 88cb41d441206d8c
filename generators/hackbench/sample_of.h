// From what hackbench-load reported to the sample, and from the sample to the lines for people.
// Pure: no process, no clock.
#pragma once

#include <string>
#include <vector>

#include "common/generator/sample.h"
#include "generators/hackbench/load_process.h"
#include "generators/hackbench/setup.h"

namespace krepro::hackbench {

/// Policy and CPUs of one worker, as the kernel had them while it was parked.
struct ReadBack {
  std::string policy;
  std::string cpus;
  std::string memory = {};  ///< Memory policy; empty: not told.
};

/// A sample of a load that ran to its end. `read_back` is of report.workers, in their order.
[[nodiscard]] Sample complete_sample(const LoadSetup& setup, const LoadReport& report,
                                     const std::vector<ReadBack>& read_back, bool list_workers);

/// Workers by role, policy and CPUs, with the spread of what wait4 counted for each (processes).
[[nodiscard]] std::vector<ThreadGroup> thread_groups(const LoadReport& report,
                                                     const std::vector<ReadBack>& read_back);

/// One line: which worker failed, and how.
[[nodiscard]] std::string describe(const WorkerFailure& failure, const LoadReport& report);

/// The original's three lines, then ours.
[[nodiscard]] std::string result_text(const LoadSetup& setup, const Sample& sample);

}  // namespace krepro::hackbench
