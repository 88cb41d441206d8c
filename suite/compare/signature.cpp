#include "suite/compare/signature.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "common/base/units.h"
#include "suite/compare/difference.h"
#include "suite/compare/judge.h"
#include "suite/compare/multiplicity.h"
#include "suite/compare/shrinkage.h"
#include "suite/counters/counter_table.h"

namespace krepro {
namespace {

constexpr double least_change = 0.182321557;  // ln 1.2
constexpr double significance = 0.05;

/// One trial of a row, as far as one counter is concerned.
struct Reading {
  std::string host;
  std::string boot;
  double value = 0;
  double seconds = 0;
  double operations = 0;
};

/// The readings of every counter of one side; a trial that could not have a counter has none.
using Readings = std::map<std::string, std::vector<Reading>>;

bool starts_below(const std::string& name, const std::string& prefix) {
  return name == prefix || name.starts_with(prefix + ".");
}

void add_trial(const RunFacts& run, const TrialFacts& trial, const std::set<std::string>& names,
               Readings& readings) {
  std::map<std::string, double> values;
  for (const auto& [index, value] : trial.counters) values[run.counter_names[index]] = value;
  for (const std::string& name : names) {
    const bool absent = std::any_of(
        trial.absent_counters.begin(), trial.absent_counters.end(),
        [&](std::uint32_t each) { return starts_below(name, run.counter_names[each]); });
    if (absent) continue;
    const auto found = values.find(name);
    readings[name].push_back({host_of(run, trial.boot_id), trial.boot_id,
                              found == values.end() ? 0 : found->second, trial.seconds,
                              trial.operations});
  }
}

/// Counted trials of the row that have counters.
std::vector<std::pair<const RunFacts*, const TrialFacts*>> trials_of(const Side& side,
                                                                     const std::string& row) {
  std::vector<std::pair<const RunFacts*, const TrialFacts*>> trials;
  for (const RunFacts& run : side.runs) {
    for (const TrialFacts& trial : run.trials) {
      if (trial.counts && trial.seconds > 0 && run.benchmarks[trial.benchmark].name == row) {
        trials.emplace_back(&run, &trial);
      }
    }
  }
  return trials;
}

Readings readings_of(const Side& side, const std::string& row, const std::set<std::string>& names) {
  Readings readings;
  for (const auto& [run, trial] : trials_of(side, row)) add_trial(*run, *trial, names, readings);
  return readings;
}

std::set<std::string> names_of(const Side& side, const std::string& row) {
  std::set<std::string> names;
  for (const auto& [run, trial] : trials_of(side, row)) {
    for (const auto& [index, value] : trial->counters) names.insert(run->counter_names[index]);
  }
  return names;
}

std::size_t boots_of(const std::vector<Reading>& readings) {
  std::set<std::string> boots;
  for (const Reading& reading : readings) boots.insert(reading.host + "\n" + reading.boot);
  return boots.size();
}

/// A counter's trials as logarithms of rates, one per boot or, with too few boots, one per trial.
std::vector<BootMean> units_of(const std::vector<Reading>& readings, const CounterWords& words,
                               bool by_boot) {
  // Half a step keeps the logarithm of nothing finite.
  const bool share = words.kind == CounterKind::share;
  std::map<std::string, std::pair<std::string, std::vector<double>>> groups;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const Reading& each = readings[i];
    const double log = share ? std::log(each.value + 1e-3)
                             : std::log((each.value / words.quantum + 0.5) / each.seconds);
    auto& [host, logs] = groups[by_boot ? each.host + "\n" + each.boot : std::to_string(i)];
    host = each.host;
    logs.push_back(log);
  }
  std::vector<BootMean> units;
  for (const auto& [key, group] : groups) units.push_back({group.first, mean(group.second)});
  return units;
}

/// Hosts of one side alone say nothing of a difference; without any shared host all count as one.
void keep_shared_hosts(std::vector<BootMean>& base, std::vector<BootMean>& other) {
  std::set<std::string> in_base;
  std::set<std::string> shared;
  for (const BootMean& unit : base) in_base.insert(unit.host);
  for (const BootMean& unit : other) {
    if (in_base.contains(unit.host)) shared.insert(unit.host);
  }
  for (std::vector<BootMean>* side : {&base, &other}) {
    if (shared.empty()) {
      for (BootMean& unit : *side) unit.host.clear();
    } else {
      std::erase_if(*side, [&](const BootMean& unit) { return !shared.contains(unit.host); });
    }
  }
}

struct Sums {
  double value = 0;
  double seconds = 0;
  double operations = 0;
};

Sums sums_of(const std::vector<Reading>& readings) {
  Sums sums;
  for (const Reading& each : readings) {
    sums.value += each.value;
    sums.seconds += each.seconds;
    sums.operations += each.operations;
  }
  return sums;
}

struct Candidate {
  CounterMove move;
  Difference difference;
  bool large = false;
};

/// Nothing where there is too little to tell.
std::optional<Candidate> candidate_of(const std::string& name, const std::vector<Reading>& base,
                                      const std::vector<Reading>& other) {
  const CounterWords words = counter_words(name);
  const bool by_boot = std::min(boots_of(base), boots_of(other)) >= minimum_boots;
  std::vector<BootMean> left = units_of(base, words, by_boot);
  std::vector<BootMean> right = units_of(other, words, by_boot);
  keep_shared_hosts(left, right);
  if (left.size() < 2 || right.size() < 2) return std::nullopt;
  const std::optional<Difference> difference = pooled_difference(left, right);
  if (!difference) return std::nullopt;
  Candidate result{{}, *difference, false};
  const Sums from = sums_of(base);
  const Sums to = sums_of(other);
  CounterMove& move = result.move;
  move.name = name;
  move.within_boot = !by_boot;
  const bool share = words.kind == CounterKind::share;
  move.base = from.value / (share ? static_cast<double>(base.size()) : from.seconds);
  move.other = to.value / (share ? static_cast<double>(other.size()) : to.seconds);
  result.large = std::abs(difference->estimate) >= least_change;
  if (share) return result;
  // Events are never told apart better than by their count: Poisson's noise is the least there is.
  const double counted =
      1 / (from.value / words.quantum + 0.5) + 1 / (to.value / words.quantum + 0.5);
  result.difference.variance = std::max(difference->variance, counted / difference->factor);
  if (from.operations > 0 && to.operations > 0) {
    move.base_per_operation = from.value / from.operations;
    move.other_per_operation = to.value / to.operations;
    const double per_operation = std::log((to.value + words.quantum / 2) / to.operations) -
                                 std::log((from.value + words.quantum / 2) / from.operations);
    result.large = result.large && std::abs(per_operation) >= least_change &&
                   (per_operation > 0) == (difference->estimate > 0);
  }
  return result;
}

/// With few trials a counter's own variance is a poor guess of its noise: all counters of the row
/// lend each other theirs.
void share_noise(std::vector<Candidate>& candidates) {
  if (candidates.size() < minimum_rows_to_shrink) return;
  std::vector<double> variances;
  std::vector<double> df;
  for (const Candidate& each : candidates) {
    variances.push_back(each.difference.variance);
    df.push_back(each.difference.df);
  }
  const ShrunkVariances shrunk = shrink_variances(variances, df);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Difference& difference = candidates[i].difference;
    // Raised where it is small by chance; a counter that is really noisy stays so.
    difference.variance = std::max(difference.variance, shrunk.variances[i]);
  }
}

}  // namespace

std::vector<CounterMove> find_counter_moves(const Side& base, const Side& other,
                                            const std::string& name, std::size_t limit) {
  std::set<std::string> names = names_of(base, name);
  names.merge(names_of(other, name));
  const Readings from = readings_of(base, name, names);
  const Readings to = readings_of(other, name, names);
  std::vector<Candidate> candidates;
  for (const auto& [counter, readings] : from) {
    const auto others = to.find(counter);
    if (others == to.end()) continue;
    if (auto candidate = candidate_of(counter, readings, others->second)) {
      candidates.push_back(std::move(*candidate));
    }
  }
  share_noise(candidates);
  std::vector<double> p;
  for (const Candidate& each : candidates) p.push_back(each.difference.two_sided_p());
  const std::vector<double> adjusted = benjamini_hochberg(p);
  std::vector<CounterMove> moves;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].large || adjusted[i] > significance) continue;
    CounterMove move = candidates[i].move;
    const double error = candidates[i].difference.standard_error();
    move.t = error > 0 ? candidates[i].difference.estimate / error
                       : std::copysign(std::numeric_limits<double>::max(),
                                       candidates[i].difference.estimate);
    move.adjusted_p = adjusted[i];
    moves.push_back(std::move(move));
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const CounterMove& left, const CounterMove& right) {
                     return std::abs(left.t) > std::abs(right.t);
                   });
  if (moves.size() > limit) moves.resize(limit);
  return moves;
}

std::string move_text(const CounterMove& move) {
  const CounterWords words = counter_words(move.name);
  if (words.kind == CounterKind::share) {
    return fmt::format("{}: {:.1f} % -> {:.1f} %{}", words.text, 100 * move.base, 100 * move.other,
                       move.within_boot ? " w" : "");
  }
  const auto figure = [&words](double value) {
    if (words.kind == CounterKind::time) return format_duration(value);
    if (words.kind == CounterKind::bytes) return format_bytes(value);
    return format_count(value);
  };
  std::string text =
      fmt::format("{} per second: {} -> {}", words.text, figure(move.base), figure(move.other));
  if (move.base_per_operation > 0 || move.other_per_operation > 0) {
    text += fmt::format(" (per operation {} -> {})", figure(move.base_per_operation),
                        figure(move.other_per_operation));
  }
  return move.within_boot ? text + " w" : text;
}

}  // namespace krepro
