// The rows of a comparison before any verdict: the counted trials of each benchmark by side and by
// boot, and what is to be noted about their shape. Part of compare_sides().
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

/// One benchmark on one side.
struct SideRow {
  bool present = false;
  BenchmarkFacts benchmark;
  std::vector<BootTrials> boots;
  std::vector<std::string> notes;
  DetailFacts details;
};

struct TableRow {
  std::string name;
  std::vector<SideRow> sides;
};

/// In the order of the base's plan. Rows that one of the sides lacks are left out and listed in
/// `missing`; trials that do not count are listed in `left_out`. Throws usage_error: nothing
/// matches `only` (with what there is), mixed units.
struct Table {
  std::vector<TableRow> rows;
  std::vector<std::string> missing;
  std::vector<std::string> left_out;
};
[[nodiscard]] Table make_table(const std::vector<Side>& sides, const std::vector<std::string>& keys,
                               const std::vector<std::string>& only);

/// Geometric mean over the boots; nothing where a value is not positive, or there is none.
[[nodiscard]] std::optional<double> typical_value(const std::vector<BootTrials>& boots);
[[nodiscard]] std::vector<double> all_values(const std::vector<BootTrials>& boots);

}  // namespace krepro
