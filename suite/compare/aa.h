// One kernel against itself: how often comparisons of this machine's trials would raise a false
// alarm, and how noisy they are. Pure; aa_command.h is the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/compare/judge.h"
#include "suite/compare/rows.h"

namespace krepro {

struct AaRow {
  std::string name;
  std::size_t trials = 0;
  std::size_t boots = 0;
  double median = 0;
  std::optional<double> within_boots;   ///< SD of the logarithm of one trial about its boot.
  std::optional<double> between_boots;  ///< SD of the boots' true means; nothing for one boot.
  std::vector<std::string> notes;
};

/// False alarms of one way of comparing: shares over rows and splits.
struct AaRule {
  std::string name;
  std::size_t splits = 0;
  double rows_called = 0;    ///< Share of the rows that were called different.
  double tables_called = 0;  ///< Share of the splits with any such row.
};

struct AaResult {
  std::vector<AaRow> rows;
  std::vector<AaRule> rules;
};

/// Deals the trials of one side out to two, over and over: the truth is that nothing differs.
/// With 6 boots or more, boots are dealt as krepro compare deals with kernels; within boots,
/// repetitions are, in pairs.
[[nodiscard]] AaResult compare_with_itself(const std::vector<SideRow>& rows, std::size_t splits,
                                           std::uint64_t seed);

/// At most 78 columns, ASCII.
[[nodiscard]] std::string aa_report(const AaResult& result, const std::string& label);

}  // namespace krepro
