// The promises of `krepro compare` about its own error rates, as scenarios with bounds:
// `krepro compare --self-test TABLES` checks them and prints the table of docs/statistics.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "suite/compare/simulation.h"

namespace krepro {

/// Shares that must not be passed; 1 (or 0 for the power) is no bound.
struct Bounds {
  double tables_with_false_verdict = 1;
  double false_share = 1;
  double min_power = 0;
  double noisy_alarms = 1;
  double noisy_p_below_level = 1;
  double false_same = 1;
};

struct BoundedScenario {
  Scenario scenario;
  Rule rule = Rule::moderated;
  Bounds bounds;
};

[[nodiscard]] std::vector<BoundedScenario> bounded_scenarios();

/// What passes its bound, in words; empty: all hold. `slack` is added to each upper bound and taken
/// from the power: a run with few tables has chance of its own.
[[nodiscard]] std::vector<std::string> violations(const SimulationResult& result,
                                                  const Bounds& bounds, double slack);

/// Runs every scenario over `tables` tables and returns the report, at most 78 columns wide.
struct SelfTestReport {
  std::string text;
  bool all_hold = true;
};
[[nodiscard]] SelfTestReport run_self_test(std::size_t tables, std::uint64_t seed);

}  // namespace krepro
