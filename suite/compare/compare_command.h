// `krepro compare BASE OTHER...`: reads run files, directories of them or foreign results, and
// prints the comparison. `krepro compare TABLE.csv` prints a published table in the same form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

enum class ReportFormat : std::uint8_t { text, markdown, csv, json, html };

/// Throws usage_error with a suggestion.
[[nodiscard]] ReportFormat parse_report_format(const std::string& text);
/// "moderated" or "overlap". Throws usage_error.
[[nodiscard]] Rule parse_rule(const std::string& text);

struct CompareArguments {
  std::vector<std::filesystem::path> paths;
  std::string base;  ///< --base LABEL
  CompareOptions options;
  ReportFormat format = ReportFormat::text;
  std::filesystem::path out;             ///< --out FILE; empty: standard output.
  std::filesystem::path against;         ///< --against CSV; empty: none.
  std::string against_column;            ///< --against-column; empty: by label, else by position.
  double agreement = 0.5;                ///< --agreement
  std::filesystem::path like;            ///< --like BUNDLE: the reporter's deltas beside these.
  std::optional<std::size_t> self_test;  ///< --self-test TABLES
  std::uint64_t self_test_seed = 1;      ///< --self-test-seed N
};

/// Exit status: 1 a row is worse, else 125 a row is unresolved, else 0; --self-test: 1 where a
/// bound does not hold. Throws usage_error (2) for bad input.
int compare_command(const CompareArguments& arguments);

}  // namespace krepro
