// What differs between the sides of a comparison besides the kernel: the first thing to suspect.
#pragma once

#include <string>
#include <vector>

#include "suite/compare/sides.h"

namespace krepro {

struct EnvironmentDifference {
  std::string item;                 ///< "cpu.governor"
  std::vector<std::string> values;  ///< One per side; "|" between values that vary within a side.
  int suspicion = 0;                ///< Larger is more suspicious; 3: known to halve results.
};

/// Most suspicious first. Items that change by themselves (uptime, free memory, load) and the
/// kernel's own identity are left out.
[[nodiscard]] std::vector<EnvironmentDifference> find_environment_differences(
    const std::vector<Side>& sides);

/// "cpu.governor: base powersave, A performance" within `width` columns a line.
[[nodiscard]] std::string difference_text(const EnvironmentDifference& difference,
                                          const std::vector<std::string>& keys);

/// The kernels were built differently: a verdict is not about a commit. Empty: they were not, or it
/// is not known.
[[nodiscard]] std::string build_difference(const std::vector<EnvironmentDifference>& differences);

}  // namespace krepro
