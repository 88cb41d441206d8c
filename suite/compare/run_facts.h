// What a comparison needs of one run file, without the samples themselves: a file of 10,000 trials
// must not take hundreds of megabytes. Foreign results become the same (see suite/imports).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "common/timing/histogram.h"
#include "suite/record/run_file.h"

namespace krepro {

/// A benchmark as one run had it.
struct BenchmarkFacts {
  std::string name;
  std::string family;
  std::string generator;
  nlohmann::json options = nlohmann::json::object();
  nlohmann::json placement = nlohmann::json::object();
  nlohmann::json pinning = nlohmann::json::object();
  nlohmann::json memory = nlohmann::json::object();
  nlohmann::json scheduling = nlohmann::json::object();
  std::string scaled;       ///< What --fit changed; empty: nothing.
  std::string source_hash;  ///< Of the generator; empty: not known.
  std::string metric;       ///< The primary metric; empty: no trial had one.
  std::string unit;
  bool higher_is_better = true;
};

struct TrialFacts {
  std::size_t benchmark = 0;  ///< Index into RunFacts::benchmarks.
  std::int64_t repetition = 0;
  std::size_t order = 0;
  std::string boot_id;
  std::string started;  ///< Wall clock, for logs.
  double value = 0;     ///< Of the primary metric.
  bool counts = false;  ///< Enters means: valid, no warm-up, achieved what was asked.
  bool warmup = false;
  std::string reason;  ///< Why it does not count; empty for warm-ups.
  double seconds = 0;  ///< Between the readings of the counters; 0: there are none.
  double operations = 0;
  /// By index into RunFacts::counter_names; zeros are left out.
  std::vector<std::pair<std::uint32_t, double>> counters;
  std::vector<std::uint32_t> absent_counters;  ///< Starts of names that could not be had.
  std::string disturbance;  ///< Steal and the like that could explain an odd value; else empty.
};

struct BootFacts {
  std::string boot_id;
  std::string host;  ///< "": unknown, one host.
  std::string started;
  bool simulated = false;
  nlohmann::json environment = nlohmann::json::object();
};

/// Sums over the counted trials of one benchmark.
struct DetailFacts {
  std::map<std::string, Histogram> latency;  ///< By name, merged.
  std::vector<std::vector<std::uint64_t>> series;
  std::map<std::string, double> counters;  ///< Of the host: sums of the deltas.
  double operations = 0;
};

struct RunFacts {
  std::filesystem::path path;
  std::string label;
  std::string machine;
  std::string profile;
  std::string kernel_release;
  std::string kernel_version;
  std::string build_id;  ///< "": unknown.
  std::string started;
  bool simulated = false;
  bool fitted = false;
  std::string foreign;  ///< "fio", ... where the file is not krepro's; else empty.
  std::vector<BenchmarkFacts> benchmarks;
  std::vector<BootFacts> boots;
  std::vector<TrialFacts> trials;          ///< Of trials that ran twice only the last.
  std::vector<DetailFacts> details;        ///< One per benchmark.
  std::vector<std::string> counter_names;  ///< See suite/counters/counter_table.h.
  std::vector<std::string> warnings;       ///< Notes of the run itself.
};

/// The host of a boot of the run; "": unknown.
[[nodiscard]] std::string host_of(const RunFacts& run, const std::string& boot_id);

/// Reads a run file: one RunFacts per label in it, the run's own first. Throws usage_error: what is
/// not a run file; a metric that is not a number.
[[nodiscard]] std::vector<RunFacts> collect_run_facts(const std::filesystem::path& path);
/// The same of what was read already.
[[nodiscard]] std::vector<RunFacts> collect_run_facts(const RunFile& file);

}  // namespace krepro
