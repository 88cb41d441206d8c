// The comparison for people (ASCII, at most 78 columns) and for programs (JSON with every single
// run).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "suite/fidelity/row.h"

namespace krepro::fidelity {

/// What was compared, where and how.
struct ReportHead {
  std::vector<std::string> options;  ///< What --set gave to every row.
  std::string generator;
  std::string machine;  ///< "Linux 6.18.44, 2 CPUs, 1 LLC, no SMT"
  std::string kernel;   ///< uname -r and -v
  std::string original_program;
  std::string original_path;
  std::string original_version;
  std::string original_package;
  std::string ours_path;
  std::string ours_version;  ///< "sources 1a2b3c4d"
  std::string calls_counted_by;
  std::string wakeups_counted_by;
  FidelitySettings settings;
  Original about;
};

[[nodiscard]] std::string head_text(const ReportHead& head);
/// What the rows that follow are judged by.
[[nodiscard]] std::string placement_text(const ReportHead& head, Placement placement);
[[nodiscard]] std::string row_text(const RowResult& row);
/// "9 rows: 8 same, 0 differ, 1 unresolved" and what to do next.
[[nodiscard]] std::string summary_text(const std::vector<RowResult>& rows);
[[nodiscard]] nlohmann::json report_json(const ReportHead& head,
                                         const std::vector<RowResult>& rows);

/// `text` in lines of at most `width` columns, each but the first preceded by `indent` spaces;
/// single words may be longer.
[[nodiscard]] std::string wrap(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace krepro::fidelity
