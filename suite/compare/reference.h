// Published tables as CSV (docs/comparing.md): reading, printing as a table of ours, and setting a
// measured comparison beside one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

/// unresolved: the one who published could not tell.
enum class PublishedMark : std::uint8_t { none, regression, improvement, not_given, unresolved };

struct PublishedChange {
  double percent = 0;  ///< Normalised: + is better.
  PublishedMark mark = PublishedMark::not_given;
};

struct PublishedRow {
  std::string benchmark;  ///< "mmtests/hackbench"
  std::string name;       ///< "hackbench-process-pipes-7"
  std::string unit;
  bool higher_is_better = true;
  double base_value = 0;
  std::vector<std::optional<PublishedChange>> changes;  ///< One per column.
};

struct PublishedTable {
  std::filesystem::path path;
  std::map<std::string, std::string>
      facts;                         ///< "# source: ..." lines: source, machine, cpus, n ...
  std::vector<std::string> columns;  ///< "rc1", "revert2", ...
  std::vector<PublishedRow> rows;

  [[nodiscard]] std::string fact(const std::string& name) const;
};

/// Throws usage_error FILE:LINE for what is not such a table.
[[nodiscard]] PublishedTable read_published_table(const std::filesystem::path& path);
[[nodiscard]] PublishedTable parse_published_table(const std::string& text,
                                                   const std::filesystem::path& path);

/// A comparison of somebody else's runs as the table that one's own are set beside.
[[nodiscard]] PublishedTable as_published_table(const Comparison& comparison);

/// The published table itself, for text_report() and the others.
[[nodiscard]] Comparison as_comparison(const PublishedTable& table);

struct AgainstOptions {
  std::string column;      ///< Of the published table; empty: by label, else by position.
  double agreement = 0.5;  ///< A change is reproduced within this share of the published one.
};

/// Fills Comparison::against. Every row of the comparison's first column is answered for.
void set_against(const PublishedTable& table, const AgainstOptions& options,
                 const std::vector<Side>& sides, Comparison& comparison);

/// Whether a published name ("hackbench-process-pipes-7") means this row ("process pipe g=7"): the
/// same numbers, and every word of it in the row's name or family; plurals are as singulars.
[[nodiscard]] bool names_match(const std::string& published, const std::string& name,
                               const std::string& family);

}  // namespace krepro
