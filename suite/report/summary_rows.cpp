// From recorded trials to the figures of a row.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "suite/report/summary_table.h"
#include "suite/statistics/shape.h"

namespace krepro {
namespace {

/// From three boots on the boot is what is repeated: trials within one boot share its layout of
/// memory and its luck.
constexpr std::size_t fewest_boots = 3;
/// A drift is worth a note when it is this sure and this large (2 % on the log scale).
constexpr std::size_t fewest_for_drift = 6;
constexpr double drift_significance = 0.01;
constexpr double least_drift = 0.02;
/// More steal than this share spoils a trial.
constexpr double spoiling_steal = 0.01;

std::optional<double> primary_value(const nlohmann::json& sample) {
  const auto metrics = sample.find("metrics");
  if (metrics == sample.end() || !metrics->is_object()) return std::nullopt;
  for (const auto& [name, metric] : metrics->items()) {
    const auto primary = metric.find("primary");
    const auto value = metric.find("value");
    if (primary == metric.end() || *primary != true || value == metric.end()) continue;
    if (value->is_number() && std::isfinite(value->get<double>())) return value->get<double>();
  }
  return std::nullopt;
}

std::string counted(std::size_t count, const char* word) {
  return count == 0 ? std::string() : fmt::format("{} {}", count, word);
}

/// What the mean hides; the rules are those of comparisons (suite/statistics/shape.h).
void add_shape_notes(const std::vector<double>& values, std::vector<std::string>& notes) {
  if (std::any_of(values.begin(), values.end(), [](double value) { return value <= 0; })) return;
  const std::vector<double> logs = logarithms(values);
  if (detect_two_modes(logs)) {
    notes.emplace_back("two modes");
  } else if (const std::size_t outliers = find_outliers(logs).size(); outliers > 0) {
    notes.push_back(counted(outliers, outliers == 1 ? "outlier" : "outliers"));
  }
  if (values.size() < fewest_for_drift) return;
  std::vector<double> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0.0);
  const std::optional<Trend> trend = fit_trend(positions, logs);
  if (trend && trend->p < drift_significance && std::abs(trend->change) >= least_drift) {
    notes.push_back(fmt::format("drift {:+.1f} %", 100 * std::expm1(trend->change)));
  }
}

std::vector<std::string> notes_of(const SummaryRow& row, const Benchmark& benchmark) {
  std::vector<std::string> notes;
  add_shape_notes(row.values, notes);
  for (const std::string& text :
       {counted(row.failed, "failed"), counted(row.truncated, "truncated"),
        counted(row.skipped, "skipped"), counted(row.missing, "missing")}) {
    if (!text.empty()) notes.push_back(text);
  }
  if (row.stolen > 0) notes.push_back(fmt::format("steal in {}", row.stolen));
  if (row.boots > 1 && !row.by_boot) notes.push_back(fmt::format("{} boots", row.boots));
  if (!benchmark.scaled.empty()) notes.push_back("scaled: " + benchmark.scaled);
  return notes;
}

/// The values of one benchmark by boot, in the order of the file.
struct Collected {
  SummaryRow row;
  std::map<std::string, std::vector<double>> by_boot;
  std::size_t recorded = 0;
};

/// The share of the host's CPU time that its hypervisor took during the trial.
double stolen_share(const nlohmann::json& counters) {
  const auto host = counters.is_object() ? counters.find("host") : counters.end();
  if (!counters.is_object() || host == counters.end() || !host->is_object()) return 0;
  double total = 0;
  double stolen = 0;
  for (const auto& [name, value] : host->items()) {
    // Guest time is within user time already (proc(5)).
    if (!name.starts_with("cpu_") || name.starts_with("cpu_guest") || !value.is_number()) continue;
    total += value.get<double>();
    if (name == "cpu_steal_ns") stolen = value.get<double>();
  }
  return total > 0 ? stolen / total : 0;
}

void collect(Collected& collected, const RecordedTrial& trial) {
  if (trial.warmup) return;
  ++collected.recorded;
  SummaryRow& row = collected.row;
  if (trial.status == "failed") ++row.failed;
  if (trial.status == "truncated") ++row.truncated;
  if (trial.status == "skipped") ++row.skipped;
  if (!trial.valid()) return;
  const std::optional<double> value = primary_value(trial.sample);
  if (!value) {
    ++row.failed;
    return;
  }
  row.values.push_back(*value);
  if (stolen_share(trial.counters) > spoiling_steal) ++row.stolen;
  collected.by_boot[trial.boot_id].push_back(*value);
}

void summarise(Collected& collected) {
  SummaryRow& row = collected.row;
  row.boots = collected.by_boot.size();
  row.by_boot = row.boots >= fewest_boots;
  if (!row.by_boot) {
    row.summary = summarize(row.values);
    return;
  }
  std::vector<double> means;
  for (const auto& [boot, values] : collected.by_boot) means.push_back(mean(values));
  row.summary = summarize(means);
}

}  // namespace

std::vector<SummaryRow> summarise_rows(const RunFile& file) {
  // A row per benchmark and, where settings are varied, per variant.
  std::map<std::pair<std::string, std::string>, std::size_t> index_of;
  const std::size_t variants = std::max<std::size_t>(1, file.plan.variants.size());
  std::vector<Collected> all(file.plan.benchmarks.size() * variants);
  std::vector<std::size_t> planned(all.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Benchmark& benchmark = file.plan.benchmarks[i / variants];
    const std::string suffix =
        file.plan.variants.empty() ? "" : file.plan.variants[i % variants].suffix;
    all[i].row.family = benchmark.family;
    all[i].row.name = benchmark.name + (suffix.empty() ? "" : " ") + suffix;
    index_of[{benchmark.name, suffix}] = i;
  }
  for (const Trial& trial : file.plan.trials) {
    const std::size_t row = trial.benchmark * variants + trial.variant;
    if (!trial.warmup && row < planned.size()) ++planned[row];
  }
  for (const RecordedTrial* trial : file.final_trials()) {
    const bool varied = !file.plan.variants.empty() && trial->label.starts_with(file.label);
    const auto found = index_of.find(
        {trial->benchmark, varied ? trial->label.substr(file.label.size()) : std::string()});
    if (found != index_of.end()) collect(all[found->second], *trial);
  }
  const std::size_t runs = file.simulated ? std::max<std::size_t>(1, file.boots.size()) : 1;
  std::vector<SummaryRow> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t expected = planned[i] * runs;
    all[i].row.missing = expected > all[i].recorded ? expected - all[i].recorded : 0;
    summarise(all[i]);
    all[i].row.notes = notes_of(all[i].row, file.plan.benchmarks[i / variants]);
    rows.push_back(std::move(all[i].row));
  }
  return rows;
}

}  // namespace krepro
