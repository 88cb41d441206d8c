// The pictures of the html report as inline SVG. Colours and fonts come from the page's style
// sheet, by class, so that they follow dark, light and print.
#pragma once

#include <string>
#include <vector>

#include "suite/compare/comparison.h"

namespace krepro {

/// & < > " ' as entities; control characters dropped.
[[nodiscard]] std::string html_escape(const std::string& text);

/// The interval of a change on a scale from -`extent` to +`extent` of log speed, with the band of
/// the tolerance.
[[nodiscard]] std::string interval_plot(const RowTest& test, double extent, double tolerance);

/// One line of dots per boot, all sides of a row on one scale.
[[nodiscard]] std::string trials_plot(const ComparedRow& row,
                                      const std::vector<ColumnFacts>& columns);

/// Latency over percentile, one curve per side, both axes logarithmic. "" without histograms.
[[nodiscard]] std::string latency_plot(const ComparedRow& row,
                                       const std::vector<ColumnFacts>& columns,
                                       const std::string& histogram);

/// Operations per second over time, a few trials per side. "" without series.
[[nodiscard]] std::string series_plot(const ComparedRow& row,
                                      const std::vector<ColumnFacts>& columns);

/// Largest extent among the rows' intervals, for a common scale; at least three tolerances, at most
/// a factor of 3.
[[nodiscard]] double common_extent(const Comparison& comparison, const std::string& family);

}  // namespace krepro
