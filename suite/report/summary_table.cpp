// The rows as text for a terminal or a mail.
#include "suite/report/summary_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace krepro {
namespace {

constexpr std::size_t line_width = 78;
constexpr std::size_t fewest_for_interval = 3;
constexpr std::size_t narrowest_name = 30;
constexpr std::size_t widest_name = 42;

std::string percent(std::optional<double> share, const char* sign) {
  if (!share || !std::isfinite(*share)) return "-";
  const double value = 100 * std::abs(*share);
  return value < 99.95 ? fmt::format("{}{:.1f} %", sign, value)
                       : fmt::format("{}{:.0f} %", sign, value);
}

std::string count_text(const SummaryRow& row) {
  if (!row.by_boot) return fmt::format("{}", row.values.size());
  const std::size_t each = row.values.size() / row.boots;
  if (each * row.boots != row.values.size()) return fmt::format("{}b", row.boots);
  return fmt::format("{}x{}", row.boots, each);
}

/// Names and headings share one column, so that all families align.
std::size_t name_width(const std::vector<SummaryRow>& rows) {
  std::size_t width = narrowest_name;
  for (const SummaryRow& row : rows) {
    width = std::max({width, row.name.size() + 2, row.family.size()});
  }
  return std::min(width, widest_name);
}

/// `text` in the name column; where it is too long, on a line of its own.
std::string name_column(const std::string& text, std::size_t width) {
  if (text.size() <= width) return fmt::format("{:<{}}", text, width);
  return fmt::format("{}\n{:<{}}", text, "", width);
}

std::string heading(const std::string& family, std::size_t width) {
  return fmt::format("{}{:>11}{:>10}{:>8}{:>4}\n", name_column(family, width), "mean", "95 % CI",
                     "CV", "n");
}

std::string row_text(const SummaryRow& row, std::size_t width) {
  const bool any = !row.values.empty();
  const bool interval = row.summary.count >= fewest_for_interval;
  std::string line = fmt::format(
      "{}{:>11}{:>10}{:>8}{:>4}", name_column("  " + row.name, width),
      any ? format_figure(row.summary.mean) : "-",
      interval ? percent(row.summary.relative_half_width(), "+-") : "-",
      interval ? percent(row.summary.coefficient_of_variation(), "") : "-", count_text(row));
  std::string notes;
  for (const std::string& note : row.notes) notes += (notes.empty() ? "" : ", ") + note;
  if (notes.empty()) return line + "\n";
  const std::size_t start = line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1;
  if (line.size() - start + 2 + notes.size() <= line_width) return line + "  " + notes + "\n";
  return line + "\n" + wrap_text("      " + notes, "      ") + "\n";
}

/// What a note of the table means, where it occurs.
std::string legend(const std::vector<SummaryRow>& rows, const RunFile& file) {
  const auto any = [&rows](auto condition) {
    return std::any_of(rows.begin(), rows.end(), condition);
  };
  const auto noted = [&any](const std::string& start) {
    return any([&start](const SummaryRow& row) {
      return std::any_of(row.notes.begin(), row.notes.end(),
                         [&start](const std::string& note) { return note.starts_with(start); });
    });
  };
  std::string text;
  const auto add = [&text](const std::string& line) { text += wrap_text(line, "  ") + "\n"; };
  if (any([](const SummaryRow& row) {
        return !row.values.empty() && row.summary.count < fewest_for_interval;
      })) {
    add("-: fewer than 3 values say nothing of their spread");
  }
  if (noted("two modes")) {
    add("two modes: the values form two groups, and the mean describes neither; look at the single "
        "values in the file");
  }
  if (noted("drift")) add("drift: the values moved with time while the run went on");
  if (noted("steal in")) {
    add("steal: the virtual machine's host took more than 1 % of the CPU time of so many trials");
  }
  if (any([](const SummaryRow& row) { return row.by_boot; })) {
    add("n = boots x repetitions; intervals are between boots");
  } else if (noted("2 boots")) {
    add("2 boots: intervals are within boots; between kernels 3 boots or more count");
  }
  if (file.plan.fitted) {
    add("scaled to this machine (--fit): not comparable with the published figures");
  }
  return text;
}

/// {1, 2, 3, 5} -> "repetitions 1-3, 5"
std::string repetitions_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = ++last) {
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
  }
  return fmt::format("repetition{} {}", numbers.size() > 1 ? "s" : "", text);
}

/// Trials of a row that share a reason make one line.
std::string left_out(const RunFile& file) {
  struct Group {
    const RecordedTrial* first;
    std::vector<std::int64_t> repetitions;  ///< From 1; empty: a warm-up.
  };
  std::vector<Group> groups;
  for (const RecordedTrial* trial : file.final_trials()) {
    if (trial->valid()) continue;
    const auto alike = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.first->benchmark == trial->benchmark && group.first->warmup == trial->warmup &&
             group.first->status == trial->status && group.first->reason == trial->reason;
    });
    Group& group = alike != groups.end() ? *alike : groups.emplace_back(Group{trial, {}});
    if (!trial->warmup) group.repetitions.push_back(trial->repetition + 1);
  }
  std::string text;
  for (const Group& group : groups) {
    text += wrap_text(fmt::format("  {}, {}: {}{}{}", group.first->benchmark,
                                  group.repetitions.empty() ? std::string("warm-up")
                                                            : repetitions_text(group.repetitions),
                                  group.first->status, group.first->reason.empty() ? "" : ": ",
                                  group.first->reason),
                      "    ") +
            "\n";
  }
  for (const SkippedBenchmark& skipped : file.plan.skipped) {
    text += wrap_text(fmt::format("  {}: not run here: {}", skipped.name, skipped.reason), "    ") +
            "\n";
  }
  return text.empty() ? text : "left out:\n" + text;
}

std::string unfinished(const RunFile& file) {
  const std::size_t boots = file.simulated ? std::max<std::size_t>(1, file.boots.size()) : 1;
  const std::size_t planned = file.plan.trials.size() * boots;
  std::size_t recorded = 0;
  for (const RecordedTrial* trial : file.final_trials()) {
    if (trial->status != "truncated") ++recorded;
  }
  std::string text;
  if (file.torn) text += "the file's last line is torn, and left out\n";
  if (recorded < planned) {
    text += fmt::format("unfinished: {} of {} trials; to go on:\n  krepro run --resume {}\n",
                        recorded, planned, file.path.string());
  }
  return text;
}

}  // namespace

std::string format_figure(double value) {
  const double size = std::abs(value);
  if (value == 0) return "0";
  if (size >= 1e11 || size < 1e-4) return fmt::format("{:.3e}", value);
  if (size >= 1000) return fmt::format("{:.0f}", value);
  const int decimals = 3 - static_cast<int>(std::floor(std::log10(size)));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string wrap_text(const std::string& text, const std::string& indent) {
  std::string result = text.substr(0, text.find_first_not_of(' '));
  std::size_t column = result.size();
  bool start_of_line = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!start_of_line && column + 1 + word.size() > line_width) {
      result += "\n" + indent;
      column = indent.size();
      start_of_line = true;
    }
    if (!start_of_line) result += ' ';
    column += word.size() + (start_of_line ? 0 : 1);
    result += word;
    start_of_line = false;
  }
  return result;
}

std::string summary_text(const RunFile& file) {
  const std::vector<SummaryRow> rows = summarise_rows(file);
  const std::size_t width = name_width(rows);
  std::string text;
  if (file.simulated) text += "SIMULATED boots: figures of the null generator, of no kernel\n\n";
  std::vector<std::string> families;
  for (const SummaryRow& row : rows) {
    if (std::find(families.begin(), families.end(), row.family) == families.end()) {
      families.push_back(row.family);
    }
  }
  for (const std::string& family : families) {
    text += heading(family, width);
    for (const SummaryRow& row : rows) {
      if (row.family == family) text += row_text(row, width);
    }
  }
  for (const std::string& part : {legend(rows, file), left_out(file), unfinished(file)}) {
    if (!part.empty()) text += "\n" + part;
  }
  return text;
}

}  // namespace krepro
