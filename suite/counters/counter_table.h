// The counters of a trial as one flat table, and what each is called for people. Pure: for reports
// and comparisons, which see run files only.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace krepro {

struct FlatCounters {
  /// "schedstat.domains.domain0-SMT.newidle_attempts": 12, "host.context_switches": 400. Zeros are
  /// not among them.
  std::map<std::string, double> values;
  std::map<std::string, std::string> absent;  ///< Start of a name -> why there is none.
  double seconds = 0;                         ///< Between the two readings; 0: not told.
};

/// Of the `counters` of a `sample` line; of anything else an empty table.
[[nodiscard]] FlatCounters flatten_counters(const nlohmann::json& counters);

/// Whether the counter, or the group it belongs to, could not be had: what is not among the values
/// is then unknown, and not 0.
[[nodiscard]] bool is_absent(const FlatCounters& counters, const std::string& name);

/// What is counted.
enum class CounterKind : std::uint8_t {
  events,
  time,  ///< Nanoseconds.
  bytes,
  share,  ///< 0 to 1, a level and no sum: no rate.
};

struct CounterWords {
  std::string group;  ///< Heading: "scheduler", "CPU time", ...
  std::string text;   ///< "newidle balance calls (SMT)"
  CounterKind kind = CounterKind::events;
  double quantum = 1;  ///< The smallest step that it moves in.
};
[[nodiscard]] CounterWords counter_words(const std::string& name);

/// Headings in the order in which they are shown.
[[nodiscard]] const std::vector<std::string>& counter_groups();

}  // namespace krepro
