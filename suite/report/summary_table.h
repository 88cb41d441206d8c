// The table that `krepro run` and `krepro show` print: per benchmark the mean, its 95 % interval,
// the coefficient of variation, the number of values and remarks. One run file at a time;
// comparing is suite/compare's.
#pragma once

#include <string>
#include <vector>

#include "suite/record/run_file.h"
#include "suite/statistics/summary.h"

namespace krepro {

/// One row's figures.
struct SummaryRow {
  std::string family;
  std::string name;
  std::vector<double> values;  ///< Primary metric of the valid trials, in the order they ran.
  Summary summary;             ///< Of the values; of the boots' means from three boots on.
  std::size_t boots = 0;       ///< In how many boots the values were measured.
  bool by_boot = false;        ///< The summary is over boots.
  std::size_t failed = 0;
  std::size_t truncated = 0;
  std::size_t skipped = 0;
  std::size_t stolen = 0;          ///< Valid trials with more than 1 % steal.
  std::size_t missing = 0;         ///< Planned and not recorded.
  std::vector<std::string> notes;  ///< "two modes", "1 failed", ...
};

[[nodiscard]] std::vector<SummaryRow> summarise_rows(const RunFile& file);

/// All rows by family, then what the notes mean, what was left out and why, and what is missing.
/// At most 78 columns, ASCII, ends with a newline.
[[nodiscard]] std::string summary_text(const RunFile& file);

/// At least four significant digits, without exponent where that is short: "0.3312", "87228".
[[nodiscard]] std::string format_figure(double value);

/// Breaks at spaces to lines of at most 78 columns; further lines start with `indent`. A word that
/// is longer stays whole.
[[nodiscard]] std::string wrap_text(const std::string& text, const std::string& indent);

}  // namespace krepro
