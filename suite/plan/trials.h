// The order in which a plan's trials run.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/plan/plan.h"

namespace krepro {

/// How often one benchmark runs.
struct TrialCounts {
  std::int64_t warmups = 0;
  std::int64_t repetitions = 1;
};

/// All trials in their order, `counts` by benchmark. Warm-ups come before the trials they warm up
/// for: before everything (interleaved, random) or before their benchmark's (sequential).
///
/// With `variants` of settings every benchmark runs its counts with each. Within a repetition the
/// variants follow each other, in turn forwards and backwards (A B, B A), so that a drift hits them
/// alike; in random order they are shuffled. Where `settles`, a warm-up of the first benchmark
/// stands behind every switch.
[[nodiscard]] std::vector<Trial> order_trials(const std::vector<TrialCounts>& counts, Order order,
                                              std::uint64_t seed, std::size_t variants = 1,
                                              bool settles = false);

}  // namespace krepro
