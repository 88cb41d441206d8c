// Reading of a run file without keeping it: for files of thousands of trials. For the whole file as
// it is see run_file.h.
#pragma once

#include <filesystem>
#include <functional>

#include "suite/record/run_file.h"

namespace krepro {

/// Sees each trial once it is read, the lines before it read already, and may throw away what need
/// not be kept: a night of samples does not fit into memory as JSON.
using TrialReducer = std::function<void(const RunFile& so_far, RecordedTrial& trial)>;

/// As read_run_file(), line by line.
[[nodiscard]] RunFile read_run_file(const std::filesystem::path& path, const TrialReducer& reduce);

}  // namespace krepro
