// Puts the trials of all rows in the order in which they run; draws no rows.
#include "suite/plan/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/base/random.h"

namespace krepro {

namespace {

/// Stream of the shuffle, apart from those that the generators' workers use.
constexpr std::uint64_t shuffle_stream = 0x6f72646572;  // "order"

/// Puts the trials of one plan into their order, one after the other.
class TrialList {
 public:
  TrialList(const std::vector<TrialCounts>& counts, std::size_t variants, bool settles)
      : counts_(counts), variants_(variants), settles_(settles) {}

  /// All benchmarks of `benchmarks` that want this round, with one variant.
  void add_block(std::size_t variant, std::int64_t round, bool warmup,
                 const std::vector<std::size_t>& benchmarks) {
    for (const std::size_t benchmark : benchmarks) {
      const TrialCounts& count = counts_[benchmark];
      if (round >= (warmup ? count.warmups : count.repetitions)) continue;
      // A warm-up settles as well as a trial made for it.
      if (variant != last_variant_ && settles_ && !warmup) {
        trials_.push_back({0, benchmark, round, true, variant, true});
      }
      last_variant_ = variant;
      trials_.push_back({0, benchmark, round, warmup, variant, false});
    }
  }

  /// The variants of one round: forwards in even ones, backwards in odd ones.
  [[nodiscard]] std::vector<std::size_t> variants_of(std::int64_t round) const {
    std::vector<std::size_t> order = indices(variants_);
    if (round % 2 == 1) std::reverse(order.begin(), order.end());
    return order;
  }

  [[nodiscard]] std::int64_t rounds(std::int64_t TrialCounts::*member) const {
    std::int64_t most = 0;
    for (const TrialCounts& count : counts_) most = std::max(most, count.*member);
    return most;
  }

  [[nodiscard]] static std::vector<std::size_t> indices(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  [[nodiscard]] std::vector<Trial> finish() {
    for (std::size_t i = 0; i < trials_.size(); ++i) trials_[i].index = i;
    return std::move(trials_);
  }

 private:
  const std::vector<TrialCounts>& counts_;
  std::size_t variants_;
  bool settles_;
  std::size_t last_variant_ = no_variant;
  std::vector<Trial> trials_;
  static constexpr std::size_t no_variant = static_cast<std::size_t>(-1);
};

template <typename Value>
void shuffle(std::vector<Value>& values, RandomStream& random) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[random.below(left)]);
  }
}

/// Without variants all trials are shuffled; with them each repetition by itself, so that a
/// repetition's pairs stay near each other and settings are not switched for every trial.
void add_random(TrialList& list, const std::vector<TrialCounts>& counts, std::size_t variants,
                std::uint64_t seed) {
  RandomStream random(seed, shuffle_stream);
  if (variants > 1) {
    for (std::int64_t round = 0; round < list.rounds(&TrialCounts::repetitions); ++round) {
      std::vector<std::size_t> order = TrialList::indices(variants);
      shuffle(order, random);
      for (const std::size_t variant : order) {
        std::vector<std::size_t> benchmarks = TrialList::indices(counts.size());
        shuffle(benchmarks, random);
        list.add_block(variant, round, false, benchmarks);
      }
    }
    return;
  }
  std::vector<std::pair<std::size_t, std::int64_t>> all;
  for (std::int64_t round = 0; round < list.rounds(&TrialCounts::repetitions); ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (round < counts[i].repetitions) all.emplace_back(i, round);
    }
  }
  shuffle(all, random);
  for (const auto& [benchmark, round] : all) list.add_block(0, round, false, {benchmark});
}

}  // namespace

std::vector<Trial> order_trials(const std::vector<TrialCounts>& counts, Order order,
                                std::uint64_t seed, std::size_t variants, bool settles) {
  TrialList list(counts, variants, settles);
  const auto add_rounds = [&](std::int64_t rounds, bool warmup,
                              const std::vector<std::size_t>& benchmarks) {
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (const std::size_t variant : list.variants_of(round)) {
        list.add_block(variant, round, warmup, benchmarks);
      }
    }
  };
  if (order == Order::sequential) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      add_rounds(counts[i].warmups, true, {i});
      add_rounds(counts[i].repetitions, false, {i});
    }
    return list.finish();
  }
  const std::vector<std::size_t> all = TrialList::indices(counts.size());
  add_rounds(list.rounds(&TrialCounts::warmups), true, all);
  if (order == Order::random) {
    add_random(list, counts, variants, seed);
  } else {
    add_rounds(list.rounds(&TrialCounts::repetitions), false, all);
  }
  return list.finish();
}

const char* to_string(Order order) {
  switch (order) {
    case Order::interleaved:
      return "interleaved";
    case Order::sequential:
      return "sequential";
    case Order::random:
      break;
  }
  return "random";
}

Order parse_order(const std::string& text) {
  for (const Order order : {Order::interleaved, Order::sequential, Order::random}) {
    if (text == to_string(order)) return order;
  }
  const std::string near = suggestion(text, {"interleaved", "sequential", "random"});
  throw usage_error(
      fmt::format("\"{}\" is not an order; there are interleaved, sequential and random", text),
      near);
}

}  // namespace krepro
