#include "suite/compare/comparison.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/error.h"
#include "suite/compare/checks.h"
#include "suite/compare/rows.h"

namespace krepro {
namespace {

constexpr std::size_t most_sides = 27;  // base, A to Z

std::vector<std::string> make_keys(std::size_t count) {
  if (count > most_sides) {
    throw usage_error(fmt::format("{} labels: a table has at most {} columns", count, most_sides));
  }
  std::vector<std::string> keys{"base"};
  for (std::size_t i = 1; i < count; ++i) keys.emplace_back(1, static_cast<char>('A' + i - 1));
  return keys;
}

std::string joined(const std::set<std::string>& values) {
  return fmt::format("{}", fmt::join(values, ", "));
}

ColumnFacts make_column(const Side& side, const std::string& key, const Table& table,
                        std::size_t index) {
  ColumnFacts column;
  column.key = key;
  column.label = side.label;
  std::set<std::string> kernels;
  std::set<std::string> machines;
  for (const RunFacts& run : side.runs) {
    kernels.insert(run.kernel_release);
    machines.insert(run.machine);
    column.simulated = column.simulated || run.simulated;
  }
  kernels.erase("");
  machines.erase("");
  column.kernel = joined(kernels);
  column.machine = joined(machines);
  std::set<std::string> boots;
  std::set<std::string> hosts;
  for (const TableRow& row : table.rows) {
    for (const BootTrials& boot : row.sides[index].boots) {
      boots.insert(boot.host + "\n" + boot.boot);
      hosts.insert(boot.host);
      const std::size_t count = boot.values.size();
      column.least_repetitions =
          column.least_repetitions == 0 ? count : std::min(column.least_repetitions, count);
      column.most_repetitions = std::max(column.most_repetitions, count);
    }
  }
  column.boots = boots.size();
  column.hosts = hosts.size();
  return column;
}

ComparedRow make_row(TableRow& row) {
  ComparedRow result;
  const SideRow& base = row.sides[0];
  result.name = row.name;
  result.family = base.benchmark.family;
  for (const SideRow& side : row.sides) {
    if (side.benchmark.unit.empty()) continue;
    result.metric = side.benchmark.metric;
    result.unit = side.benchmark.unit;
    result.higher_is_better = side.benchmark.higher_is_better;
    break;
  }
  result.base_boots = base.boots;
  result.base_value = typical_value(base.boots);
  if (!base.boots.empty()) result.base_median = median(all_values(base.boots));
  result.base_notes = base.notes;
  for (std::size_t i = 0; i < row.sides.size(); ++i) {
    result.details.push_back(std::move(row.sides[i].details));
    if (i == 0) continue;
    Cell cell;
    cell.boots = row.sides[i].boots;
    cell.value = typical_value(cell.boots);
    if (!cell.boots.empty()) cell.median = median(all_values(cell.boots));
    cell.notes = row.sides[i].notes;
    result.cells.push_back(std::move(cell));
  }
  return result;
}

/// How often which difference of a benchmark between the sides was found.
using BenchmarkDifferences = std::map<std::string, std::size_t>;

/// All rows and columns in one list: the adjustment is over all of them. `settings_differ`: the
/// load's options are what is compared, and are no reason to refuse.
std::vector<RowData> make_questions(const Table& table, const std::vector<ComparedRow>& rows,
                                    const std::vector<std::string>& refusals, bool settings_differ,
                                    BenchmarkDifferences& differences) {
  std::vector<RowData> questions;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].cells.size(); ++c) {
      RowData question;
      question.family = fmt::format("{}\n{}", c, rows[r].family);
      question.higher_is_better = rows[r].higher_is_better;
      question.base = rows[r].base_boots;
      question.other = rows[r].cells[c].boots;
      question.refusal = refusals[c];
      const SideRow& other = table.rows[r].sides[c + 1];
      if (other.present) {
        const std::string difference =
            find_benchmark_difference(table.rows[r].sides[0].benchmark, other.benchmark);
        if (!difference.empty()) ++differences[difference];
        if (!difference.empty() && !settings_differ) question.refusal = difference;
      }
      questions.push_back(std::move(question));
    }
  }
  return questions;
}

template <typename Value>
std::optional<Value> middle_of(std::vector<Value> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

ColumnSummary summarise_column(const std::vector<ComparedRow>& rows, std::size_t column) {
  ColumnSummary summary;
  std::vector<double> detectable;
  std::vector<double> changes;
  std::vector<std::size_t> boots;
  std::vector<std::size_t> repetitions;
  bool boots_suffice = true;
  bool repetitions_suffice = true;
  for (const ComparedRow& row : rows) {
    const RowTest& test = row.cells[column].test;
    switch (test.verdict) {
      case Verdict::worse:
      case Verdict::stopped:
        ++summary.worse;
        break;
      case Verdict::better:
        ++summary.better;
        break;
      case Verdict::same:
        ++summary.same;
        break;
      case Verdict::unresolved:
        ++summary.unresolved;
        break;
      case Verdict::invalid:
        ++summary.invalid;
        break;
    }
    if (test.difference) {
      changes.push_back(test.difference->estimate);
    } else {
      summary.left_out_of_mean.push_back(row.name);
    }
    if (test.minimum_detectable) detectable.push_back(*test.minimum_detectable);
    if (test.verdict != Verdict::unresolved || !test.p) continue;
    if (test.boots_needed) boots.push_back(*test.boots_needed);
    if (test.repetitions_needed) repetitions.push_back(*test.repetitions_needed);
    boots_suffice = boots_suffice && test.boots_needed;
    repetitions_suffice = repetitions_suffice && test.repetitions_needed;
  }
  summary.median_detectable = middle_of(detectable);
  if (!changes.empty()) summary.geometric_change = change_of(mean(changes));
  summary.rows_in_mean = changes.size();
  // Enough for every unresolved row, not for half of them.
  if (boots_suffice && !boots.empty()) {
    summary.boots_needed = *std::max_element(boots.begin(), boots.end());
  }
  if (repetitions_suffice && !repetitions.empty()) {
    summary.repetitions_needed = *std::max_element(repetitions.begin(), repetitions.end());
  }
  return summary;
}

void say_about_rows(const Table& table, const BenchmarkDifferences& differences,
                    Comparison& comparison) {
  const char* what = comparison.options.same_kernel_allowed ? "" : "no verdict in ";
  for (const auto& [text, count] : differences) {
    comparison.warnings.push_back(
        fmt::format("{}: {}{} row{}", text, what, count, count == 1 ? "" : "s"));
  }
  if (!table.missing.empty()) {
    const std::size_t shown = std::min<std::size_t>(table.missing.size(), 4);
    comparison.warnings.push_back(fmt::format(
        "not on every side: {}{}",
        fmt::join(table.missing.begin(), table.missing.begin() + static_cast<std::ptrdiff_t>(shown),
                  ", "),
        table.missing.size() > shown ? fmt::format(" and {} more", table.missing.size() - shown)
                                     : ""));
  }
}

/// More than the kernel differs in a way that is known to move results.
void say_about_environment(Comparison& comparison) {
  constexpr int serious = 6;
  const auto count = std::count_if(
      comparison.environment.begin(), comparison.environment.end(),
      [](const EnvironmentDifference& difference) { return difference.suspicion >= serious; });
  if (count > 0) {
    comparison.warnings.emplace_back(
        "more than the kernel differs (see below): a change cannot be put down to the kernel "
        "alone");
  }
  const std::string build = build_difference(comparison.environment);
  if (!build.empty()) comparison.warnings.push_back(build);
}

/// Of each row so many; more nobody reads.
constexpr std::size_t most_moves = 6;

void add_counter_moves(const std::vector<Side>& sides, Comparison& comparison) {
  for (ComparedRow& row : comparison.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      row.cells[c].moves = find_counter_moves(sides[0], sides[c + 1], row.name, most_moves);
    }
  }
}

}  // namespace

Comparison compare_sides(const std::vector<Side>& sides, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  const std::vector<std::string> keys = make_keys(sides.size());
  Table table = make_table(sides, keys, options.only);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    comparison.columns.push_back(make_column(sides[i], keys[i], table, i));
  }
  for (TableRow& row : table.rows) comparison.rows.push_back(make_row(row));

  const SideChecks checks = check_sides(sides, keys, options);
  comparison.warnings = checks.warnings;
  BenchmarkDifferences differences;
  const std::vector<RowData> questions = make_questions(table, comparison.rows, checks.refusals,
                                                        options.same_kernel_allowed, differences);
  say_about_rows(table, differences, comparison);
  comparison.environment = find_environment_differences(sides);
  say_about_environment(comparison);

  if (options.signature) add_counter_moves(sides, comparison);
  const std::vector<RowTest> tests = judge(questions, options.judge);
  std::size_t next = 0;
  for (ComparedRow& row : comparison.rows) {
    for (Cell& cell : row.cells) cell.test = tests[next++];
  }
  comparison.summaries = summarise_columns(comparison.rows);
  comparison.left_out_trials = std::move(table.left_out);
  return comparison;
}

std::vector<ColumnSummary> summarise_columns(const std::vector<ComparedRow>& rows) {
  std::vector<ColumnSummary> summaries;
  for (std::size_t column = 0; !rows.empty() && column < rows.front().cells.size(); ++column) {
    summaries.push_back(summarise_column(rows, column));
  }
  return summaries;
}

int exit_status(const Comparison& comparison) {
  bool unresolved = false;
  for (const ColumnSummary& summary : comparison.summaries) {
    if (summary.worse > 0) return 1;
    unresolved = unresolved || summary.unresolved > 0 || summary.invalid > 0;
  }
  return unresolved ? 125 : 0;
}

}  // namespace krepro
