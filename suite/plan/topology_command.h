// `krepro topology [PROFILE]`: the machine drawn in text, and where it differs from what a profile
// expects.
#pragma once

#include <filesystem>
#include <string>

namespace krepro {

struct TopologyArguments {
  std::string profile;             ///< Path or name; empty: nothing to compare with.
  std::filesystem::path topology;  ///< Empty: this machine.
  bool json = false;
};

/// What it prints. Throws usage_error.
[[nodiscard]] std::string topology_text(const TopologyArguments& arguments);

/// Prints it; returns the exit status (0 also where the machine differs).
int topology_command(const TopologyArguments& arguments);

}  // namespace krepro
