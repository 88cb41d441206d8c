// What a generator answers for one trial. docs/schema/sample.schema.json is its published schema.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/timing/histogram.h"

namespace krepro {

struct Metric {
  double value = 0;
  std::string unit;
  bool higher_is_better = true;
  bool primary = false;
};

/// Sum, smallest, median and largest over the threads of a group.
struct Spread {
  double sum = 0;
  double min = 0;
  double median = 0;
  double max = 0;
};
/// Over values in any order; zeros where there is none.
[[nodiscard]] Spread spread_of(std::vector<double> values);
/// Over `figure(member)` of each member.
template <typename Members, typename Figure>
[[nodiscard]] Spread spread_of(const Members& members, Figure figure) {
  std::vector<double> values;
  for (const auto& member : members) values.push_back(static_cast<double>(figure(member)));
  return spread_of(std::move(values));
}

/// Threads of one role with the same policy and CPU set, as read back.
struct ThreadGroup {
  std::string role;         ///< "sender", "worker", ...
  std::string policy;       ///< to_string(Scheduling)
  std::string cpus;         ///< CpuSet::to_string()
  std::string memory = {};  ///< to_string(MemoryPolicy); empty: not told.
  std::uint64_t count = 0;
  Spread voluntary_switches;
  Spread involuntary_switches;
  Spread run_time_ns;
  Spread wait_time_ns;  ///< Run-queue wait where the kernel tells it.
};

struct Sample {
  std::string generator;
  bool truncated = false;  ///< Stopped before its end: never part of a mean.
  std::uint64_t seed = 0;
  std::int64_t duration_ns = 0;  ///< From `go` to the end that the metrics stand on.
  std::uint64_t operations = 0;
  std::map<std::string, std::uint64_t> errors;  ///< By kind; any non-zero makes the trial failed.
  std::map<std::string, Metric> metrics;
  std::map<std::string, Histogram> latency;
  std::vector<std::uint64_t>
      series;  ///< Operations per second; empty where the load cannot count without changing.
  std::vector<ThreadGroup> threads;
  nlohmann::json asked = nlohmann::json::object();     ///< threads, connections, rate ... as asked
  nlohmann::json achieved = nlohmann::json::object();  ///< and as achieved
  nlohmann::json options = nlohmann::json::object();   ///< resolved
  nlohmann::json frame =
      nlohmann::json::object();  ///< clock_cost_ns, record_cost_ns ... of the frame itself
  nlohmann::json extra = nlohmann::json::object();  ///< the generator's own facts
  std::vector<std::string> notes;
  std::string error;  ///< Why the trial failed, one line; empty: it did not.

  [[nodiscard]] bool valid() const;  ///< Not truncated, no errors.
};

[[nodiscard]] nlohmann::json to_json(const Sample& sample);

}  // namespace krepro
