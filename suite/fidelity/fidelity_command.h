// `krepro fidelity NAME`: does the generator do what the tool whose pattern it reproduces does?
// Runs both in turn and compares; docs/fidelity.md explains the method and the output.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace krepro {

struct FidelityArguments {
  std::string generator;
  std::vector<std::string> rows;  ///< Shell patterns of row names; empty: all.
  /// "NAME=VALUE": options of every row, in the place of the row's own; krepro's own options go to
  /// ours alone.
  std::vector<std::string> options;
  std::string placement = "both";  ///< "pinned", "floating" or "both"
  std::optional<double> width;     ///< Half width of the ratio's interval, as a share (0.02).
  std::int64_t max_rounds = 100;   ///< Blocks of runs of a row.
  std::int64_t max_time_ns = 120'000'000'000;  ///< Timed runs of a row in one placement.
  std::string perturb;                         ///< parse_perturbation(); empty: none.
  std::optional<std::uint64_t> seed;
  std::filesystem::path json;  ///< Empty: no JSON; "-": stdout instead of the text.
  bool quiet = false;
  bool list = false;  ///< Print the rows and their command lines, run nothing.
};

/// Exit status: 0 every row is the same, 1 any differs, 125 none differs and any is unresolved, 130
/// interrupted. Throws usage_error, and not_possible (3) where the original is not installed.
int fidelity_command(const FidelityArguments& arguments);

}  // namespace krepro
