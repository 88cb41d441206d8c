// Markdown, CSV and JSON of a comparison.
#include <fmt/core.h>

#include <cmath>

#include "suite/compare/reports.h"
#include "suite/compare/words.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

using nlohmann::json;

/// A cell of a markdown table: no column separators, no line ends, no markup.
std::string markdown_cell(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '`' || c == '[' || c == '\\') {
      result += '\\';
    }
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : std::string();
}

std::optional<double> percent_of(const std::optional<double>& log_speed) {
  if (!log_speed) return std::nullopt;
  return 100 * change_of(*log_speed);
}

/// The figures of a test as the machine-readable formats give them.
struct Figures {
  std::optional<double> change;
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> detectable;

  explicit Figures(const RowTest& test) {
    if (test.difference) change = percent_of(test.difference->estimate);
    if (test.interval) {
      low = percent_of(test.interval->low);
      high = percent_of(test.interval->high);
    }
    if (test.minimum_detectable) detectable = 100 * *test.minimum_detectable;
  }
};

json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

json boots_json(const std::vector<BootTrials>& boots) {
  json list = json::array();
  for (const BootTrials& boot : boots) list.push_back(boot.values);
  return list;
}

json moves_json(const std::vector<CounterMove>& moves) {
  json list = json::array();
  for (const CounterMove& move : moves) {
    list.push_back({{"counter", move.name},
                    {"base", number(move.base)},
                    {"other", number(move.other)},
                    {"base_per_operation", number(move.base_per_operation)},
                    {"other_per_operation", number(move.other_per_operation)},
                    {"t", number(move.t)},
                    {"adjusted_p", number(move.adjusted_p)},
                    {"within_boot", move.within_boot}});
  }
  return list;
}

json cell_json(const Cell& cell, const ColumnFacts& column) {
  const RowTest& test = cell.test;
  const Figures figures(test);
  return {{"column", column.key},
          {"value", number(cell.value)},
          {"median", number(cell.median)},
          {"change_percent", number(figures.change)},
          {"low_percent", number(figures.low)},
          {"high_percent", number(figures.high)},
          {"p", number(test.p)},
          {"adjusted_p", number(test.adjusted_p)},
          {"verdict", to_string(test.verdict)},
          {"reason", test.reason},
          {"method", to_string(test.method)},
          {"base_boots", test.base_boots},
          {"boots", test.other_boots},
          {"detectable_percent", number(figures.detectable)},
          {"boots_needed", test.boots_needed ? json(*test.boots_needed) : json()},
          {"repetitions_needed", test.repetitions_needed ? json(*test.repetitions_needed) : json()},
          {"notes", cell.notes},
          {"counters", moves_json(cell.moves)},
          {"trials_by_boot", boots_json(cell.boots)}};
}

json row_json(const Comparison& comparison, const ComparedRow& row) {
  json cells = json::array();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    cells.push_back(cell_json(row.cells[i], comparison.columns[i + 1]));
  }
  return {{"family", row.family},
          {"name", row.name},
          {"metric", row.metric},
          {"unit", row.unit},
          {"better", row.higher_is_better ? "higher" : "lower"},
          {"base_value", number(row.base_value)},
          {"base_median", number(row.base_median)},
          {"base_notes", row.base_notes},
          {"base_trials_by_boot", boots_json(row.base_boots)},
          {"cells", std::move(cells)}};
}

const char* rule_name(Rule rule) {
  switch (rule) {
    case Rule::moderated:
      return "moderated";
    case Rule::strict:
      return "strict";
    case Rule::overlap:
      return "overlap";
  }
  return "";
}

json summary_json(const ColumnSummary& summary) {
  return {{"worse", summary.worse},
          {"better", summary.better},
          {"same", summary.same},
          {"unresolved", summary.unresolved},
          {"invalid", summary.invalid},
          {"geometric_mean_change", number(summary.geometric_change)},
          {"rows_in_mean", summary.rows_in_mean},
          {"left_out_of_mean", summary.left_out_of_mean},
          {"median_detectable", number(summary.median_detectable)}};
}

std::string against_markdown(const Comparison& comparison) {
  if (!comparison.against) return {};
  std::string text = "\n";
  for (const std::string& line : against_lines(comparison))
    text += "- " + markdown_cell(line) + "\n";
  text +=
      "\n| | row | published | | measured | 95 % interval | |\n|---|---|---:|---|---:|---:|---|\n";
  for (const AgainstRow& row : comparison.against->rows) {
    const RowTest* test = measured_test(comparison, row);
    text += fmt::format("| {} | {} | {:+.1f} % | {} | {} | {} | {} |\n", row.column,
                        markdown_cell(row.name), row.published_percent, row.published_mark,
                        test == nullptr ? "" : change_text(*test),
                        test == nullptr ? "" : markdown_cell(interval_text(*test)),
                        row.verdict + (row.reason.empty() ? "" : ": " + markdown_cell(row.reason)));
  }
  return text + "\n";
}

/// The reference's answer for one cell, or null.
const AgainstRow* find_against(const Comparison& comparison, const std::string& name,
                               const std::string& column) {
  if (!comparison.against) return nullptr;
  for (const AgainstRow& row : comparison.against->rows) {
    if (row.name == name && row.column == column) return &row;
  }
  return nullptr;
}

json against_json(const Against& against) {
  json rows = json::array();
  for (const AgainstRow& row : against.rows) {
    rows.push_back({{"name", row.name},
                    {"column", row.column},
                    {"published_name", row.published_name},
                    {"published_percent", row.published_percent},
                    {"published_mark", row.published_mark},
                    {"verdict", row.verdict},
                    {"reason", row.reason}});
  }
  return {{"source", against.source},
          {"notes", against.notes},
          {"rows", std::move(rows)},
          {"missing", against.missing}};
}

}  // namespace

std::string markdown_report(const Comparison& comparison) {
  std::string text = "| | label | design | kernel | machine |\n|---|---|---|---|---|\n";
  for (const ColumnFacts& column : comparison.columns) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", column.key, markdown_cell(column.label),
                        design_text(column), markdown_cell(column.kernel),
                        markdown_cell(column.machine));
  }
  text += "\n";
  for (const std::string& warning : comparison.warnings) {
    text += "- **Warning:** " + markdown_cell(warning) + "\n";
  }
  std::vector<std::string> keys;
  for (const ColumnFacts& column : comparison.columns) keys.push_back(column.key);
  for (const EnvironmentDifference& difference : comparison.environment) {
    text +=
        "- Differs besides the kernel: " + markdown_cell(difference_text(difference, keys)) + "\n";
  }
  for (const std::string& line : legend(comparison)) text += "- " + markdown_cell(line) + "\n";
  std::string family = "\n";
  for (const ComparedRow& row : comparison.rows) {
    if (row.family != family) {
      family = row.family;
      text += fmt::format("\n| {} | base |", markdown_cell(family));
      std::string rule = "\n|---|---:|";
      for (std::size_t i = 1; i < keys.size(); ++i) {
        text += fmt::format(" {} | 95 % interval | adj. p | |", keys[i]);
        rule += "---:|---:|---:|---|";
      }
      text += rule + "\n";
    }
    text += fmt::format("| {} | {} |", markdown_cell(row.name),
                        row.base_value ? format_figure(*row.base_value) : "-");
    for (const Cell& cell : row.cells) {
      text += fmt::format(" {} | {} | {} | {} |", change_text(cell.test),
                          markdown_cell(interval_text(cell.test)), markdown_cell(p_text(cell.test)),
                          verdict_word(cell.test));
    }
    text += "\n";
  }
  text += "\n";
  for (const std::string& line : summary_lines(comparison)) {
    text += "- " + markdown_cell(line.substr(line.find_first_not_of(' '))) + "\n";
  }
  for (const std::string& line : reason_lines(comparison)) {
    text += "- " + markdown_cell(line) + "\n";
  }
  for (const std::string& line : comparison.notes) text += "- " + markdown_cell(line) + "\n";
  for (const ComparedRow& row : comparison.rows) {
    for (const std::string& note : row_notes(comparison, row)) {
      text += fmt::format("- {}: {}\n", markdown_cell(row.name), markdown_cell(note));
    }
  }
  text += against_markdown(comparison);
  for (const std::string& line : comparison.left_out_trials) {
    text += "- does not count: " + markdown_cell(line) + "\n";
  }
  return text;
}

std::string csv_report(const Comparison& comparison) {
  std::string text =
      "family,row,metric,unit,better,base_label,label,base_value,value,base_median,median,"
      "change_percent,low_percent,high_percent,p,adjusted_p,verdict,reason,method,base_boots,boots,"
      "detectable_percent,boots_needed,repetitions_needed,published_percent,against\r\n";
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      const RowTest& test = cell.test;
      const Figures figures(test);
      const AgainstRow* against = find_against(comparison, row.name, comparison.columns[i + 1].key);
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
          csv_field(row.family), csv_field(row.name), csv_field(row.metric), csv_field(row.unit),
          row.higher_is_better ? "higher" : "lower", csv_field(comparison.columns[0].label),
          csv_field(comparison.columns[i + 1].label), csv_number(row.base_value),
          csv_number(cell.value), csv_number(row.base_median), csv_number(cell.median),
          csv_number(figures.change), csv_number(figures.low), csv_number(figures.high),
          csv_number(test.p), csv_number(test.adjusted_p), to_string(test.verdict),
          csv_field(test.reason), csv_field(to_string(test.method)), test.base_boots,
          test.other_boots, csv_number(figures.detectable),
          test.boots_needed ? std::to_string(*test.boots_needed) : "",
          test.repetitions_needed ? std::to_string(*test.repetitions_needed) : "",
          against == nullptr ? "" : fmt::format("{:.6g}", against->published_percent),
          against == nullptr ? "" : against->verdict);
    }
  }
  return text;
}

json json_report(const Comparison& comparison) {
  json columns = json::array();
  for (const ColumnFacts& column : comparison.columns) {
    columns.push_back({{"key", column.key},
                       {"label", column.label},
                       {"kernel", column.kernel},
                       {"machine", column.machine},
                       {"boots", column.boots},
                       {"hosts", column.hosts},
                       {"least_repetitions", column.least_repetitions},
                       {"most_repetitions", column.most_repetitions},
                       {"simulated", column.simulated}});
  }
  for (std::size_t i = 1; i < columns.size(); ++i) {
    columns[i]["summary"] = summary_json(comparison.summaries[i - 1]);
  }
  json environment = json::array();
  for (const EnvironmentDifference& difference : comparison.environment) {
    environment.push_back({{"item", difference.item}, {"values", difference.values}});
  }
  json rows = json::array();
  for (const ComparedRow& row : comparison.rows) rows.push_back(row_json(comparison, row));
  const JudgeOptions& options = comparison.options.judge;
  return {{"schema", "krepro-comparison-1"},
          {"rule", rule_name(options.rule)},
          {"paired", options.paired},
          {"tolerance", options.tolerance},
          {"level", options.level},
          {"detect", options.detect},
          {"columns", std::move(columns)},
          {"warnings", comparison.warnings},
          {"notes", comparison.notes},
          {"environment_differences", std::move(environment)},
          {"rows", std::move(rows)},
          {"left_out_trials", comparison.left_out_trials},
          {"against", comparison.against ? against_json(*comparison.against) : json()},
          {"exit_status", exit_status(comparison)}};
}

}  // namespace krepro
