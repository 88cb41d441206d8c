// `krepro place SPEC`: the CPUs that a placement names here, or on the machine of a file; in the
// order of a pinning where one is asked for.
#pragma once

#include <filesystem>
#include <string>

namespace krepro {

struct PlaceArguments {
  std::string placement;
  std::string other;               ///< The other side's placement, for `rest`; empty: none.
  std::string pinning;             ///< Empty: no order.
  std::string memory;              ///< Empty: none.
  std::filesystem::path topology;  ///< Empty: this machine.
};

/// The lines that it prints: the list (or the order), then the memory policy where one is asked
/// for. Throws usage_error or not_possible.
[[nodiscard]] std::string place_text(const PlaceArguments& arguments);

/// Prints it; returns the exit status.
int place_command(const PlaceArguments& arguments);

}  // namespace krepro
