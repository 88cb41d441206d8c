// Run files made up for tests of comparisons: rows, boots and trials with known means. Not for
// anything but tests.
#pragma once

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "suite/compare/run_facts.h"
#include "suite/plan/plan.h"
#include "suite/record/run_file.h"

namespace krepro {

struct MadeUpRow {
  std::string name = "process pipe g=4";
  std::string family = "hackbench, seconds (lower is better)";
  double value = 0.662;
  bool higher_is_better = false;
  std::string unit = "s";
  nlohmann::json options = {{"groups", 4}};
};

struct MadeUpRun {
  std::string label = "6.18.0";
  std::string build_id = "aaaa";
  std::string machine = "64 CPUs, 1 LLC, no SMT";
  std::string host = "host";
  std::vector<MadeUpRow> rows{MadeUpRow{}};
  std::size_t repetitions = 3;
  std::size_t first_boot = 0;  ///< Number in the boot's name and start.
  double noise = 0.002;        ///< SD of the logarithm between boots, and as much within.
  std::uint64_t seed = 1;
  std::string source_hash = "source";
  nlohmann::json environment = {{"cpu.governor", {{"value", "performance"}, {"source", "x"}}}};
  bool simulated = false;
};

inline nlohmann::json made_up_run_line(const MadeUpRun& run) {
  Plan plan;
  plan.profile_name = "made-up";
  for (const MadeUpRow& row : run.rows) {
    Benchmark benchmark;
    benchmark.name = row.name;
    benchmark.family = row.family;
    benchmark.generator = "hackbench";
    benchmark.options = row.options;
    plan.benchmarks.push_back(benchmark);
  }
  for (std::size_t i = 0; i < run.repetitions * run.rows.size(); ++i) {
    plan.trials.push_back(
        {i, i % run.rows.size(), static_cast<std::int64_t>(i / run.rows.size()), false});
  }
  return {{"type", "run"},
          {"schema", run_file_schema_version},
          {"krepro", "0.1.0"},
          {"label", run.label},
          {"started", "2026-11-30T10:00:00Z"},
          {"kernel", {{"release", run.label}, {"version", "#1"}, {"build_id", run.build_id}}},
          {"machine", run.machine},
          {"simulated", run.simulated},
          {"generators", {{"hackbench", {{"source_hash", run.source_hash}, {"binary_hash", ""}}}}},
          {"plan", to_json(plan)}};
}

inline nlohmann::json made_up_sample(const MadeUpRow& row, double value) {
  const std::string metric = row.higher_is_better ? "rate" : "seconds";
  return {{"generator", "hackbench"},
          {"operations", 1000},
          {"metrics",
           {{metric,
             {{"value", value},
              {"unit", row.unit},
              {"better", row.higher_is_better ? "higher" : "lower"},
              {"primary", true}}}}},
          {"latency", nlohmann::json::object()},
          {"series", {100, 101, 99, 102}}};
}

/// One run file of one boot.
inline std::string made_up_run_file(const MadeUpRun& run) {
  RandomStream random(run.seed, run.first_boot);
  std::string text = made_up_run_line(run).dump() + "\n";
  const std::string boot = run.label + "-boot" + std::to_string(run.first_boot);
  const std::string started = "2026-11-0" + std::to_string(run.first_boot % 9 + 1) + "T10:00:00Z";
  text += nlohmann::json{{"type", "boot"},
                         {"boot_id", boot},
                         {"started", started},
                         {"host", {{"value", run.host}, {"identity", true}}},
                         {"environment", run.environment}}
              .dump() +
          "\n";
  std::vector<double> effects;
  for (std::size_t i = 0; i < run.rows.size(); ++i) effects.push_back(run.noise * random.normal());
  for (std::size_t i = 0; i < run.repetitions * run.rows.size(); ++i) {
    const std::size_t row = i % run.rows.size();
    RecordedTrial trial;
    trial.benchmark = run.rows[row].name;
    trial.repetition = static_cast<std::int64_t>(i / run.rows.size());
    trial.order = i;
    trial.boot_id = boot;
    trial.started = started;
    trial.status = "valid";
    trial.sample = made_up_sample(
        run.rows[row], run.rows[row].value * std::exp(effects[row] + run.noise * random.normal()));
    trial.counters = {{"host", {{"context_switches", 1000}}}};
    text += to_json(trial).dump() + "\n";
  }
  return text;
}

/// As many run files as boots, read.
inline std::vector<RunFacts> made_up_runs(MadeUpRun run, std::size_t boots) {
  std::vector<RunFacts> runs;
  const std::size_t first = run.first_boot;
  for (std::size_t boot = 0; boot < boots; ++boot) {
    run.first_boot = first + boot;
    const std::string name = run.label + ".jsonl";
    runs.push_back(collect_run_facts(parse_run_file(made_up_run_file(run), name)).front());
  }
  return runs;
}

inline MadeUpRun scaled(MadeUpRun run, const std::string& label, const std::string& build_id,
                        double factor) {
  run.label = label;
  run.build_id = build_id;
  run.seed += 77;
  for (MadeUpRow& row : run.rows) row.value *= factor;
  return run;
}

}  // namespace krepro
