// The sample as JSON, the shape of docs/schema/sample.schema.json.
#include "common/generator/sample.h"

#include <algorithm>

namespace krepro {

namespace {

nlohmann::json to_json(const Spread& spread) {
  return {{"sum", spread.sum}, {"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

nlohmann::json to_json(const ThreadGroup& group) {
  nlohmann::json json = {{"role", group.role},
                         {"policy", group.policy},
                         {"cpus", group.cpus},
                         {"count", group.count},
                         {"voluntary_switches", to_json(group.voluntary_switches)},
                         {"involuntary_switches", to_json(group.involuntary_switches)},
                         {"run_time_ns", to_json(group.run_time_ns)},
                         {"wait_time_ns", to_json(group.wait_time_ns)}};
  if (!group.memory.empty()) json["memory"] = group.memory;
  return json;
}

nlohmann::json metrics_json(const std::map<std::string, Metric>& metrics) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, metric] : metrics) {
    json[name] = {{"value", metric.value},
                  {"unit", metric.unit},
                  {"better", metric.higher_is_better ? "higher" : "lower"},
                  {"primary", metric.primary}};
  }
  return json;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  for (const double value : values) spread.sum += value;
  spread.min = values.front();
  spread.max = values.back();
  const std::size_t middle = values.size() / 2;
  spread.median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return spread;
}

bool Sample::valid() const {
  if (truncated || !error.empty()) return false;
  for (const auto& [kind, count] : errors) {
    if (count != 0) return false;
  }
  return true;
}

nlohmann::json to_json(const Sample& sample) {
  nlohmann::json latency = nlohmann::json::object();
  for (const auto& [name, histogram] : sample.latency) latency[name] = histogram;
  nlohmann::json threads = nlohmann::json::array();
  for (const ThreadGroup& group : sample.threads) threads.push_back(to_json(group));
  return {{"generator", sample.generator},
          {"valid", sample.valid()},
          {"truncated", sample.truncated},
          {"error", sample.error},
          {"seed", sample.seed},
          {"duration_ns", sample.duration_ns},
          {"operations", sample.operations},
          {"errors", sample.errors},
          {"metrics", metrics_json(sample.metrics)},
          {"latency", std::move(latency)},
          {"series", sample.series},
          {"threads", std::move(threads)},
          {"asked", sample.asked},
          {"achieved", sample.achieved},
          {"options", sample.options},
          {"frame", sample.frame},
          {"extra", sample.extra},
          {"notes", sample.notes}};
}

}  // namespace krepro
