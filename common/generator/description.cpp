// The description as JSON: what --describe prints.
#include "common/generator/description.h"

#include <nlohmann/json.hpp>

namespace krepro {

namespace {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// As pairs and not as an object: the order counts on a command line.
nlohmann::json pairs_json(const NamedValues& values) {
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [name, value] : values) pairs.push_back({name, value});
  return pairs;
}

nlohmann::json to_json(const FidelityRow& row) {
  return {{"name", row.name},
          {"options", pairs_json(row.options)},
          {"operations", row.operations},
          {"placements", row.placements},
          {"serve", pairs_json(row.serve)},
          {"floating_calls", row.floating_calls},
          {"cpu_ratio_low", row.cpu_ratio_low},
          {"cpu_ratio_high", row.cpu_ratio_high}};
}

nlohmann::json to_json(const Original& original) {
  nlohmann::json figures = nlohmann::json::array();
  for (const OriginalFigure& figure : original.figures) {
    figures.push_back(
        {{"metric", figure.metric}, {"pattern", figure.pattern}, {"scale", figure.scale}});
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const FidelityRow& row : original.rows) rows.push_back(to_json(row));
  return {{"program", original.program},
          {"package", original.package},
          {"version_arguments", original.version_arguments},
          {"extra_arguments", original.extra_arguments},
          {"figures", std::move(figures)},
          {"rows", std::move(rows)},
          {"long_equals", original.long_equals},
          {"scaling_option", original.scaling_option},
          {"operation", original.operation},
          {"time_ratio_low", original.time_ratio_low},
          {"time_ratio_high", original.time_ratio_high},
          {"floating_ratio_low", original.floating_ratio_low},
          {"floating_ratio_high", original.floating_ratio_high},
          {"without_start_up", original.without_start_up},
          {"syscall_tolerance", original.syscall_tolerance},
          {"switches_tolerance", original.switches_tolerance},
          {"cpu_tolerance", original.cpu_tolerance}};
}

}  // namespace

nlohmann::json to_json(const Description& description) {
  nlohmann::json metrics = nlohmann::json::array();
  for (const MetricDescription& metric : description.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"better", metric.higher_is_better ? "higher" : "lower"},
                       {"primary", metric.primary},
                       {"help", metric.help}});
  }
  return {{"name", description.name},
          {"summary", description.summary},
          {"details", description.details},
          {"roles", description.roles},
          {"positional", description.positional},
          {"metrics", std::move(metrics)},
          {"options", description.options.to_json()},
          {"example", pairs_json(description.example)},
          {"long_example", pairs_json(description.long_example)},
          {"original", description.original ? to_json(*description.original) : nlohmann::json()}};
}

}  // namespace krepro
