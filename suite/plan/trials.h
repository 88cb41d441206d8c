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
[[nodiscard]] std::vector<Trial> order_trials(const std::vector<TrialCounts>& counts, Order order,
                                              std::uint64_t seed);

}  // namespace krepro
