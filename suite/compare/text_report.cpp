// The table for terminals and mail.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/compare/reports.h"
#include "suite/compare/words.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

constexpr std::size_t page_width = 78;
constexpr std::size_t base_width = 9;
constexpr std::size_t cell_width = 16;
constexpr std::size_t most_columns = 3;
constexpr std::size_t most_environment_lines = 10;
constexpr std::size_t most_left_out_lines = 12;

/// Printable ASCII only: names come from profiles and files of others.
std::string ascii(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else if ((byte & 0xc0U) != 0x80U) {  // One "?" per character of UTF-8.
      result += '?';
    }
  }
  return result;
}

std::string trim_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Lines that fit stay as they are, aligned parts included.
std::string wrapped(const std::string& text, const std::string& indent) {
  if (text.size() <= page_width) return trim_end(ascii(text));
  return wrap_text(ascii(text), indent) + "\n";
}

/// The parts behind a name, on lines of their own below each other where they do not fit.
std::string beside(const std::string& name, const std::vector<std::string>& parts) {
  std::string text;
  std::string line = name;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool fits = line.size() + parts[i].size() + 3 <= page_width;
    if (i > 0 && !fits) {
      text += trim_end(ascii(line + ";"));
      line = std::string(name.size(), ' ');
    }
    line += i > 0 && fits ? "; " : "  ";
    line += parts[i];
  }
  return text + wrapped(line, std::string(8, ' '));
}

std::string columns_text(const Comparison& comparison) {
  std::size_t label_width = 8;
  for (const ColumnFacts& column : comparison.columns) {
    label_width = std::max(label_width, std::min<std::size_t>(column.label.size(), 24));
  }
  std::string text;
  for (std::size_t i = 0; i < comparison.columns.size(); ++i) {
    const ColumnFacts& column = comparison.columns[i];
    std::vector<std::string> facts{design_text(column)};
    if (column.kernel != column.label) facts.push_back(column.kernel);
    const bool same = i > 0 && column.machine == comparison.columns[0].machine;
    facts.push_back(same && !column.machine.empty() ? "same machine" : column.machine);
    std::erase(facts, "");
    const std::string name = fmt::format("{:<5} {:<{}}", column.key, column.label, label_width);
    text += beside(name, facts);
  }
  return text;
}

std::string environment_text(const Comparison& comparison) {
  if (comparison.environment.empty()) return {};
  std::vector<std::string> keys;
  for (const ColumnFacts& column : comparison.columns) keys.push_back(column.key);
  std::string text = "differs besides the kernel:\n";
  const std::size_t shown = std::min(comparison.environment.size(), most_environment_lines);
  for (std::size_t i = 0; i < shown; ++i) {
    text += wrapped("  " + difference_text(comparison.environment[i], keys), "    ");
  }
  if (shown < comparison.environment.size()) {
    text += fmt::format("  and {} more (--format json)\n", comparison.environment.size() - shown);
  }
  return text;
}

/// A block of rows: the columns from `first` to `last` (exclusive), counted after the base.
struct Block {
  std::size_t first;
  std::size_t last;
  [[nodiscard]] std::size_t count() const { return last - first; }
  /// A single column has room for its interval and p.
  [[nodiscard]] bool wide() const { return count() == 1; }
  [[nodiscard]] std::size_t name_width() const {
    return wide() ? 29 : page_width - base_width - count() * cell_width;
  }
};

/// The rows of one family. Where names are too long for their column, what all of them start with
/// stands in the heading instead.
struct Family {
  std::string name;
  std::string prefix;
  std::vector<const ComparedRow*> rows;
};

std::string common_prefix(const std::vector<const ComparedRow*>& rows) {
  std::string prefix = rows.front()->name;
  for (const ComparedRow* row : rows) {
    const auto [in_prefix, in_name] =
        std::mismatch(prefix.begin(), prefix.end(), row->name.begin(), row->name.end());
    prefix.erase(in_prefix, prefix.end());
  }
  // Whole words only.
  prefix.erase(prefix.find_last_of(" -/") == std::string::npos ? 0
                                                               : prefix.find_last_of(" -/") + 1);
  return prefix;
}

std::vector<Family> families_of(const Comparison& comparison, const Block& block) {
  std::vector<Family> families;
  for (const ComparedRow& row : comparison.rows) {
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const Family& known) { return known.name == row.family; });
    if (family == families.end()) {
      families.push_back({row.family, "", {}});
      family = families.end() - 1;
    }
    family->rows.push_back(&row);
  }
  for (Family& family : families) {
    const bool too_long = std::any_of(
        family.rows.begin(), family.rows.end(),
        [&](const ComparedRow* row) { return row->name.size() + 2 > block.name_width(); });
    if (too_long && family.rows.size() > 1) family.prefix = common_prefix(family.rows);
  }
  return families;
}

std::string heading_text(const Comparison& comparison, const Family& family, const Block& block) {
  std::string line = ascii(family.name.empty() ? "other" : family.name);
  if (!family.prefix.empty()) line += ": " + ascii(family.prefix) + "...";
  std::string text;
  if (line.size() > block.name_width()) {
    text = wrapped(line, "  ");
    line.clear();
  }
  line = fmt::format("{:<{}}{:>{}}", line, block.name_width(), "base", base_width);
  if (block.wide()) {
    line += fmt::format("{:>10} {:<7}{:>15}{:>7}", comparison.columns[block.first + 1].key, "",
                        "95 % interval", "adj. p");
  } else {
    for (std::size_t c = block.first; c < block.last; ++c) {
      line += fmt::format("{:>9}{:<7}", comparison.columns[c + 1].key, "");
    }
  }
  return text + trim_end(line);
}

/// The mark of an interval from within boots stands behind it, out of the digits' column.
std::string padded_interval(const RowTest& test) {
  const std::string text = interval_text(test);
  return fmt::format("{:>{}}", text, text.ends_with('w') ? 16 : 15);
}

std::string row_text(const Comparison& comparison, const ComparedRow& row,
                     const std::string& prefix, const Block& block) {
  std::string line = "  " + ascii(row.name.substr(prefix.size()));
  std::string text;
  if (line.size() > block.name_width()) {
    text = line.substr(0, page_width) + "\n";
    line.clear();
  }
  line = fmt::format("{:<{}}{:>{}}", line, block.name_width(),
                     row.base_value ? format_figure(*row.base_value) : "-", base_width);
  for (std::size_t c = block.first; c < block.last; ++c) {
    const RowTest& test = row.cells[c].test;
    line += block.wide() ? fmt::format("{:>10} {:<7}{:<16}{:>6}", change_text(test),
                                       verdict_word(test), padded_interval(test), p_text(test))
                         : fmt::format("{:>9} {:<6}", change_text(test), verdict_word(test));
  }
  text += trim_end(line);
  // Notes are about all columns; they are said once.
  if (block.first > 0) return text;
  for (const std::string& note : row_notes(comparison, row)) {
    text += wrapped("      " + note, "        ");
  }
  return text;
}

std::string table_text(const Comparison& comparison, const Block& block) {
  std::string text;
  for (const Family& family : families_of(comparison, block)) {
    text += '\n';
    text += heading_text(comparison, family, block);
    for (const ComparedRow* row : family.rows) {
      text += row_text(comparison, *row, family.prefix, block);
    }
  }
  return text;
}

/// Rows that stopped working come before everything else: no ratio would show them.
std::string stopped_text(const Comparison& comparison) {
  std::string text;
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const RowTest& test = row.cells[c].test;
      const bool gone = test.verdict == Verdict::invalid && row.cells[c].boots.empty() &&
                        !row.base_boots.empty() && comparison.options.only.empty();
      if (test.verdict != Verdict::stopped && !gone) continue;
      text += wrapped(
          fmt::format("{}: {}: {}", comparison.columns[c + 1].key, row.name, test.reason), "  ");
    }
  }
  return text;
}

/// Several columns leave no room for intervals: those of the verdicts follow the table.
std::string intervals_text(const Comparison& comparison) {
  if (comparison.columns.size() == 2) return {};
  std::string text;
  for (std::size_t c = 0; c + 1 < comparison.columns.size(); ++c) {
    for (const ComparedRow& row : comparison.rows) {
      const RowTest& test = row.cells[c].test;
      const bool called = test.verdict == Verdict::worse || test.verdict == Verdict::better;
      if (!test.interval || !(called || test.method == Method::within_boot)) continue;
      text += trim_end(fmt::format(
          "  {:<4} {:<31.31}{:>9} {:<7}{:>16}{:>7}", comparison.columns[c + 1].key, ascii(row.name),
          change_text(test), verdict_word(test), interval_text(test), p_text(test)));
    }
  }
  if (text.empty()) return {};
  return "\n95 % interval of each change in per cent, and adjusted p\n" + text;
}

std::string against_text(const Comparison& comparison) {
  if (!comparison.against) return {};
  std::string text = "\n";
  for (const std::string& line : against_lines(comparison)) text += wrapped(line, "  ");
  text += fmt::format("\n{:<22}{:>11}{:>9}{:>17}\n", "", "published", "measured", "95 % interval");
  for (const AgainstRow& row : comparison.against->rows) {
    const RowTest* test = measured_test(comparison, row);
    const std::string mark = row.published_mark == "none" ? "" : row.published_mark;
    text += trim_end(fmt::format("{:<2}{:<20.20}{:>+7.1f} %{:<2}{:>9}{:>17} {}", row.column,
                                 ascii(row.name), row.published_percent, " " + mark,
                                 test == nullptr ? "" : change_text(*test),
                                 test == nullptr ? "" : interval_text(*test), row.verdict));
    // Why nothing can be compared is said once, above.
    if (!row.reason.empty() && row.verdict != "not comparable") {
      text += wrapped("      " + row.reason, "      ");
    }
  }
  return text;
}

std::string left_out_text(const Comparison& comparison) {
  if (comparison.left_out_trials.empty()) return {};
  std::string text = fmt::format("\n{} trials do not count:\n", comparison.left_out_trials.size());
  const std::size_t shown = std::min(comparison.left_out_trials.size(), most_left_out_lines);
  for (std::size_t i = 0; i < shown; ++i) {
    text += wrapped("  " + comparison.left_out_trials[i], "    ");
  }
  if (shown < comparison.left_out_trials.size()) {
    text +=
        fmt::format("  and {} more (--format json)\n", comparison.left_out_trials.size() - shown);
  }
  return text;
}

bool any_within_boot(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [](const ComparedRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](const Cell& cell) {
      return cell.test.method == Method::within_boot && cell.test.interval;
    });
  });
}

}  // namespace

std::string text_report(const Comparison& comparison) {
  std::string text = columns_text(comparison);
  for (const std::string& warning : comparison.warnings) {
    text += wrapped("warning: " + warning, "         ");
  }
  text += environment_text(comparison);
  for (const std::string& line : legend(comparison)) text += wrapped(line, "  ");
  if (any_within_boot(comparison)) {
    text +=
        wrapped("w = from the trials within the boots alone: how boots differ is not in it", "  ");
  }
  const std::string stopped = stopped_text(comparison);
  if (!stopped.empty()) text += "\n" + stopped;
  const std::size_t others = comparison.columns.size() - 1;
  for (std::size_t first = 0; first < others; first += most_columns) {
    text += table_text(comparison, {first, std::min(first + most_columns, others)});
  }
  text += intervals_text(comparison);
  text += "\n";
  for (const std::string& line : summary_lines(comparison)) {
    const bool further = line.starts_with(" ");
    text += wrapped(line, further ? "     " : "  ");
  }
  for (const std::string& line : reason_lines(comparison)) text += wrapped(line, "  ");
  for (const std::string& line : comparison.notes) text += wrapped(line, "  ");
  return text + against_text(comparison) + left_out_text(comparison);
}

}  // namespace krepro
