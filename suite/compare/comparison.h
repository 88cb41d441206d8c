// A comparison as the reports show it: sides, rows, verdicts, and what has to be said above the
// table. compare_sides() makes it; nothing here prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/compare/environment_differences.h"
#include "suite/compare/judge.h"
#include "suite/compare/sides.h"
#include "suite/compare/signature.h"

namespace krepro {

struct CompareOptions {
  JudgeOptions judge;
  std::vector<std::string> only;  ///< Shell patterns on row names; empty: all.
  bool same_kernel_allowed =
      false;               ///< The sides differ by a setting or option, not by the kernel.
  bool signature = false;  ///< Look for the counters that differ most.
};

/// A column of the table; the base is the first.
struct ColumnFacts {
  std::string key;  ///< "base", "A", "B", ...
  std::string label;
  std::string kernel;  ///< Release; "" for foreign results.
  std::string machine;
  std::size_t boots = 0;
  std::size_t hosts = 0;
  std::size_t least_repetitions = 0;  ///< Per boot and row, counted trials.
  std::size_t most_repetitions = 0;
  bool simulated = false;
};

/// One row in one column other than the base.
struct Cell {
  RowTest test;
  std::optional<double> value;   ///< Geometric mean over the boots, in the metric's unit.
  std::optional<double> median;  ///< Of all its trials.
  std::vector<BootTrials> boots;
  std::vector<std::string> notes;  ///< "two modes", "drift -3.1 %", ...
  std::vector<CounterMove> moves;  ///< The surest first; empty where not asked for.
};

struct ComparedRow {
  std::string family;
  std::string name;
  std::string metric;
  std::string unit;
  bool higher_is_better = true;
  std::optional<double> base_value;
  std::optional<double> base_median;
  std::vector<BootTrials> base_boots;
  std::vector<std::string> base_notes;
  std::vector<Cell> cells;           ///< One per column after the base.
  std::vector<DetailFacts> details;  ///< One per column, the base first.
};

/// A column in a sentence or two.
struct ColumnSummary {
  std::size_t worse = 0;
  std::size_t better = 0;
  std::size_t same = 0;
  std::size_t unresolved = 0;
  std::size_t invalid = 0;
  std::optional<double> median_detectable;  ///< Smallest detectable change, median over the rows.
  std::optional<double> geometric_change;   ///< Mean change over the rows that have a ratio.
  std::size_t rows_in_mean = 0;
  std::vector<std::string> left_out_of_mean;
  std::optional<std::size_t> boots_needed;  ///< Median over the unresolved rows.
  std::optional<std::size_t> repetitions_needed;
};

/// One row beside what was published of it.
struct AgainstRow {
  std::string name;
  std::string column;  ///< Of this comparison.
  std::string published_name;
  double published_percent = 0;
  std::string published_mark;  ///< "R", "I", "none", "" where not given.
  std::string verdict;         ///< "reproduced", "not reproduced", "not comparable", "unresolved"
  std::string reason;
};

struct Against {
  std::string source;
  std::vector<std::string> notes;  ///< What the reference lacks ("n = 1"), how it is read.
  std::vector<AgainstRow> rows;
  std::vector<std::string> missing;  ///< Published rows without a measured one.
};

struct Comparison {
  CompareOptions options;
  std::vector<ColumnFacts> columns;
  std::vector<ColumnSummary> summaries;  ///< One per column after the base.
  std::vector<ComparedRow> rows;
  std::vector<std::string> warnings;  ///< Said above the table; most important first.
  std::vector<std::string> notes;     ///< Said below it.
  std::vector<std::string> left_out_trials;
  std::vector<EnvironmentDifference> environment;
  std::optional<Against> against;
};

/// Throws usage_error: mixed units; no row that all patterns match.
[[nodiscard]] Comparison compare_sides(const std::vector<Side>& sides,
                                       const CompareOptions& options);

/// One summary per column after the base.
[[nodiscard]] std::vector<ColumnSummary> summarise_columns(const std::vector<ComparedRow>& rows);

/// 1: a row is worse (or stopped); 125: none, but one is unresolved; 0.
[[nodiscard]] int exit_status(const Comparison& comparison);

}  // namespace krepro
