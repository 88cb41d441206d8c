// Sums over trials and their table.
#include "suite/report/signature_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/base/units.h"
#include "suite/counters/counter_table.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

/// The trials of one row so far.
struct RowSums {
  std::size_t trials = 0;
  double operations = 0;
  double seconds = 0;
  std::map<std::string, double> values;
  std::map<std::string, std::string> absent;

  void add(const RecordedTrial& trial) {
    const FlatCounters counters = flatten_counters(trial.counters);
    ++trials;
    seconds += counters.seconds;
    const auto count = trial.sample.find("operations");
    if (count != trial.sample.end() && count->is_number()) operations += count->get<double>();
    for (const auto& [name, value] : counters.values) values[name] += value;
    absent.insert(counters.absent.begin(), counters.absent.end());
  }
};

std::string row_key(const RunFile& file, const RecordedTrial& trial) {
  if (trial.label.empty() || trial.label == file.label) return trial.benchmark;
  const bool longer = trial.label.starts_with(file.label);
  return fmt::format("{} {}", trial.benchmark,
                     longer ? trial.label.substr(file.label.size()) : trial.label);
}

std::string figure(double value, CounterKind kind) {
  if (value == 0) return "-";
  switch (kind) {
    case CounterKind::time:
      return format_figure(value) + " ns";
    case CounterKind::bytes:
      return format_figure(value) + " B";
    case CounterKind::share:
      return fmt::format("{:.1f} %", 100 * value);
    case CounterKind::events:
      break;
  }
  return format_figure(value);
}

std::string line_text(const SignatureLine& line, const CounterWords& words) {
  constexpr std::size_t width = 36;
  std::string text = "    " + words.text;
  if (text.size() > width) text += fmt::format("\n{:<{}}", "", width);
  const bool share = words.kind == CounterKind::share;
  text = fmt::format(
      "{:<{}}{:>14}{:>14}{:>14}", text, width, share ? "" : figure(line.per_trial, words.kind),
      figure(line.per_second, words.kind), share ? "" : figure(line.per_operation, words.kind));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string row_text(const RowSignature& row) {
  std::string heading = fmt::format("{}: {} trial{}, a window of {} each", row.row, row.trials,
                                    row.trials == 1 ? "" : "s", format_duration(row.seconds * 1e9));
  if (row.operations > 0) heading += fmt::format(", {} operations", format_figure(row.operations));
  std::string text = wrap_text(heading, "  ") + "\n";
  text += fmt::format("{:<36}{:>14}{:>14}{:>14}\n", "", "per trial", "per second", "per operation");
  for (const std::string& group : counter_groups()) {
    std::string lines;
    for (const SignatureLine& line : row.lines) {
      const CounterWords words = counter_words(line.name);
      if (words.group == group) lines += line_text(line, words);
    }
    if (!lines.empty()) text += fmt::format("  {}\n{}", group, lines);
  }
  return text;
}

}  // namespace

std::vector<RowSignature> signatures_of(const RunFile& file) {
  std::vector<std::string> order;
  std::map<std::string, RowSums> rows;
  for (const RecordedTrial* trial : file.final_trials()) {
    if (!trial->valid() || trial->warmup) continue;
    const std::string key = row_key(file, *trial);
    if (!rows.contains(key)) order.push_back(key);
    rows[key].add(*trial);
  }
  std::vector<RowSignature> result;
  for (const std::string& key : order) {
    const RowSums& sums = rows.at(key);
    const auto trials = static_cast<double>(sums.trials);
    RowSignature row{key, sums.trials, sums.operations / trials, sums.seconds / trials,
                     {},  sums.absent};
    for (const auto& [name, sum] : sums.values) {
      const bool share = counter_words(name).kind == CounterKind::share;
      SignatureLine line;
      line.name = name;
      line.per_trial = sum / trials;
      if (sums.seconds > 0) line.per_second = sum / sums.seconds;
      if (share) line.per_second = line.per_trial;
      if (sums.operations > 0) line.per_operation = sum / sums.operations;
      row.lines.push_back(std::move(line));
    }
    result.push_back(std::move(row));
  }
  return result;
}

std::string signature_text(const RunFile& file) {
  const std::vector<RowSignature> rows = signatures_of(file);
  if (rows.empty()) return "no valid trial: nothing moved\n";
  std::string text;
  std::map<std::string, std::string> absent;
  for (const RowSignature& row : rows) {
    text += row_text(row) + "\n";
    absent.insert(row.absent.begin(), row.absent.end());
  }
  text += wrap_text(
              "of the whole host, unless it says tasks; what is not listed did not move. Counters "
              "that could not be had:",
              "") +
          "\n";
  if (absent.empty()) text += "  none\n";
  for (const auto& [name, reason] : absent) {
    text += wrap_text(fmt::format("  {}: {}", name, reason), "    ") + "\n";
  }
  return text;
}

}  // namespace krepro
