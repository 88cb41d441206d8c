// `krepro show FILE...`: the summary of a run again, from its file; of unfinished and torn files
// too. With --signature what moved among the kernel's counters.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/record/run_file.h"

namespace krepro {

struct ShowArguments {
  std::vector<std::filesystem::path> files;
  bool signature = false;  ///< --signature: the counters instead of the table.
};

/// The lines above the table: label, kernel, machine, profile, notes of the run.
[[nodiscard]] std::string run_heading(const RunFile& file);

/// The trials that a tool watched, with a heading; empty where there are none.
[[nodiscard]] std::string observations_text(const RunFile& file);

/// Prints each file's heading and table; returns the exit status.
int show_command(const ShowArguments& arguments);

}  // namespace krepro
