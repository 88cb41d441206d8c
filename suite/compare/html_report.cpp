// The comparison as one html file: no network, no script; `<details>` opens what a row holds.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "suite/compare/html_plots.h"
#include "suite/compare/reports.h"
#include "suite/compare/words.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

constexpr const char* style = R"css(
:root{--back:#fff;--text:#1b1b1b;--soft:#666;--line:#ddd;--card:#f6f6f4;--band:#e4e4df;
--worse:#b3261e;--better:#1d6b33;--same:#4a5560;--open:#8a6d00;
--s0:#555;--s1:#b0561c;--s2:#1f5fa8;--s3:#7b3fa0;--s4:#0c7c74;--s5:#a8326e}
@media (prefers-color-scheme:dark){:root{--back:#16181a;--text:#e6e6e3;--soft:#a2a2a0;--line:#3a3d40;
--card:#1f2225;--band:#33373b;--worse:#ff8a80;--better:#7fd693;--same:#b4c0cb;--open:#e3c35a;
--s0:#b8b8b8;--s1:#f0a06a;--s2:#7db4f2;--s3:#c79be6;--s4:#5fd0c6;--s5:#f08fc0}}
@media print{:root{--back:#fff;--text:#000;--soft:#444;--line:#bbb;--card:#fff}details{display:none}
.row{break-inside:avoid}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--back);color:var(--text);
font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.3rem;margin:.2rem 0 1rem}h2{font-size:1.05rem;margin:1.6rem 0 .4rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;
border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}
ul{padding-left:1.2rem}li.part{list-style:none;margin-left:1rem}
.scroll{overflow-x:auto}
.warning{border-left:4px solid var(--open);background:var(--card);padding:.4rem .7rem;margin:.4rem 0}
.soft{color:var(--soft);font-size:.9rem}
.row{border-top:1px solid var(--line);padding:.5rem 0}
.head{display:flex;flex-wrap:wrap;gap:.2rem 1rem;justify-content:space-between}
.name{font-weight:600;overflow-wrap:anywhere}
.cells{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,24rem),1fr));
gap:.2rem 1.6rem}
.cell{display:grid;grid-template-columns:1rem 4.4rem minmax(5rem,1fr) 9.6rem;align-items:center;
gap:.5rem;min-width:0}
.cell svg{height:auto}
.cell .key{color:var(--soft)}
.num{font-variant-numeric:tabular-nums;white-space:nowrap}
.cell .num{text-align:right}
.word{font-weight:600;white-space:nowrap}
.cell .range{display:block;font-size:.8rem;color:var(--soft);text-align:left}
.word.worse,.word.stopped{color:var(--worse)}.word.better{color:var(--better)}
.word.same{color:var(--same)}.word.unresolved{color:var(--open)}
details{margin:.3rem 0}summary{cursor:pointer;color:var(--soft);font-size:.9rem}
svg{display:block;width:100%;max-width:35rem;height:auto}
svg text{fill:var(--soft);font:11px system-ui,sans-serif}
.band{fill:var(--band)}.axis{stroke:var(--soft);stroke-width:1}.grid{stroke:var(--line);stroke-width:1}
.interval{stroke:var(--open);stroke-width:2.5;fill:none}.point{fill:var(--open)}
.interval.worse{stroke:var(--worse)}.interval.better{stroke:var(--better)}.interval.same{stroke:var(--same)}
.point.worse{fill:var(--worse)}.point.better{fill:var(--better)}.point.same{fill:var(--same)}
.curve{fill:none;stroke-width:1.6}.dot{opacity:.75}
.dot.s0{fill:var(--s0)}.dot.s1{fill:var(--s1)}.dot.s2{fill:var(--s2)}.dot.s3{fill:var(--s3)}
.dot.s4{fill:var(--s4)}.dot.s5{fill:var(--s5)}
.curve.s0{stroke:var(--s0)}.curve.s1{stroke:var(--s1)}.curve.s2{stroke:var(--s2)}
.curve.s3{stroke:var(--s3)}.curve.s4{stroke:var(--s4)}.curve.s5{stroke:var(--s5)}
)css";

std::string word_class(const RowTest& test) {
  switch (test.verdict) {
    case Verdict::unresolved:
      return "unresolved";
    case Verdict::invalid:
      return "invalid";
    default:
      return to_string(test.verdict);
  }
}

std::string sides_table(const Comparison& comparison) {
  std::string text =
      "<div class=\"scroll\"><table><tr><th></th><th>label</th><th>design</th><th>kernel</th>"
      "<th>machine</th></tr>\n";
  for (const ColumnFacts& column : comparison.columns) {
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_escape(column.key), html_escape(column.label),
                        html_escape(design_text(column)), html_escape(column.kernel),
                        html_escape(column.machine));
  }
  return text + "</table></div>\n";
}

std::string environment_table(const Comparison& comparison) {
  if (comparison.environment.empty()) return {};
  std::string text =
      "<h2>Differs besides the kernel</h2>\n<div class=\"scroll\"><table><tr><th></th>";
  for (const ColumnFacts& column : comparison.columns) {
    text += "<th>" + html_escape(column.key) + "</th>";
  }
  text += "</tr>\n";
  for (const EnvironmentDifference& difference : comparison.environment) {
    text += "<tr><td>" + html_escape(difference.item) + "</td>";
    for (const std::string& value : difference.values) {
      const std::string shown = value.size() > 300 ? value.substr(0, 300) + "..." : value;
      text += "<td>" + html_escape(shown == "-" ? "(absent)" : shown) + "</td>";
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string cell_html(const Cell& cell, const ColumnFacts& column, double extent,
                      double tolerance) {
  const RowTest& test = cell.test;
  std::string under = interval_text(test);
  if (const std::string p = p_text(test); !p.empty()) under += " p " + p;
  return fmt::format(
      "<div class=\"cell\"><span class=\"key\">{}</span><span class=\"num\">{}</span>{}"
      "<span><span class=\"word {}\">{}</span><span class=\"range num\">{}</span></span></div>\n",
      html_escape(column.key), html_escape(change_text(test)),
      test.difference ? interval_plot(test, extent, tolerance) : "<span></span>", word_class(test),
      html_escape(verdict_word(test)), html_escape(under));
}

std::string row_details(const Comparison& comparison, const ComparedRow& row) {
  std::string text = "<details><summary>trials, latency, notes</summary>\n";
  text += trials_plot(row, comparison.columns);
  std::set<std::string> histograms;
  for (const DetailFacts& details : row.details) {
    for (const auto& [name, histogram] : details.latency) histograms.insert(name);
  }
  for (const std::string& name : histograms) {
    const std::string plot = latency_plot(row, comparison.columns, name);
    if (!plot.empty()) text += "<p class=\"soft\">latency: " + html_escape(name) + "</p>" + plot;
  }
  const std::string series = series_plot(row, comparison.columns);
  if (!series.empty()) text += "<p class=\"soft\">operations per second</p>" + series;
  text += "<p class=\"soft\">";
  if (row.base_median) text += "base: median " + format_figure(*row.base_median);
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const Cell& cell = row.cells[i];
    text += fmt::format("<br>{}: ", comparison.columns[i + 1].key);
    if (cell.median) text += fmt::format("median {}, ", format_figure(*cell.median));
    text += to_string(cell.test.method);
    if (cell.test.minimum_detectable) {
      text += ", could have shown " + percent_text(*cell.test.minimum_detectable);
    }
    if (!cell.test.reason.empty()) text += "; " + html_escape(cell.test.reason);
  }
  return text + "</p></details>\n";
}

std::string row_html(const Comparison& comparison, const ComparedRow& row, double extent) {
  std::string text = fmt::format(
      "<div class=\"row\"><div class=\"head\"><span class=\"name\">{}</span>"
      "<span class=\"num soft\">base {} {}</span></div>\n<div class=\"cells\">",
      html_escape(row.name), row.base_value ? format_figure(*row.base_value) : "-",
      html_escape(row.unit));
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    text += cell_html(row.cells[i], comparison.columns[i + 1], extent,
                      comparison.options.judge.tolerance);
  }
  text += "</div>\n";
  for (const std::string& note : row_notes(comparison, row)) {
    text += "<div class=\"soft\">" + html_escape(note) + "</div>\n";
  }
  return text + row_details(comparison, row) + "</div>\n";
}

std::string counters_table(const Comparison& comparison) {
  std::string text;
  for (std::size_t i = 0; i + 1 < comparison.columns.size(); ++i) {
    const std::vector<CounterChange> changes = largest_counter_changes(comparison, i, 20);
    if (changes.empty()) continue;
    text += fmt::format(
        "<h2>Counters that moved under {}, per operation</h2>\n<table><tr><th></th><th>base</th>"
        "<th>{}</th><th>ratio</th></tr>\n",
        html_escape(comparison.columns[i + 1].key), html_escape(comparison.columns[i + 1].key));
    for (const CounterChange& change : changes) {
      text += fmt::format("<tr><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{:.2f}</td></tr>\n",
                          html_escape(change.name), change.base, change.other,
                          change.other / change.base);
    }
    text += "</table>\n";
  }
  return text;
}

std::string list_html(const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string text = heading.empty() ? "" : "<h2>" + heading + "</h2>\n";
  text += "<ul>\n";
  for (const std::string& line : lines) {
    // What is indented belongs to the line before it.
    text += line.starts_with(' ') ? "<li class=\"part\">" : "<li>";
    text += html_escape(line) + "</li>\n";
  }
  return text + "</ul>\n";
}

std::string against_html(const Comparison& comparison) {
  if (!comparison.against) return {};
  std::string text = list_html("Against what was published", against_lines(comparison));
  text +=
      "<div class=\"scroll\"><table><tr><th></th><th>row</th><th>published</th><th>measured</th>"
      "<th>95 % interval</th><th></th></tr>\n";
  for (const AgainstRow& row : comparison.against->rows) {
    const RowTest* test = measured_test(comparison, row);
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"num\">{:+.1f} % {}</td><td class=\"num\">{}</td>"
        "<td class=\"num\">{}</td><td>{}{}{}</td></tr>\n",
        row.column, html_escape(row.name), row.published_percent, row.published_mark,
        test == nullptr ? "" : change_text(*test), test == nullptr ? "" : interval_text(*test),
        row.verdict, row.reason.empty() ? "" : ": ", html_escape(row.reason));
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string html_report(const Comparison& comparison) {
  std::string title = "krepro: " + comparison.columns[0].label + " against";
  for (std::size_t i = 1; i < comparison.columns.size(); ++i) {
    title += (i == 1 ? " " : ", ") + comparison.columns[i].label;
  }
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
      html_escape(title) + "</title>\n<style>" + style + "</style></head><body>\n<h1>" +
      html_escape(title) + "</h1>\n";
  text += sides_table(comparison);
  for (const std::string& warning : comparison.warnings) {
    text += "<p class=\"warning\">" + html_escape(warning) + "</p>\n";
  }
  text += environment_table(comparison);
  text += "<h2>In short</h2>\n" + list_html("", summary_lines(comparison));
  text += list_html("", reason_lines(comparison));
  text += "<p class=\"soft\">";
  for (const std::string& line : legend(comparison)) text += html_escape(line) + "<br>";
  text += "shaded: the tolerance; line: 95 % interval of this row alone; arrow: it goes on</p>\n";
  std::vector<std::string> families;
  for (const ComparedRow& row : comparison.rows) {
    if (std::find(families.begin(), families.end(), row.family) == families.end()) {
      families.push_back(row.family);
    }
  }
  for (const std::string& family : families) {
    const double extent = common_extent(comparison, family);
    text += fmt::format("<h2>{} <span class=\"soft\">scale {:+.0f} % to {:+.0f} %</span></h2>\n",
                        html_escape(family.empty() ? "other" : family), 100 * change_of(-extent),
                        100 * change_of(extent));
    for (const ComparedRow& row : comparison.rows) {
      if (row.family == family) text += row_html(comparison, row, extent);
    }
  }
  text += against_html(comparison);
  text += counters_table(comparison);
  text += list_html("Notes", comparison.notes);
  text += list_html("Trials that do not count", comparison.left_out_trials);
  return text + "</body></html>\n";
}

}  // namespace krepro
