// Puts run files into the sides of a comparison: what belongs to which label, pooled by boot, and
// which side is the base.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/compare/run_facts.h"

namespace krepro {

/// One column: all runs of one label.
struct Side {
  std::string label;
  std::vector<RunFacts> runs;
};

/// What one argument of the command line led to.
struct InputPath {
  std::filesystem::path path;
  std::vector<RunFacts> runs;
};

/// Reads a run file, a directory of run files (not its subdirectories), or a directory of foreign
/// results. Throws usage_error: absent, empty, nothing in it that can be read.
[[nodiscard]] InputPath read_input(const std::filesystem::path& path);

/// The first side is the base: the one that `base_label` names, else the label of the first path.
/// Runs of one label are one side, wherever they come from; where all paths have one and the same
/// label, each path is a side. Throws usage_error: no such label, only one side, several labels
/// in the first path without `base_label`, one label with two kernels.
[[nodiscard]] std::vector<Side> make_sides(std::vector<InputPath> inputs,
                                           const std::string& base_label);

}  // namespace krepro
