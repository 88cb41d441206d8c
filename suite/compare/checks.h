// What makes a comparison doubtful, in one line each: for the lines above the table, and to refuse
// verdicts that would not be about the kernel.
#pragma once

#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

struct SideChecks {
  std::vector<std::string> warnings;
  std::vector<std::string> refusals;  ///< Per side after the base: why no kernel verdict; "": none.
};

/// Looks at whole sides: same kernel, simulated runs, machines, order of boots, scaling.
[[nodiscard]] SideChecks check_sides(const std::vector<Side>& sides,
                                     const std::vector<std::string>& keys,
                                     const CompareOptions& options);

/// Looks at one benchmark of two sides: "options differ: loops 100 and 10000"; empty: they agree.
[[nodiscard]] std::string find_benchmark_difference(const BenchmarkFacts& base,
                                                    const BenchmarkFacts& other);

/// Trials that followed a trial of the other side in the same boot without a settling (warm-up)
/// trial between them.
[[nodiscard]] std::size_t count_unsettled_switches(const Side& base, const Side& other);

}  // namespace krepro
