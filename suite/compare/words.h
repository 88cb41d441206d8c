// How the reports word a comparison, so that all formats say the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

/// "worse", "better", "same", "?", "stopped", "n/a".
[[nodiscard]] std::string verdict_word(const RowTest& test);
/// "-18.4 %"; "" where there is no ratio.
[[nodiscard]] std::string change_text(const RowTest& test);
/// "[-20.1, -16.6]" in per cent, "w" after it where it is from within boots only; "" for none.
[[nodiscard]] std::string interval_text(const RowTest& test);
/// "0.012", "<0.001"; "" for none.
[[nodiscard]] std::string p_text(const RowTest& test);
[[nodiscard]] std::string percent_text(double share);

/// "base    6.18.0   4 boots x 3   64 CPUs, 1 LLC" without padding, by part.
[[nodiscard]] std::string design_text(const ColumnFacts& column);

/// How to read the table.
[[nodiscard]] std::vector<std::string> legend(const Comparison& comparison);
/// "A: 27 of 56 rows worse, ..." and what follows from it, per column.
[[nodiscard]] std::vector<std::string> summary_lines(const Comparison& comparison);
/// Why rows are unresolved or without a ratio, each reason once: "A ? in 12 rows: 1 boot ...".
[[nodiscard]] std::vector<std::string> reason_lines(const Comparison& comparison);
/// "A: two modes" of one row; empty: nothing to note.
[[nodiscard]] std::vector<std::string> row_notes(const Comparison& comparison,
                                                 const ComparedRow& row);

/// What the reference is and how many rows came out how; empty without one.
[[nodiscard]] std::vector<std::string> against_lines(const Comparison& comparison);
/// The measured change of an AgainstRow; null where its row is gone.
[[nodiscard]] const RowTest* measured_test(const Comparison& comparison, const AgainstRow& row);

/// A counter that moved, per operation, over all rows of the table.
struct CounterChange {
  std::string name;
  double base = 0;
  double other = 0;
};
/// Of the column after the base with this index; largest change first, at most `limit`.
[[nodiscard]] std::vector<CounterChange> largest_counter_changes(const Comparison& comparison,
                                                                 std::size_t column,
                                                                 std::size_t limit);

}  // namespace krepro
