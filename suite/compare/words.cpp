#include "suite/compare/words.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace krepro {
namespace {

/// A counter is named when it moved by more than this.
constexpr double notable_counter_change = 0.2;

std::string method_line(const Comparison& comparison) {
  std::map<std::string, std::size_t> counts;
  for (const ComparedRow& row : comparison.rows) {
    for (const Cell& cell : row.cells) {
      if (cell.test.p) ++counts[to_string(cell.test.method)];
    }
  }
  std::vector<std::string> parts;
  for (const auto& [method, count] : counts) {
    parts.push_back(counts.size() == 1 ? method : fmt::format("{} ({} rows)", method, count));
  }
  const bool strict = comparison.options.judge.rule == Rule::strict;
  if (parts.empty()) return {};
  return fmt::format("test: {}; p adjusted over the table ({})", fmt::join(parts, ", "),
                     strict ? "Holm" : "Benjamini-Hochberg");
}

/// What it takes to find `detect` in every unresolved row.
std::string needed_text(const Comparison& comparison, std::size_t column) {
  const ColumnSummary& summary = comparison.summaries[column];
  const std::string change = percent_text(comparison.options.judge.detect);
  const std::size_t boots =
      std::min(comparison.columns[0].boots, comparison.columns[column + 1].boots);
  if (summary.boots_needed && *summary.boots_needed <= boots) {
    return fmt::format("a change of {} would have been found in every unresolved row", change);
  }
  std::vector<std::string> ways;
  if (summary.boots_needed) ways.push_back(fmt::format("{} boots a side", *summary.boots_needed));
  if (summary.repetitions_needed) {
    ways.push_back(fmt::format("{} repetitions in as many boots", *summary.repetitions_needed));
  }
  if (ways.empty()) return {};
  return fmt::format("to find a change of {} in every unresolved row: {}", change,
                     fmt::join(ways, ", or "));
}

std::string geometric_text(const ColumnSummary& summary) {
  if (!summary.geometric_change || summary.rows_in_mean < 2) return {};
  std::string text = fmt::format("geometric mean of {} rows: {:+.1f} %", summary.rows_in_mean,
                                 100 * *summary.geometric_change);
  if (!summary.left_out_of_mean.empty()) {
    text += fmt::format(" ({} left out, no ratio: {}{})", summary.left_out_of_mean.size(),
                        summary.left_out_of_mean.front(),
                        summary.left_out_of_mean.size() > 1 ? ", ..." : "");
  }
  return text + "; no verdict by itself";
}

/// "34 none": by the published rule a row is none of both where the intervals overlap; without
/// intervals it is open.
std::string overlap_counts(const Comparison& comparison, std::size_t column) {
  std::size_t none = 0;
  for (const ComparedRow& row : comparison.rows) {
    const RowTest& test = row.cells[column].test;
    if (test.verdict == Verdict::unresolved && test.method == Method::overlap) ++none;
  }
  const std::size_t open = comparison.summaries[column].unresolved - none;
  return fmt::format("{} none", none) + (open > 0 ? fmt::format(", {} unresolved", open) : "");
}

}  // namespace

std::string percent_text(double share) {
  return share < 0.995 ? fmt::format("{:.2g} %", 100 * share)
                       : fmt::format("{:.0f} %", 100 * share);
}

std::string verdict_word(const RowTest& test) {
  if (test.verdict == Verdict::unresolved) return test.method == Method::overlap ? "none" : "?";
  if (test.verdict == Verdict::invalid) return "n/a";
  return to_string(test.verdict);
}

std::string change_text(const RowTest& test) {
  if (!test.difference) return {};
  const double percent = 100 * change_of(test.difference->estimate);
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 999 ? 1 : 0);
}

std::string interval_text(const RowTest& test) {
  if (!test.interval) return {};
  const auto end = [](double log_speed) {
    const double percent = 100 * change_of(log_speed);
    return percent > 999 ? std::string(">+999") : fmt::format("{:+.1f}", percent);
  };
  return fmt::format("[{}, {}]{}", end(test.interval->low), end(test.interval->high),
                     test.method == Method::within_boot ? "w" : "");
}

std::string p_text(const RowTest& test) {
  if (!test.adjusted_p) return {};
  return *test.adjusted_p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *test.adjusted_p);
}

std::string design_text(const ColumnFacts& column) {
  if (column.boots == 0) return column.simulated ? "simulated" : "";
  const std::string repetitions =
      column.most_repetitions == column.least_repetitions
          ? std::to_string(column.least_repetitions)
          : fmt::format("{}-{}", column.least_repetitions, column.most_repetitions);
  return fmt::format("{}{} boot{} x {}{}", column.simulated ? "simulated, " : "", column.boots,
                     column.boots == 1 ? "" : "s", repetitions,
                     column.hosts > 1 ? fmt::format(", {} hosts", column.hosts) : "");
}

std::vector<std::string> legend(const Comparison& comparison) {
  const JudgeOptions& options = comparison.options.judge;
  std::vector<std::string> lines;
  lines.emplace_back("+ is better, - is worse: the change of speed (a time that doubles is -50 %)");
  if (options.rule == Rule::overlap) {
    lines.emplace_back(
        "worse (R) and better (I): the 95 % intervals of the means do not overlap; trials of all "
        "boots pooled, nothing corrected for: see docs/statistics.md for how often that is wrong");
    return lines;
  }
  lines.push_back(fmt::format("same = the interval lies within +-{}; ? = unresolved",
                              percent_text(options.tolerance)));
  if (options.rule == Rule::strict) {
    lines.push_back(
        fmt::format("the chance of any false worse or better in the table is held to {}",
                    percent_text(options.level)));
  } else {
    lines.push_back(
        fmt::format("of the rows called worse or better about {} are expected to be "
                    "false",
                    percent_text(options.level)));
  }
  if (comparison.options.signature) {
    lines.emplace_back(
        "counters under a row: what differs most against its own noise, the surest first; w = "
        "judged from trials within boots; what follows the throughput alone is left out");
  }
  if (options.paired) {
    lines.emplace_back(
        "paired: the verdict is about the setting in these boots, not about a kernel");
  }
  return lines;
}

std::vector<std::string> summary_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  const std::size_t rows = comparison.rows.size();
  for (std::size_t i = 0; i < comparison.summaries.size(); ++i) {
    const ColumnSummary& summary = comparison.summaries[i];
    const std::string& key = comparison.columns[i + 1].key;
    std::string line = fmt::format("{}: {} of {} row{} worse, {} better, ", key, summary.worse,
                                   rows, rows == 1 ? "" : "s", summary.better);
    line += comparison.options.judge.rule == Rule::overlap
                ? overlap_counts(comparison, i)
                : fmt::format("{} same, {} unresolved", summary.same, summary.unresolved);
    if (summary.invalid > 0) line += fmt::format(", {} without a ratio", summary.invalid);
    lines.push_back(line);
    if (summary.median_detectable) {
      lines.push_back(fmt::format("   smallest change that this data could show: {} (power 80 %{})",
                                  percent_text(*summary.median_detectable),
                                  rows > 1 ? ", median over rows" : ""));
    }
    const std::string needed = needed_text(comparison, i);
    if (!needed.empty()) lines.push_back("   " + needed);
    const std::string geometric = geometric_text(summary);
    if (!geometric.empty()) lines.push_back("   " + geometric);
    const std::vector<CounterChange> counters = largest_counter_changes(comparison, i, 4);
    std::vector<std::string> parts;
    for (const CounterChange& counter : counters) {
      parts.push_back(
          fmt::format("{} {:.3g} -> {:.3g}", counter.name, counter.base, counter.other));
    }
    if (!parts.empty()) {
      lines.push_back(fmt::format("   largest movers among the counters, per operation: {}",
                                  fmt::join(parts, "; ")));
    }
  }
  const std::string method = method_line(comparison);
  if (!method.empty()) lines.push_back(method);
  return lines;
}

std::vector<std::string> reason_lines(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const ComparedRow& row : comparison.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const RowTest& test = row.cells[i].test;
      // What the legend says already needs no line of its own.
      const bool plain =
          test.verdict == Verdict::unresolved && (test.p || test.method == Method::overlap);
      if (test.reason.empty() || plain) continue;
      const std::string text =
          fmt::format("{} {}: {}", comparison.columns[i + 1].key, verdict_word(test), test.reason);
      const auto known = std::find_if(reasons.begin(), reasons.end(),
                                      [&](const auto& reason) { return reason.first == text; });
      if (known == reasons.end()) {
        reasons.push_back({text, {row.name}});
      } else {
        known->second.push_back(row.name);
      }
    }
  }
  std::vector<std::string> lines;
  for (const auto& [text, names] : reasons) {
    lines.push_back(names.size() == 1 ? fmt::format("{} ({})", text, names.front())
                                      : fmt::format("{} ({} rows)", text, names.size()));
  }
  return lines;
}

std::vector<std::string> row_notes(const Comparison& comparison, const ComparedRow& row) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& key, const std::vector<std::string>& list) {
    if (!list.empty()) notes.push_back(fmt::format("{}: {}", key, fmt::join(list, "; ")));
  };
  add(comparison.columns[0].key, row.base_notes);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    add(comparison.columns[i + 1].key, row.cells[i].notes);
    for (const CounterMove& move : row.cells[i].moves) {
      add(comparison.columns[i + 1].key, {move_text(move)});
    }
    if (comparison.options.signature && row.cells[i].moves.empty()) {
      add(comparison.columns[i + 1].key, {"no counter differs beyond its noise"});
    }
  }
  return notes;
}

std::vector<std::string> against_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  if (!comparison.against) return lines;
  const Against& against = *comparison.against;
  lines.push_back("against " + against.source);
  lines.insert(lines.end(), against.notes.begin(), against.notes.end());
  std::vector<std::string> counts;
  for (const char* verdict : {"reproduced", "not reproduced", "unresolved", "not comparable"}) {
    const auto count = std::count_if(against.rows.begin(), against.rows.end(),
                                     [&](const AgainstRow& row) { return row.verdict == verdict; });
    counts.push_back(fmt::format("{} {}", count, verdict));
  }
  lines.push_back(fmt::format("of {} rows: {}", against.rows.size(), fmt::join(counts, ", ")));
  std::vector<std::string> reasons;
  for (const AgainstRow& row : against.rows) {
    if (row.verdict == "not comparable" &&
        std::find(reasons.begin(), reasons.end(), row.reason) == reasons.end()) {
      reasons.push_back(row.reason);
    }
  }
  for (const std::string& reason : reasons) lines.push_back("not comparable: " + reason);
  if (!against.missing.empty()) {
    lines.push_back(fmt::format("{} published rows were not measured: {}{}", against.missing.size(),
                                against.missing.front(),
                                against.missing.size() > 1 ? ", ..." : ""));
  }
  return lines;
}

const RowTest* measured_test(const Comparison& comparison, const AgainstRow& row) {
  for (std::size_t c = 0; c + 1 < comparison.columns.size(); ++c) {
    if (comparison.columns[c + 1].key != row.column) continue;
    for (const ComparedRow& compared : comparison.rows) {
      if (compared.name == row.name) return &compared.cells[c].test;
    }
  }
  return nullptr;
}

std::vector<CounterChange> largest_counter_changes(const Comparison& comparison, std::size_t column,
                                                   std::size_t limit) {
  std::map<std::string, CounterChange> sums;
  double base_operations = 0;
  double other_operations = 0;
  for (const ComparedRow& row : comparison.rows) {
    const DetailFacts& base = row.details[0];
    const DetailFacts& other = row.details[column + 1];
    if (base.operations <= 0 || other.operations <= 0) continue;
    base_operations += base.operations;
    other_operations += other.operations;
    for (const auto& [name, sum] : base.counters) sums[name].base += sum;
    for (const auto& [name, sum] : other.counters) sums[name].other += sum;
  }
  std::vector<CounterChange> changes;
  for (auto& [name, change] : sums) {
    // Absent or idle on a side: a ratio would say nothing.
    if (change.base <= 0 || change.other <= 0) continue;
    change.name = name;
    change.base /= base_operations;
    change.other /= other_operations;
    if (std::abs(std::log(change.other / change.base)) > std::log1p(notable_counter_change)) {
      changes.push_back(change);
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const CounterChange& left, const CounterChange& right) {
              return std::abs(std::log(left.other / left.base)) >
                     std::abs(std::log(right.other / right.base));
            });
  if (changes.size() > limit) changes.resize(limit);
  return changes;
}

}  // namespace krepro
