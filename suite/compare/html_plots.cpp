#include "suite/compare/html_plots.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/units.h"
#include "suite/compare/rows.h"
#include "suite/compare/words.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

constexpr double plot_width = 560;
constexpr double left_margin = 64;
constexpr double right_margin = 12;
/// Dots of one boot and points of one line: what is drawn is thinned, never what is computed.
constexpr std::size_t most_dots = 40;
constexpr std::size_t most_points = 120;
constexpr std::size_t most_series = 3;

std::string side_class(std::size_t side) { return fmt::format("s{}", side % 6); }

std::string svg(double height, const std::string& title, const std::string& body,
                double width = plot_width) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-label=\"{2}\">{3}</svg>\n", width,
      height, html_escape(title), body);
}

std::string text_at(double x, double y, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y, anchor,
                     html_escape(text));
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>",
                     x1, y1, x2, y2, style);
}

struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;

  [[nodiscard]] double at(double value) const {
    if (high <= low) return (from + to) / 2;
    return from + (std::clamp(value, low, high) - low) / (high - low) * (to - from);
  }
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

/// "base", "A": the colours' meaning, in words at the right place.
std::string key_line(const std::vector<ColumnFacts>& columns, double y) {
  std::string body;
  double x = left_margin;
  for (std::size_t i = 0; i < columns.size() && i < 8; ++i) {
    body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" class=\"dot {}\"/>", x, y - 4,
                        side_class(i));
    body += text_at(x + 8, y, columns[i].key);
    x += 56;
  }
  return body;
}

std::string polyline(const std::vector<std::pair<double, double>>& points, std::size_t side) {
  std::string list;
  for (const auto& [x, y] : points) list += fmt::format("{:.1f},{:.1f} ", x, y);
  return fmt::format("<polyline points=\"{}\" class=\"curve {}\"/>", list, side_class(side));
}

const std::vector<BootTrials>& boots_of(const ComparedRow& row, std::size_t side) {
  return side == 0 ? row.base_boots : row.cells[side - 1].boots;
}

}  // namespace

std::string html_escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') result += c;
    }
  }
  return result;
}

double common_extent(const Comparison& comparison, const std::string& family) {
  double extent = 3 * std::log1p(comparison.options.judge.tolerance);
  for (const ComparedRow& row : comparison.rows) {
    if (row.family != family) continue;
    for (const Cell& cell : row.cells) {
      if (!cell.test.difference) continue;
      extent = std::max(extent, 1.1 * std::abs(cell.test.difference->estimate));
      if (!cell.test.interval) continue;
      extent = std::max({extent, -cell.test.interval->low, cell.test.interval->high});
    }
  }
  return std::min(extent, std::log(3.0));
}

std::string interval_plot(const RowTest& test, double extent, double tolerance) {
  constexpr double width = 200;
  constexpr double height = 22;
  const Scale scale{-extent, extent, 6, width - 6};
  const double band = std::log1p(tolerance);
  std::string body =
      fmt::format("<rect x=\"{:.1f}\" y=\"2\" width=\"{:.1f}\" height=\"{:.0f}\" class=\"band\"/>",
                  scale.at(-band), scale.at(band) - scale.at(-band), height - 4);
  body += line(scale.at(0), 1, scale.at(0), height - 1, "axis");
  const std::string word = test.verdict == Verdict::unresolved ? "unresolved" : verdict_word(test);
  if (test.interval) {
    body += line(scale.at(test.interval->low), height / 2, scale.at(test.interval->high),
                 height / 2, "interval " + word);
    // An arrow where the interval goes on beyond the scale.
    if (test.interval->low < -extent) {
      body += fmt::format("<path d=\"M6 7 L1 11 L6 15\" class=\"interval {}\"/>", word);
    }
    if (test.interval->high > extent) {
      body += fmt::format("<path d=\"M{0:.0f} 7 L{1:.0f} 11 L{0:.0f} 15\" class=\"interval {2}\"/>",
                          width - 6, width - 1, word);
    }
  }
  if (test.difference) {
    body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"2.5\" class=\"point {}\"/>",
                        scale.at(test.difference->estimate), height / 2, word);
  }
  return svg(height, fmt::format("change {} {}", change_text(test), interval_text(test)), body,
             width);
}

std::string trials_plot(const ComparedRow& row, const std::vector<ColumnFacts>& columns) {
  Range range;
  for (std::size_t side = 0; side < columns.size(); ++side) {
    for (const double value : all_values(boots_of(row, side))) range.add(value);
  }
  if (range.empty()) return {};
  const double pad = (range.high - range.low) * 0.03;
  const Scale scale{range.low - pad, range.high + pad, left_margin, plot_width - right_margin};
  std::string body;
  double y = 12;
  for (std::size_t side = 0; side < columns.size(); ++side) {
    const std::vector<BootTrials>& boots = boots_of(row, side);
    body += text_at(4, y + 4, columns[side].key);
    for (const BootTrials& boot : boots) {
      body += line(left_margin, y, plot_width - right_margin, y, "grid");
      const std::size_t step = (boot.values.size() + most_dots - 1) / most_dots;
      for (std::size_t i = 0; i < boot.values.size(); i += std::max<std::size_t>(step, 1)) {
        body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"3\" class=\"dot {}\"/>",
                            scale.at(boot.values[i]), y, side_class(side));
      }
      y += 10;
    }
    y += 6;
  }
  body += text_at(left_margin, y + 8, format_figure(range.low));
  body +=
      text_at(plot_width - right_margin, y + 8, format_figure(range.high) + " " + row.unit, "end");
  return svg(y + 14, "trials by boot", body);
}

std::string latency_plot(const ComparedRow& row, const std::vector<ColumnFacts>& columns,
                         const std::string& histogram) {
  // Each step to the right takes half of the slower requests away: the tail has room.
  constexpr double shares[] = {0,    0.1,  0.25,  0.5,   0.6,   0.7,    0.8,    0.9,    0.95,
                               0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 0.99999};
  const auto position = [](double share) { return -std::log10(1 - share); };
  Range range;
  for (const DetailFacts& details : row.details) {
    const auto found = details.latency.find(histogram);
    if (found == details.latency.end() || found->second.count() == 0) continue;
    range.add(std::log10(std::max<double>(1, static_cast<double>(found->second.min()))));
    range.add(std::log10(std::max<double>(1, static_cast<double>(found->second.max()))));
  }
  if (range.empty()) return {};
  constexpr double height = 180;
  const Scale x{0, 5, left_margin, plot_width - right_margin};
  const Scale y{range.low, range.high, height - 24, 22};
  std::string body = key_line(columns, 12);
  for (const auto& [share, name] : {std::pair{0.5, "50 %"},
                                    {0.9, "90 %"},
                                    {0.99, "99 %"},
                                    {0.999, "99.9 %"},
                                    {0.9999, "99.99 %"}}) {
    body += line(x.at(position(share)), 20, x.at(position(share)), height - 22, "grid");
    body += text_at(x.at(position(share)), height - 8, name, "middle");
  }
  for (const double end : {range.low, (range.low + range.high) / 2, range.high}) {
    body += text_at(left_margin - 6, y.at(end) + 4, format_duration(std::pow(10, end)), "end");
  }
  for (std::size_t side = 0; side < row.details.size(); ++side) {
    const auto found = row.details[side].latency.find(histogram);
    if (found == row.details[side].latency.end() || found->second.count() == 0) continue;
    const Histogram& values = found->second;
    std::vector<std::pair<double, double>> points;
    for (const double share : shares) {
      // Beyond the last request there is nothing to draw.
      if ((1 - share) * static_cast<double>(values.count()) < 1) break;
      const auto value = static_cast<double>(std::max<std::uint64_t>(1, values.percentile(share)));
      points.emplace_back(x.at(position(share)), y.at(std::log10(value)));
    }
    body += polyline(points, side);
  }
  return svg(height, "latency by percentile", body);
}

std::string series_plot(const ComparedRow& row, const std::vector<ColumnFacts>& columns) {
  double most = 0;
  std::size_t longest = 0;
  for (const DetailFacts& details : row.details) {
    for (const auto& series : details.series) {
      longest = std::max(longest, series.size());
      for (const std::uint64_t count : series) most = std::max(most, static_cast<double>(count));
    }
  }
  if (longest < 2 || most <= 0) return {};
  constexpr double height = 140;
  const Scale x{0, static_cast<double>(longest - 1), left_margin, plot_width - right_margin};
  const Scale y{0, most, height - 22, 22};
  std::string body = key_line(columns, 12);
  body += line(left_margin, y.at(0), plot_width - right_margin, y.at(0), "axis");
  body += text_at(left_margin - 6, y.at(most) + 4, format_count(most) + "/s", "end");
  body += text_at(left_margin - 6, y.at(0) + 4, "0", "end");
  body += text_at(plot_width - right_margin, height - 6, fmt::format("{} s", longest), "end");
  for (std::size_t side = 0; side < row.details.size(); ++side) {
    const auto& all = row.details[side].series;
    for (std::size_t i = 0; i < all.size() && i < most_series; ++i) {
      const std::size_t step = std::max<std::size_t>(1, all[i].size() / most_points);
      std::vector<std::pair<double, double>> points;
      for (std::size_t second = 0; second < all[i].size(); second += step) {
        points.emplace_back(x.at(static_cast<double>(second)),
                            y.at(static_cast<double>(all[i][second])));
      }
      body += polyline(points, side);
    }
  }
  return svg(height, "operations per second", body);
}

}  // namespace krepro
