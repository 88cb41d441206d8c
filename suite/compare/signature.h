// Which of the kernel's counters differ most between the sides of a row, ranked by the difference
// against the counters' own noise: what a maintainer looks at under a row that regressed. It
// explains a verdict and never makes one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "suite/compare/sides.h"

namespace krepro {

/// One counter that moved.
struct CounterMove {
  std::string name;  ///< As counter_table.h has it.
  double base = 0;   ///< Per second; of a share the share.
  double other = 0;
  double base_per_operation = 0;  ///< 0 where the load counts no operations.
  double other_per_operation = 0;
  double t = 0;              ///< The difference of logarithms in its standard errors.
  double adjusted_p = 1;     ///< Benjamini-Hochberg over the counters of the row.
  bool within_boot = false;  ///< Fewer than three boots a side: from the trials, not the boots.
};

/// The moves of row `name` from `base` to `other`, at most `limit`, the surest first: adjusted p at
/// most 5 %, and by a fifth or more per second and per operation (so that what merely follows the
/// throughput, or merely the clock, is left out). Counters that one side could not have are left
/// out. Empty where there are fewer than two trials a side.
[[nodiscard]] std::vector<CounterMove> find_counter_moves(const Side& base, const Side& other,
                                                          const std::string& name,
                                                          std::size_t limit);

/// "newidle balance calls (SMT) per second: 12 k -> 310 k (per operation 0.04 -> 1.1)"
[[nodiscard]] std::string move_text(const CounterMove& move);

}  // namespace krepro
