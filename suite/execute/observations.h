// `--observe`: after the trials of a run, one extra trial per row under the eyes of a tool. They
// become lines of a type of their own (`observation`), so that no reader can take them for samples:
// listed, never in a mean.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "suite/execute/observer.h"
#include "suite/execute/trial.h"

namespace krepro {

/// Where the outputs of a run's observers go: FILE without .jsonl, and ".observed".
[[nodiscard]] std::filesystem::path observed_directory(const std::filesystem::path& run_file);

/// A new directory for one observation below `parent`, named after the row; made with its parents.
/// Throws usage_error where it cannot be made.
[[nodiscard]] std::filesystem::path make_observation_directory(const std::filesystem::path& parent,
                                                               const std::string& row);

/// Runs the trial of `request` with `command` (see fill_observer_command()) watching it, and writes
/// window.json into `directory`: `go` and sample, by the clock that `perf record -k
/// CLOCK_MONOTONIC` stamps with. Returns the `observation` line, without boot and start.
[[nodiscard]] nlohmann::json observe_trial(TrialRequest request, const std::string& command,
                                           const std::filesystem::path& directory,
                                           std::int64_t lead_ns, const Interruption& interruption);

}  // namespace krepro
