// A small plan, its trials in turn, and what their spread says.
#include "suite/doctor/noise.h"

#include <cmath>
#include <map>

#include "common/base/error.h"
#include "suite/execute/trial.h"
#include "suite/plan/plan.h"
#include "suite/profile/profile.h"
#include "suite/statistics/shape.h"
#include "suite/statistics/summary.h"

namespace krepro {

namespace {

constexpr const char* noise_profile = R"toml(
[defaults]
repetitions = 10
warmups = 1
seed = 1
[[benchmark]]
name = "null (10 us of work)"
generator = "null"
options = { runtime = "50ms", latency = "10us" }
[[benchmark]]
name = "hackbench g=1"
generator = "hackbench"
options = { groups = 1, loops = 100, pipe = true }
[[benchmark]]
name = "hackbench g=4"
generator = "hackbench"
options = { groups = 4, loops = 100, pipe = true }
)toml";

double noise_value(const nlohmann::json& sample, const GeneratorInfo& generator) {
  const MetricInfo* metric = generator.primary_metric();
  if (metric == nullptr) return 0;
  return sample.value("metrics", nlohmann::json::object())
      .value(metric->name, nlohmann::json::object())
      .value("value", 0.0);
}

NoiseRow spread_row(const std::string& name, const std::vector<double>& values) {
  NoiseRow row;
  row.name = name;
  row.trials = values.size();
  std::vector<double> logs;
  double even = 0;
  double odd = 0;
  std::size_t pairs = 0;
  for (const double value : values) logs.push_back(std::log(value));
  for (std::size_t i = 0; i + 1 < logs.size(); i += 2) {
    even += logs[i];
    odd += logs[i + 1];
    ++pairs;
  }
  row.variation = summarize(values).coefficient_of_variation().value_or(0);
  if (pairs > 0) row.aa_change = std::exp((odd - even) / static_cast<double>(pairs)) - 1;
  row.two_modes = detect_two_modes(logs).has_value();
  return row;
}

}  // namespace

std::vector<NoiseRow> measure_noise(const Catalog& catalog, const Machine& machine,
                                    const Interruption& interruption) {
  const Plan plan = make_plan(parse_profile(noise_profile, "noise"), {}, catalog, machine);
  std::map<std::size_t, std::vector<double>> values;
  std::map<std::size_t, std::string> failures;
  const CounterReader counters;
  for (const Trial& trial : plan.trials) {
    if (interruption.requested()) throw Error(ExitCode::interrupted, "interrupted");
    const Benchmark& benchmark = plan.benchmarks[trial.benchmark];
    if (failures.contains(trial.benchmark)) continue;
    TrialRequest request;
    request.benchmark = &benchmark;
    request.trial = trial;
    request.generator = catalog.find(benchmark.generator);
    request.counters = &counters;
    request.seed = plan.seed;
    const RecordedTrial record = run_trial(request, interruption);
    const double value = record.valid() ? noise_value(record.sample, *request.generator) : 0;
    if (value <= 0) {
      failures[trial.benchmark] = record.reason.empty() ? "it gave no result" : record.reason;
    } else if (!trial.warmup) {
      values[trial.benchmark].push_back(value);
    }
  }
  std::vector<NoiseRow> rows;
  for (std::size_t i = 0; i < plan.benchmarks.size(); ++i) {
    NoiseRow row = spread_row(plan.benchmarks[i].name, values[i]);
    row.failure = failures[i];
    rows.push_back(std::move(row));
  }
  for (const SkippedBenchmark& skipped : plan.skipped) {
    NoiseRow row;
    row.name = skipped.name;
    row.failure = skipped.reason;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace krepro
