#include "suite/compare/rows.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/error.h"
#include "suite/statistics/shape.h"

namespace krepro {
namespace {

/// A trend is named when it is this sure, and when it moves a run by this much from end to end.
constexpr double drift_significance = 0.01;
constexpr double least_drift = 0.01;

bool matches(const std::string& name, const std::vector<std::string>& patterns) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
           return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

/// More repetitions than a file has: the next file of the same boot has blocks of its own.
constexpr std::int64_t blocks_per_file = 1'000'000;

/// Trials of a boot with their facts, for notes.
struct BootParts {
  BootTrials trials;
  std::vector<const TrialFacts*> facts;
};

void merge_details(const DetailFacts& from, DetailFacts& into) {
  for (const auto& [name, histogram] : from.latency) into.latency[name].merge(histogram);
  for (const auto& series : from.series) {
    if (into.series.size() < 8) into.series.push_back(series);
  }
  for (const auto& [name, sum] : from.counters) into.counters[name] += sum;
  into.operations += from.operations;
}

/// A trend over the repetitions, on the log scale, each boot about its own mean: what changes
/// within a run shows, what differs between boots does not.
std::optional<Trend> find_drift(const std::vector<BootParts>& boots) {
  std::vector<double> positions;
  std::vector<double> deviations;
  for (const BootParts& boot : boots) {
    const std::vector<double> logs = logarithms(boot.trials.values);
    const double level = mean(logs);
    for (std::size_t i = 0; i < logs.size(); ++i) {
      positions.push_back(static_cast<double>(i));
      deviations.push_back(logs[i] - level);
    }
  }
  return fit_trend(positions, deviations);
}

void note_outliers(const std::vector<BootParts>& boots, std::vector<std::string>& notes) {
  std::vector<double> values;
  std::vector<std::pair<std::size_t, const TrialFacts*>> origin;
  for (std::size_t boot = 0; boot < boots.size(); ++boot) {
    for (std::size_t i = 0; i < boots[boot].trials.values.size(); ++i) {
      values.push_back(boots[boot].trials.values[i]);
      origin.emplace_back(boot, boots[boot].facts[i]);
    }
  }
  const std::vector<std::size_t> places = find_outliers(logarithms(values));
  const double middle = median(values);
  for (std::size_t i = 0; i < places.size() && i < 3; ++i) {
    const auto& [boot, trial] = origin[places[i]];
    notes.push_back(fmt::format("outlier: boot {} trial {}, {:.2f}x the median{}{}", boot + 1,
                                trial->repetition + 1, values[places[i]] / middle,
                                trial->disturbance.empty() ? "" : "; ", trial->disturbance));
  }
  if (places.size() > 3) notes.push_back(fmt::format("{} more outliers", places.size() - 3));
}

std::vector<std::string> note_shape(const std::vector<BootParts>& boots) {
  std::vector<std::string> notes;
  std::vector<double> values;
  for (const BootParts& boot : boots) {
    values.insert(values.end(), boot.trials.values.begin(), boot.trials.values.end());
  }
  // Zeros have no logarithm; such a row gets no ratio either.
  if (std::any_of(values.begin(), values.end(), [](double value) { return !(value > 0); })) {
    return notes;
  }
  if (const std::optional<TwoModes> modes = detect_two_modes(logarithms(values))) {
    notes.push_back(fmt::format("two modes, {:.2f}x apart ({:.0f} % of trials in the upper)",
                                std::exp(modes->high - modes->low), 100 * modes->share_high));
  } else {
    note_outliers(boots, notes);
  }
  const std::optional<Trend> drift = find_drift(boots);
  if (drift && drift->p < drift_significance && std::abs(drift->change) > least_drift) {
    notes.push_back(fmt::format("drift {:+.1f} % within a run", 100 * std::expm1(drift->change)));
  }
  return notes;
}

/// Takes one benchmark out of all runs of a side.
class SideReader {
 public:
  SideReader(const Side& side, const std::string& key, Table& table)
      : side_(side), key_(key), table_(table) {}

  SideRow read(const std::string& name) {
    SideRow row;
    std::vector<BootParts> boots;
    for (const RunFacts& run : side_.runs) {
      for (std::size_t i = 0; i < run.benchmarks.size(); ++i) {
        if (run.benchmarks[i].name == name) add_run(run, i, row, boots);
      }
    }
    for (BootParts& boot : boots) row.boots.push_back(boot.trials);
    row.notes = note_shape(boots);
    return row;
  }

 private:
  void add_run(const RunFacts& run, std::size_t index, SideRow& row,
               std::vector<BootParts>& boots) {
    const BenchmarkFacts& benchmark = run.benchmarks[index];
    if (!row.present || row.benchmark.unit.empty()) {
      row.benchmark = benchmark;
    } else if (!benchmark.unit.empty() && benchmark.unit != row.benchmark.unit) {
      throw usage_error(fmt::format("mixed units: \"{}\" is in {} in {}, and in {} before",
                                    benchmark.name, benchmark.unit, run.path.string(),
                                    row.benchmark.unit));
    }
    row.present = true;
    merge_details(run.details[index], row.details);
    for (const TrialFacts& trial : run.trials) {
      if (trial.benchmark != index) continue;
      if (!trial.counts) {
        if (!trial.warmup) list_left_out(benchmark.name, trial);
        continue;
      }
      BootParts& boot = boot_of(boots, run, trial.boot_id);
      boot.trials.values.push_back(trial.value);
      boot.trials.blocks.push_back(file_number(run, trial.boot_id) * blocks_per_file +
                                   trial.repetition);
      boot.facts.push_back(&trial);
    }
  }

  void list_left_out(const std::string& name, const TrialFacts& trial) {
    table_.left_out.push_back(
        fmt::format("{} {} trial {}: {}", key_, name, trial.repetition + 1, trial.reason));
  }

  /// The how many-th of this side's files in that boot.
  [[nodiscard]] std::int64_t file_number(const RunFacts& run, const std::string& boot_id) const {
    std::int64_t number = 0;
    for (const RunFacts& other : side_.runs) {
      if (&other == &run) break;
      if (std::any_of(other.boots.begin(), other.boots.end(),
                      [&](const BootFacts& boot) { return boot.boot_id == boot_id; })) {
        ++number;
      }
    }
    return number;
  }

  static BootParts& boot_of(std::vector<BootParts>& boots, const RunFacts& run,
                            const std::string& boot_id) {
    const std::string host = host_of(run, boot_id);
    for (BootParts& boot : boots) {
      if (boot.trials.boot == boot_id && boot.trials.host == host) return boot;
    }
    boots.push_back({{host, boot_id, {}, {}}, {}});
    return boots.back();
  }

  const Side& side_;
  const std::string& key_;
  Table& table_;
};

/// Names of all benchmarks of a side, in the order of its plans.
std::vector<std::string> names_of(const Side& side) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunFacts& run : side.runs) {
    for (const BenchmarkFacts& benchmark : run.benchmarks) {
      if (seen.insert(benchmark.name).second) names.push_back(benchmark.name);
    }
  }
  return names;
}

void list_missing(const std::vector<Side>& sides, const std::vector<std::string>& keys,
                  const std::vector<std::string>& only, Table& table) {
  std::map<std::string, std::vector<std::string>> holders;
  std::vector<std::string> order;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (const std::string& name : names_of(sides[i])) {
      if (!matches(name, only)) continue;
      if (holders[name].empty()) order.push_back(name);
      holders[name].push_back(keys[i]);
    }
  }
  for (const std::string& name : order) {
    if (holders[name].size() < sides.size()) {
      table.missing.push_back(
          fmt::format("{} (only in {})", name, fmt::join(holders[name], " and ")));
    }
  }
}

void check_units(const TableRow& row, const std::vector<std::string>& keys) {
  const BenchmarkFacts& base = row.sides[0].benchmark;
  for (std::size_t i = 1; i < row.sides.size(); ++i) {
    const BenchmarkFacts& other = row.sides[i].benchmark;
    if (base.unit.empty() || other.unit.empty()) continue;
    if (base.unit != other.unit || base.metric != other.metric ||
        base.higher_is_better != other.higher_is_better) {
      throw usage_error(fmt::format("mixed units: \"{}\" is {} in {} in base, {} in {} in {}",
                                    row.name, base.metric, base.unit, other.metric, other.unit,
                                    keys[i]));
    }
  }
}

}  // namespace

Table make_table(const std::vector<Side>& sides, const std::vector<std::string>& keys,
                 const std::vector<std::string>& only) {
  Table table;
  std::vector<SideReader> readers;
  for (std::size_t i = 0; i < sides.size(); ++i) readers.emplace_back(sides[i], keys[i], table);
  list_missing(sides, keys, only, table);
  for (const std::string& name : names_of(sides[0])) {
    if (!matches(name, only)) continue;
    TableRow row{name, {}};
    bool somewhere_else = false;
    for (SideReader& reader : readers) {
      row.sides.push_back(reader.read(name));
      if (row.sides.size() > 1 && row.sides.back().present) somewhere_else = true;
    }
    if (!somewhere_else) continue;
    check_units(row, keys);
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) return table;
  std::vector<std::string> hold;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    hold.push_back(fmt::format("{}: {}", keys[i], fmt::join(names_of(sides[i]), ", ")));
  }
  throw usage_error(only.empty() ? "no benchmark is in the base and in another side"
                                 : fmt::format("no row of base and another side matches {}",
                                               fmt::join(only, " or ")),
                    fmt::format("the files hold {}", fmt::join(hold, "; ")));
}

std::vector<double> all_values(const std::vector<BootTrials>& boots) {
  std::vector<double> values;
  for (const BootTrials& boot : boots) {
    values.insert(values.end(), boot.values.begin(), boot.values.end());
  }
  return values;
}

std::optional<double> typical_value(const std::vector<BootTrials>& boots) {
  std::vector<double> means;
  for (const BootTrials& boot : boots) {
    const bool positive =
        std::all_of(boot.values.begin(), boot.values.end(), [](double value) { return value > 0; });
    if (!positive) return mean(all_values(boots));
    if (!boot.values.empty()) means.push_back(geometric_mean(boot.values));
  }
  if (means.empty()) return std::nullopt;
  return geometric_mean(means);
}

}  // namespace krepro
