// A profile made concrete for this machine: every benchmark (one row: a generator with one set of
// options) and every trial in its order. Pure: the same profile, settings, generators and machine
// give the same plan.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/profile/profile.h"

namespace krepro {

enum class Order : std::uint8_t { interleaved, sequential, random };

/// One row: a generator with one set of options.
struct Benchmark {
  std::string name;    ///< Unique in the plan, short: "process pipe g=4"
  std::string family;  ///< Heading: "hackbench, seconds (lower is better)"
  std::string generator;
  bool upstream = false;
  nlohmann::json options = nlohmann::json::object();    ///< option name -> value, parameters filled
                                                        ///< in, as given to `configure`
  nlohmann::json placement = nlohmann::json::object();  ///< role -> placement text
  nlohmann::json scheduling = nlohmann::json::object();  ///< role -> scheduling text
  std::string scaled;           ///< What --fit changed ("groups 256 -> 8"); empty: nothing.
  double expected_seconds = 0;  ///< A guess for the progress line; 0: unknown.
};

struct Trial {
  std::size_t index = 0;        ///< Position in the plan: trials run in this order.
  std::size_t benchmark = 0;    ///< Index into Plan::benchmarks.
  std::int64_t repetition = 0;  ///< 0-based, within the benchmark; warm-ups count apart.
  bool warmup = false;
};

struct Plan {
  std::string title;
  std::string profile_name;
  std::string report;
  Order order = Order::interleaved;
  std::uint64_t seed = 0;
  bool fitted = false;
  std::vector<Benchmark> benchmarks;
  std::vector<Trial> trials;
  std::vector<std::string> warnings;  ///< [machine] differences, skipped benchmarks with the reason
};

[[nodiscard]] nlohmann::json to_json(const Plan& plan);
/// Reads a plan back from a run file. Throws usage_error.
[[nodiscard]] Plan plan_from_json(const nlohmann::json& json);

}  // namespace krepro
