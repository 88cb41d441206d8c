// Counters that move between made-up sides: found with their figures, ranked by how sure the move
// is, and not found where nothing or only the throughput moved.
#include "suite/compare/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/compare/comparison.h"
#include "suite/compare/reports.h"
#include "suite/compare/test_support.h"

namespace krepro {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* newidle = "schedstat.domains.domain0-SMT.newidle_attempts";

/// A side of `boots` boots of three trials, each of one second and 1000 operations, whose counters
/// have these means and a noise of 5 %.
Side side_of(const std::string& label, std::size_t boots,
             const std::map<std::string, double>& means, std::uint64_t seed,
             double operations = 1000) {
  MadeUpRun run;
  run.label = label;
  run.build_id = label;
  Side side{label, made_up_runs(run, boots)};
  RandomStream random(seed, 5);
  for (RunFacts& facts : side.runs) {
    facts.counter_names.clear();
    for (const auto& [name, mean] : means) facts.counter_names.push_back(name);
    for (TrialFacts& trial : facts.trials) {
      trial.seconds = 1;
      trial.operations = operations;
      trial.counters.clear();
      std::uint32_t index = 0;
      for (const auto& [name, mean] : means) {
        trial.counters.emplace_back(index++, mean * std::exp(0.05 * random.normal()));
      }
    }
  }
  return side;
}

std::map<std::string, double> quiet_counters() {
  std::map<std::string, double> means;
  for (int i = 0; i < 40; ++i) means["vmstat.event" + std::to_string(i)] = 1000.0 * (i + 1);
  means[newidle] = 12'000;
  means["host.context_switches"] = 50'000;
  return means;
}

std::vector<CounterMove> moves(const Side& base, const Side& other) {
  return find_counter_moves(base, other, MadeUpRow{}.name, 6);
}

TEST(Signature, TheCounterThatMovedIsNamedWithItsRates) {
  std::map<std::string, double> changed = quiet_counters();
  changed[newidle] = 310'000;
  changed["host.context_switches"] = 70'000;
  const std::vector<CounterMove> found =
      moves(side_of("a", 4, quiet_counters(), 1), side_of("b", 4, changed, 2));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, newidle);
  EXPECT_EQ(found[1].name, "host.context_switches");
  EXPECT_GT(found[0].t, found[1].t);
  EXPECT_NEAR(found[0].base, 12'000, 1000);
  EXPECT_NEAR(found[0].other_per_operation, 310, 20);
  EXPECT_FALSE(found[0].within_boot);
}

TEST(Signature, TheTextIsWhatAMaintainerReads) {
  CounterMove move;
  move.name = newidle;
  move.base = 12'000;
  move.other = 310'000;
  EXPECT_EQ(move_text(move), "newidle balance calls (SMT) per second: 12 k -> 310 k");
  move.base_per_operation = 0.04;
  move.other_per_operation = 1.1;
  move.within_boot = true;
  EXPECT_EQ(move_text(move),
            "newidle balance calls (SMT) per second: 12 k -> 310 k (per operation 0.04 -> 1.1) w");
  move.name = "llc_busy.0-3,48-51";
  move.base = 0.5;
  move.other = 0.75;
  EXPECT_EQ(move_text(move), "busy: CPUs 0-3,48-51: 50.0 % -> 75.0 % w");
}

TEST(Signature, EqualSidesShowNothing) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    found += moves(side_of("a", 4, quiet_counters(), 10 + seed),
                   side_of("b", 4, quiet_counters(), 100 + seed))
                 .size();
  }
  EXPECT_EQ(found, 0U);
}

TEST(Signature, WhatFollowsTheThroughputAloneIsLeftOut) {
  std::map<std::string, double> halved;
  for (const auto& [name, mean] : quiet_counters()) halved[name] = mean / 2;
  EXPECT_TRUE(moves(side_of("a", 4, quiet_counters(), 1), side_of("b", 4, halved, 2, 500)).empty());
}

TEST(Signature, WhatFollowsTheClockAloneIsLeftOut) {
  EXPECT_TRUE(moves(side_of("a", 4, quiet_counters(), 1), side_of("b", 4, quiet_counters(), 2, 500))
                  .empty());
}

TEST(Signature, FewEventsAreNotSureHoweverEqualTheyAre) {
  std::map<std::string, double> base = quiet_counters();
  std::map<std::string, double> other = quiet_counters();
  base["vmstat.rare"] = 1;
  other["vmstat.rare"] = 2;
  EXPECT_TRUE(moves(side_of("a", 4, base, 1), side_of("b", 4, other, 2)).empty());
}

TEST(Signature, ACounterThatOneSideCouldNotHaveIsNotCompared) {
  std::map<std::string, double> with = quiet_counters();
  with["hardware.cycles"] = 1e9;
  Side without = side_of("b", 4, quiet_counters(), 2);
  for (RunFacts& run : without.runs) {
    run.counter_names.emplace_back("hardware");
    for (TrialFacts& trial : run.trials) {
      trial.absent_counters = {static_cast<std::uint32_t>(run.counter_names.size() - 1)};
    }
  }
  EXPECT_TRUE(moves(side_of("a", 4, with, 1), without).empty());
  // Where it could have been had, its absence is a zero.
  EXPECT_EQ(moves(side_of("a", 4, with, 1), side_of("b", 4, quiet_counters(), 2)).size(), 1U);
}

TEST(Signature, WithFewBootsTheTrialsAreJudgedAndMarked) {
  std::map<std::string, double> changed = quiet_counters();
  changed[newidle] = 310'000;
  const std::vector<CounterMove> found =
      moves(side_of("a", 1, quiet_counters(), 1), side_of("b", 1, changed, 2));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].name, newidle);
  EXPECT_TRUE(found[0].within_boot);
}

TEST(Signature, TheReportShowsItUnderTheRow) {
  std::map<std::string, double> changed = quiet_counters();
  changed[newidle] = 310'000;
  CompareOptions options;
  const std::vector<Side> sides = {side_of("a", 4, quiet_counters(), 1),
                                   side_of("b", 4, changed, 2)};
  EXPECT_THAT(text_report(compare_sides(sides, options)), Not(HasSubstr("newidle")));
  options.signature = true;
  const Comparison comparison = compare_sides(sides, options);
  EXPECT_THAT(
      text_report(comparison),
      AllOf(HasSubstr("A: newidle balance calls (SMT) per second: 1"), HasSubstr(" k -> 3")));
  const nlohmann::json cell = json_report(comparison).at("rows")[0].at("cells")[0];
  ASSERT_EQ(cell.at("counters").size(), 1U);
  EXPECT_EQ(cell.at("counters")[0].at("counter"), newidle);
}

}  // namespace
}  // namespace krepro
