// Puts the trials of all rows in the order in which they run; draws no rows.
#include "suite/plan/trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/base/random.h"

namespace krepro {

namespace {

/// Stream of the shuffle, apart from those that the generators' workers use.
constexpr std::uint64_t shuffle_stream = 0x6f72646572;  // "order"

void add(std::vector<Trial>& trials, std::size_t benchmark, std::int64_t repetition, bool warmup) {
  trials.push_back({0, benchmark, repetition, warmup});
}

/// All benchmarks once, then all again, as often as each wants it.
void add_rounds(std::vector<Trial>& trials, const std::vector<TrialCounts>& counts,
                std::int64_t TrialCounts::*member, bool warmup) {
  std::int64_t rounds = 0;
  for (const TrialCounts& count : counts) rounds = std::max(rounds, count.*member);
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (round < counts[i].*member) add(trials, i, round, warmup);
    }
  }
}

}  // namespace

std::vector<Trial> order_trials(const std::vector<TrialCounts>& counts, Order order,
                                std::uint64_t seed) {
  std::vector<Trial> trials;
  if (order == Order::sequential) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (std::int64_t r = 0; r < counts[i].warmups; ++r) add(trials, i, r, true);
      for (std::int64_t r = 0; r < counts[i].repetitions; ++r) add(trials, i, r, false);
    }
  } else {
    add_rounds(trials, counts, &TrialCounts::warmups, true);
    const std::size_t first = trials.size();
    add_rounds(trials, counts, &TrialCounts::repetitions, false);
    if (order == Order::random) {
      RandomStream random(seed, shuffle_stream);
      for (std::size_t left = trials.size() - first; left > 1; --left) {
        std::swap(trials[first + left - 1], trials[first + random.below(left)]);
      }
    }
  }
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i].index = i;
  return trials;
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
