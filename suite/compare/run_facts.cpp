#include "suite/compare/run_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/error.h"
#include "suite/counters/counter_table.h"
#include "suite/environment/environment.h"
#include "suite/record/run_file_reader.h"

namespace krepro {
namespace {

using nlohmann::json;

/// An open loop that fell further behind did not carry the load that was asked for.
constexpr double least_achieved_rate = 0.95;
/// Steal above this share of a trial's CPU time could explain an odd value.
constexpr double notable_steal = 0.01;

std::string text_of(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

const json* member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

/// "asked 200 connections, achieved 192"; empty where the load was what was asked.
std::string find_shortfall(const json& sample) {
  const json* asked = member(sample, "asked");
  const json* achieved = member(sample, "achieved");
  if (asked == nullptr || achieved == nullptr || !asked->is_object()) return {};
  for (const auto& [name, wanted] : asked->items()) {
    const json* got = member(*achieved, name.c_str());
    if (got == nullptr || !got->is_number() || !wanted.is_number()) continue;
    const double least =
        wanted.get<double>() * (name.find("rate") != std::string::npos ? least_achieved_rate : 1);
    if (got->get<double>() < least) {
      return fmt::format("asked {} {}, achieved {}", wanted.dump(), name, got->dump());
    }
  }
  return {};
}

/// Fills the trials of one label of a file into facts, one by one.
class Collector {
 public:
  /// `file`: its first lines at least. `label`: empty for the run's own.
  Collector(const RunFile& file, const std::string& label) {
    facts_.path = file.path;
    read_run_line(file);
    if (!label.empty()) facts_.label = label;
    read_benchmarks(file);
  }

  /// `index`: its place in the file's trials.
  void add(const RecordedTrial& trial, std::size_t index) {
    TrialFacts fact;
    fact.benchmark = benchmark_index(trial.benchmark);
    fact.repetition = trial.repetition;
    fact.order = trial.order;
    fact.boot_id = trial.boot_id;
    fact.started = trial.started;
    fact.warmup = trial.warmup;
    if (!trial.valid()) {
      fact.reason = trial.reason.empty() ? trial.status : trial.status + ": " + trial.reason;
    } else if (const std::string shortfall = find_shortfall(trial.sample); !shortfall.empty()) {
      fact.reason = shortfall;
    } else if (!trial.warmup) {
      fact.counts = true;
      fact.value = read_metric(trial, facts_.benchmarks[fact.benchmark]);
      try {
        add_details(trial, facts_.details[fact.benchmark]);
      } catch (const Error& error) {
        throw bad_metric(trial, error.what());
      }
      fact.disturbance = find_disturbance(trial.counters);
      add_counters(trial, fact);
    }
    facts_.trials.push_back(std::move(fact));
    places_.push_back(index);
  }

  [[nodiscard]] bool empty() const { return facts_.trials.empty(); }

  /// `file`: now whole.
  RunFacts finish(const RunFile& file) {
    keep_final_trials(file);
    read_boots(file);
    std::set<std::string> seen;
    for (const json& note : file.notes) {
      const std::string text = text_of(note, "text");
      if (text_of(note, "kind") == "warning" && seen.insert(text).second) {
        facts_.warnings.push_back(text);
      }
    }
    return std::move(facts_);
  }

 private:
  void read_run_line(const RunFile& file) {
    const json& run = file.run;
    facts_.label = file.label;
    facts_.simulated = file.simulated;
    facts_.machine = text_of(run, "machine");
    facts_.started = text_of(run, "started");
    facts_.profile = file.plan.profile_name;
    facts_.fitted = file.plan.fitted;
    if (const json* kernel = member(run, "kernel")) {
      facts_.kernel_release = text_of(*kernel, "release");
      facts_.kernel_version = text_of(*kernel, "version");
      facts_.build_id = text_of(*kernel, "build_id");
    }
  }

  void read_benchmarks(const RunFile& file) {
    const json* generators = member(file.run, "generators");
    for (const Benchmark& benchmark : file.plan.benchmarks) {
      BenchmarkFacts fact;
      fact.name = benchmark.name;
      fact.family = benchmark.family;
      fact.generator = benchmark.generator;
      fact.options = benchmark.options;
      fact.placement = benchmark.placement;
      fact.pinning = benchmark.pinning;
      fact.memory = benchmark.memory;
      fact.scheduling = benchmark.scheduling;
      fact.scaled = benchmark.scaled;
      const json* identity =
          generators == nullptr ? nullptr : member(*generators, benchmark.generator.c_str());
      if (identity != nullptr) fact.source_hash = text_of(*identity, "source_hash");
      facts_.benchmarks.push_back(std::move(fact));
    }
    facts_.details.resize(facts_.benchmarks.size());
  }

  void read_boots(const RunFile& file) {
    for (const json& boot : file.boots) {
      BootFacts fact;
      fact.boot_id = text_of(boot, "boot_id");
      const bool ran_here =
          std::any_of(facts_.trials.begin(), facts_.trials.end(),
                      [&](const TrialFacts& trial) { return trial.boot_id == fact.boot_id; });
      if (!ran_here) continue;
      fact.started = text_of(boot, "started");
      if (const json* host = member(boot, "host")) fact.host = text_of(*host, "value");
      fact.simulated = boot.value("simulated", false);
      if (const json* environment = member(boot, "environment")) fact.environment = *environment;
      facts_.boots.push_back(std::move(fact));
    }
  }

  /// Of a trial that ran again after an interruption only the last record counts. What was added up
  /// before is of valid trials, which do not run again.
  void keep_final_trials(const RunFile& file) {
    std::set<const RecordedTrial*> final;
    for (const RecordedTrial* trial : file.final_trials()) final.insert(trial);
    std::vector<TrialFacts> kept;
    for (std::size_t i = 0; i < facts_.trials.size(); ++i) {
      if (final.contains(&file.trials[places_[i]])) kept.push_back(std::move(facts_.trials[i]));
    }
    facts_.trials = std::move(kept);
  }

  std::size_t benchmark_index(const std::string& name) const {
    for (std::size_t i = 0; i < facts_.benchmarks.size(); ++i) {
      if (facts_.benchmarks[i].name == name) return i;
    }
    throw usage_error(fmt::format("a trial of \"{}\", which the run's plan does not have", name));
  }

  static double read_metric(const RecordedTrial& trial, BenchmarkFacts& benchmark) {
    const json* metrics = member(trial.sample, "metrics");
    if (metrics == nullptr || !metrics->is_object()) throw bad_metric(trial, "has no metrics");
    for (const auto& [name, metric] : metrics->items()) {
      const json* primary = member(metric, "primary");
      if (primary == nullptr || !primary->is_boolean() || !primary->get<bool>()) continue;
      const json* value = member(metric, "value");
      if (value == nullptr || !value->is_number() || !std::isfinite(value->get<double>())) {
        throw bad_metric(trial, fmt::format("metric {} is not a number", name));
      }
      const std::string unit = text_of(metric, "unit");
      if (!benchmark.metric.empty() && (benchmark.metric != name || benchmark.unit != unit)) {
        throw bad_metric(trial, fmt::format("{} in {} follows {} in {}", name, unit,
                                            benchmark.metric, benchmark.unit));
      }
      benchmark.metric = name;
      benchmark.unit = unit;
      benchmark.higher_is_better = text_of(metric, "better") != "lower";
      return value->get<double>();
    }
    throw bad_metric(trial, "has no primary metric");
  }

  [[nodiscard]] static Error bad_metric(const RecordedTrial& trial, const std::string& what) {
    return usage_error(
        fmt::format("trial {} of \"{}\": {}", trial.repetition + 1, trial.benchmark, what));
  }

  static void add_details(const RecordedTrial& trial, DetailFacts& details) {
    if (const json* latency = member(trial.sample, "latency"); latency && latency->is_object()) {
      for (const auto& [name, histogram] : latency->items()) {
        details.latency[name].merge(histogram.get<Histogram>());
      }
    }
    if (const json* series = member(trial.sample, "series"); series && series->is_array()) {
      std::vector<std::uint64_t> counts;
      for (const json& count : *series) {
        counts.push_back(count.is_number_unsigned() ? count.get<std::uint64_t>() : 0);
      }
      // A page shows a handful; a night of trials must not fill the memory.
      if (counts.size() > 1 && details.series.size() < 8) details.series.push_back(counts);
    }
    if (const json* operations = member(trial.sample, "operations");
        operations && operations->is_number()) {
      details.operations += operations->get<double>();
    }
    const json* host = member(trial.counters, "host");
    if (host == nullptr || !host->is_object()) return;
    for (const auto& [name, delta] : host->items()) {
      if (delta.is_number()) details.counters[name] += delta.get<double>();
    }
  }

  void add_counters(const RecordedTrial& trial, TrialFacts& fact) {
    const FlatCounters flat = flatten_counters(trial.counters);
    fact.seconds = flat.seconds;
    if (const json* operations = member(trial.sample, "operations");
        operations && operations->is_number()) {
      fact.operations = operations->get<double>();
    }
    for (const auto& [name, value] : flat.values) {
      fact.counters.emplace_back(counter_index(name), value);
    }
    for (const auto& [name, reason] : flat.absent) {
      fact.absent_counters.push_back(counter_index(name));
    }
  }

  std::uint32_t counter_index(const std::string& name) {
    const auto [found, added] =
        counter_indices_.try_emplace(name, static_cast<std::uint32_t>(facts_.counter_names.size()));
    if (added) facts_.counter_names.push_back(name);
    return found->second;
  }

  static std::string find_disturbance(const json& counters) {
    const json* host = member(counters, "host");
    if (host == nullptr) return {};
    double steal = 0;
    double total = 0;
    for (const auto& [name, delta] : host->items()) {
      if (!delta.is_number() || name.find("cpu_") != 0) continue;
      total += delta.get<double>();
      if (name.find("steal") != std::string::npos) steal = delta.get<double>();
    }
    if (total <= 0 || steal / total < notable_steal) return {};
    return fmt::format("{:.1f} % of CPU time stolen", 100 * steal / total);
  }

  RunFacts facts_;
  std::vector<std::size_t> places_;  ///< Of its trials in the file.
  std::map<std::string, std::uint32_t> counter_indices_;
};

/// The collectors of all labels of a file.
class Collectors {
 public:
  void add(const RunFile& file, const RecordedTrial& trial, std::size_t index) {
    start(file);
    const auto known = std::find(labels_.begin(), labels_.end(),
                                 trial.label == file.label ? std::string() : trial.label);
    if (known != labels_.end()) {
      collectors_[static_cast<std::size_t>(known - labels_.begin())].add(trial, index);
      return;
    }
    labels_.push_back(trial.label);
    collectors_.emplace_back(file, trial.label);
    collectors_.back().add(trial, index);
  }

  std::vector<RunFacts> finish(const RunFile& file) {
    start(file);
    std::vector<RunFacts> all;
    for (Collector& collector : collectors_) {
      // Where every trial has a label of its own, nothing is left for the run's.
      if (collector.empty() && collectors_.size() > 1) continue;
      all.push_back(collector.finish(file));
    }
    return all;
  }

 private:
  /// A file without a trial is a run all the same.
  void start(const RunFile& file) {
    if (!collectors_.empty()) return;
    labels_.emplace_back();
    collectors_.emplace_back(file, "");
  }

  std::vector<std::string> labels_;
  std::vector<Collector> collectors_;
};

}  // namespace

std::string host_of(const RunFacts& run, const std::string& boot_id) {
  for (const BootFacts& boot : run.boots) {
    if (boot.boot_id == boot_id) return boot.host;
  }
  return {};
}

std::vector<RunFacts> collect_run_facts(const RunFile& file) {
  Collectors collectors;
  for (std::size_t i = 0; i < file.trials.size(); ++i) collectors.add(file, file.trials[i], i);
  return collectors.finish(file);
}

std::vector<RunFacts> collect_run_facts(const std::filesystem::path& path) {
  Collectors collectors;
  const RunFile file = read_run_file(path, [&](const RunFile& so_far, RecordedTrial& trial) {
    collectors.add(so_far, trial, so_far.trials.size() - 1);
    trial.sample = nullptr;
    trial.server = nullptr;
    trial.counters = nullptr;
    trial.harness = nullptr;
  });
  require_whole(file);
  return collectors.finish(file);
}

}  // namespace krepro
