// Text of the comparison; see report.h. The JSON is in report_json.cpp.
#include "suite/fidelity/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/base/units.h"

namespace krepro::fidelity {

namespace {

constexpr std::size_t columns = 78;

std::string figure(const std::optional<double>& value, const std::string& unit) {
  if (!value) return "-";
  if (unit == "x") return fmt::format("x {:.3f}", *value);
  if (unit == "1" || unit.empty()) return fmt::format("{:.4f}", *value);
  return format_value(*value, unit);
}

std::string finding_line(const Finding& finding) {
  std::string ratio = "-";
  std::string interval = "-";
  std::string blocks;
  if (finding.estimate && finding.estimate->blocks > 0) {
    ratio = fmt::format("{:.3f}", finding.estimate->ratio);
    blocks = fmt::format("{}", finding.estimate->blocks);
    if (finding.estimate->interval) {
      interval = fmt::format("{:.3f}-{:.3f}", finding.estimate->interval->low,
                             finding.estimate->interval->high);
    }
  }
  std::string line = fmt::format("  {:<26}{:>11}{:>11}{:>8}{:>14}{:>4}", finding.quantity,
                                 figure(finding.original, finding.unit),
                                 figure(finding.ours, finding.unit), ratio, interval, blocks);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string modes_line(const char* side, const std::optional<ModePair>& modes) {
  if (!modes) return {};
  return fmt::format("    {}: two modes, {} ({:.0f} % of the runs) and {} ({:.0f} %)\n", side,
                     format_value(modes->low_median, "s"), modes->low_share * 100,
                     format_value(modes->high_median, "s"), (1 - modes->low_share) * 100);
}

/// A difference of two counts of nearly nothing may lie below zero: no "-0.000".
double shown(double calls) { return std::abs(calls) < 0.0005 ? 0 : calls; }

std::string calls_text(const std::vector<CallComparison>& calls) {
  if (calls.empty()) return {};
  std::string text = "by name:";
  for (const CallComparison& call : calls) {
    const bool alike = call.verdict == Verdict::same || call.name == "other";
    text += alike ? fmt::format(" {} {:.3f}", call.name, shown(call.ours.median))
                  : fmt::format(" {} {:.3f} against {:.3f}", call.name, shown(call.ours.median),
                                shown(call.original.median));
    text += &call == &calls.back() ? "" : ",";
  }
  return "    " + wrap(text, columns, 6) + "\n";
}

std::size_t count_of(const std::vector<RowResult>& rows, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const RowResult& row) { return row.verdict == verdict; }));
}

std::string head_line(const char* what, const std::string& text) {
  return fmt::format("{:<10}", what) + wrap(text, columns - 10, 10) + "\n";
}

}  // namespace

std::string wrap(const std::string& text, std::size_t width, std::size_t indent) {
  std::istringstream words(text);
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const std::size_t limit = width - (result.find('\n') == std::string::npos ? 0 : indent);
    if (used > 0 && used + 1 + word.size() > limit) {
      result += fmt::format("\n{:{}}", "", indent);
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::string head_text(const ReportHead& head) {
  std::string text =
      fmt::format("fidelity of {}: krepro's program against the original\n", head.generator);
  text += head_line("machine", head.machine);
  text += head_line(
      "original",
      fmt::format("{} ({}{})", head.original_version, head.original_path,
                  head.original_package.empty() ? "" : ", package " + head.original_package));
  text += head_line("ours", fmt::format("{} ({})", head.ours_version, head.ours_path));
  text += head_line("counted", fmt::format("system calls by {}; wake-ups by {}",
                                           head.calls_counted_by, head.wakeups_counted_by));
  text += head_line("order",
                    fmt::format("blocks of {} runs in ABBA order, at most {} blocks or {} "
                                "a row; seeds from {}",
                                head.settings.perturbation ? 8 : 4, head.settings.max_blocks,
                                format_duration(static_cast<double>(head.settings.max_time_ns)),
                                head.settings.seed));
  if (!head.options.empty()) {
    text += head_line("set", fmt::format("{}", fmt::join(head.options, " ")));
  }
  if (head.settings.perturbation) {
    text += head_line("change", fmt::format("{}: {}", head.settings.perturbation->name,
                                            head.settings.perturbation->explanation));
  }
  return text;
}

std::string placement_text(const ReportHead& head, Placement placement) {
  const RatioBounds bounds = time_bounds(head.about, placement);
  const std::string bounds_text = fmt::format("{:.2f} to {:.2f}", bounds.low, bounds.high);
  std::string rule;
  if (head.settings.perturbation) {
    rule = fmt::format("same = ratio of the two changes of time within {}", bounds_text);
  } else if (placement == Placement::pinned) {
    rule = fmt::format("same = time ratio within {}, each system call per {} within {:.3g} %",
                       bounds_text, head.about.operation, head.about.syscall_tolerance * 100);
  } else {
    rule = fmt::format("same = time ratio within {}, switches and wake-ups per {} within {:.3g} %",
                       bounds_text, head.about.operation, head.about.switches_tolerance * 100);
  }
  const std::string where =
      placement == Placement::pinned
          ? fmt::format("pinned to CPU {}", head.settings.pinned_cpus.to_string())
          : fmt::format("floating over CPUs {}", head.settings.floating_cpus.to_string());
  return fmt::format("\n{}\n{:<28}{:>11}{:>11}{:>8}{:>14}{:>4}\n",
                     wrap(where + ": " + rule, columns, 4), "", "original", "ours", "ratio",
                     "95 % interval", "n");
}

std::string row_text(const RowResult& row) {
  const std::string verdict = to_string(row.verdict);
  std::string text = row.name;
  text += std::string(
      columns > text.size() + verdict.size() ? columns - text.size() - verdict.size() : 1, ' ');
  text += verdict + "\n";
  for (const Finding& finding : row.findings) {
    text += finding_line(finding);
    text += modes_line("original", finding.original_modes);
    text += modes_line("ours", finding.ours_modes);
  }
  text += calls_text(row.calls);
  for (const std::string& note : row.notes) text += "    " + wrap(note, columns - 4, 4) + "\n";
  if (!row.reason.empty()) text += "    " + wrap("why: " + row.reason, columns - 4, 9) + "\n";
  return text;
}

std::string summary_text(const std::vector<RowResult>& rows) {
  const std::size_t unresolved = count_of(rows, Verdict::unresolved);
  const std::size_t differ = count_of(rows, Verdict::differs);
  std::string text = fmt::format("\n{} row{}: {} same, {} differ{}, {} unresolved\n", rows.size(),
                                 rows.size() == 1 ? "" : "s", count_of(rows, Verdict::same), differ,
                                 differ == 1 ? "s" : "", unresolved);
  if (unresolved > 0) {
    text += wrap(
                "next: for rows with too wide an interval, raise --max-time and --max-rounds, or "
                "measure on a quieter machine; two modes need --placement pinned, or more tasks",
                columns, 6) +
            "\n";
  }
  return text;
}

}  // namespace krepro::fidelity
