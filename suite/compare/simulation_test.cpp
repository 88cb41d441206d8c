// The promises about error rates, with few tables: chance gets some slack here. The full run is
// `krepro compare --self-test 2000`.
#include "suite/compare/simulation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "suite/compare/error_rates.h"

namespace krepro {
namespace {

constexpr std::size_t tables = 30;

TEST(Simulation, SameSeedSameFigures) {
  const Scenario scenario;
  const SimulationResult first = simulate(scenario, {}, 20, 7);
  const SimulationResult second = simulate(scenario, {}, 20, 7);
  EXPECT_EQ(first.noisy_p_below_level, second.noisy_p_below_level);
  EXPECT_EQ(first.tables, 20u);
}

TEST(Simulation, EveryBoundHolds) {
  // Three standard errors of a share of 9 % over this many tables.
  const double slack = 3 * std::sqrt(0.09 * 0.91 / static_cast<double>(tables));
  for (const BoundedScenario& bounded : bounded_scenarios()) {
    JudgeOptions options;
    options.rule = bounded.rule;
    const SimulationResult result = simulate(bounded.scenario, options, tables, 11);
    for (const std::string& violation : violations(result, bounded.bounds, slack)) {
      ADD_FAILURE() << bounded.scenario.name << ": " << violation;
    }
  }
}

TEST(Simulation, AWrongRuleWouldBeSeen) {
  // Without the correction over the table (a level 88 times as high is about the same) nearly every
  // table has a false verdict: the simulation can fail.
  JudgeOptions uncorrected;
  uncorrected.rule = Rule::strict;
  uncorrected.level = 1;
  const SimulationResult result = simulate(Scenario{}, uncorrected, 20, 3);
  EXPECT_GT(result.tables_with_false_verdict, 0.9);
  EXPECT_FALSE(violations(result, {.tables_with_false_verdict = 0.09}, 0.1).empty());
}

TEST(Simulation, RealChangesAreFoundInTheRightDirection) {
  Scenario scenario;
  scenario.shifted_rows = 10;
  scenario.shift = 20;
  EXPECT_GT(simulate(scenario, {}, 20, 5).power, 0.95);
}

}  // namespace
}  // namespace krepro
