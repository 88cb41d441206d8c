// A profile made concrete for this machine: every benchmark (one row: a generator with one set of
// options) and every trial in its order. Pure: the same profile, settings, generators and machine
// give the same plan.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/placement/machine.h"
#include "suite/profile/profile.h"
#include "suite/settings/setting.h"

namespace krepro {

/// interleaved: all benchmarks once, then all again (a drift hits all alike); sequential: one
/// benchmark after the other; random: all trials shuffled by the plan's seed.
enum class Order : std::uint8_t { interleaved, sequential, random };

[[nodiscard]] const char* to_string(Order order);
/// Throws usage_error with a suggestion.
[[nodiscard]] Order parse_order(const std::string& text);

/// One row: a generator with one set of options.
struct Benchmark {
  std::string name;    ///< Unique in the plan, short: "process pipe g=4"
  std::string family;  ///< Heading: "hackbench, seconds (lower is better)"
  std::string generator;
  bool upstream = false;
  nlohmann::json options = nlohmann::json::object();    ///< option name -> value, parameters filled
                                                        ///< in, as given to `configure`
  nlohmann::json placement = nlohmann::json::object();  ///< role -> placement text
  nlohmann::json cpus = nlohmann::json::object();  ///< role -> CPU list that the text came to here;
                                                   ///< no entry: not bound
  nlohmann::json pinning = nlohmann::json::object();      ///< role -> pinning text
  nlohmann::json worker_cpus = nlohmann::json::object();  ///< role -> CPUs in the workers' order
                                                          ///< (parse_cpu_order); no entry: float
  nlohmann::json memory = nlohmann::json::object();  ///< role -> memory text as the profile has it
  nlohmann::json memory_policy = nlohmann::json::object();  ///< role -> what it came to here, for
                                                            ///< parse_memory_policy
  nlohmann::json scheduling = nlohmann::json::object();     ///< role -> scheduling text
  std::string scaled;           ///< What --fit changed ("groups 256 -> 8"); empty: nothing.
  double expected_seconds = 0;  ///< A guess for the progress line; 0: unknown.
};

/// One combination of the settings that the profile varies; its trials have a label of their own.
struct Variant {
  std::string suffix;             ///< Behind the run's label: "+thp=never"
  std::vector<Setting> settings;  ///< One of each axis.
};

struct Trial {
  std::size_t index = 0;        ///< Position in the plan: trials run in this order.
  std::size_t benchmark = 0;    ///< Index into Plan::benchmarks.
  std::int64_t repetition = 0;  ///< 0-based, within the benchmark; warm-ups count apart.
  bool warmup = false;
  std::size_t variant = 0;  ///< Index into Plan::variants; 0 where there are none.
  bool settling = false;    ///< A warm-up after a switch of settings.
};

/// A row of the profile that does not run here.
struct SkippedBenchmark {
  std::string name;
  std::string reason;
};

struct Plan {
  std::string title;
  std::string profile_name;
  std::string report;
  Order order = Order::interleaved;
  std::uint64_t seed = 0;
  bool fitted = false;
  std::vector<Benchmark> benchmarks;
  std::vector<Setting> settings;  ///< That hold for all trials.
  std::vector<Variant> variants;  ///< Empty: nothing is varied.
  std::vector<Trial> trials;
  std::vector<std::string> warnings;      ///< [machine] differences, what --fit did
  std::vector<SkippedBenchmark> skipped;  ///< Never silently: listed by plan, run and show.
};

[[nodiscard]] nlohmann::json to_json(const Plan& plan);
/// Reads a plan back from a run file. Throws usage_error.
[[nodiscard]] Plan plan_from_json(const nlohmann::json& json);

/// What the command line says about a plan; nothing of it is in the profile.
struct PlanSettings {
  std::vector<std::string> parameters;  ///< --set: "name=value"
  std::vector<std::string> only;        ///< --only: shell patterns on row names; empty: all rows
  std::optional<std::int64_t> repetitions;
  std::optional<std::int64_t> warmups;
  Order order = Order::interleaved;
  std::optional<std::uint64_t> seed;  ///< Else the profile's [defaults] seed, else a fresh one.
  bool fit = false;                   ///< --fit
};

/// Makes the plan. Throws usage_error with everything that is wrong with the profile and the
/// settings, one line each (`FILE:LINE:COLUMN: ...`), or not_possible where no row is left to run.
[[nodiscard]] Plan make_plan(const Profile& profile, const PlanSettings& settings,
                             const Catalog& catalog, const Machine& machine);

/// Sum over the trials, without the harness's own time; `complete` is false where a row's time is
/// unknown.
struct ExpectedDuration {
  double seconds = 0;
  bool complete = true;
};
[[nodiscard]] ExpectedDuration expected_duration(const Plan& plan);

}  // namespace krepro
