// `krepro show FILE...`: the summary of a run again, from its file; of unfinished and torn files
// too.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/record/run_file.h"

namespace krepro {

struct ShowArguments {
  std::vector<std::filesystem::path> files;
};

/// The lines above the table: label, kernel, machine, profile, notes of the run.
[[nodiscard]] std::string run_heading(const RunFile& file);

/// Prints each file's heading and table; returns the exit status.
int show_command(const ShowArguments& arguments);

}  // namespace krepro
