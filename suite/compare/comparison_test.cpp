// Whole comparisons from run files to verdicts and to what stands above the table.
#include "suite/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"
#include "suite/compare/checks.h"
#include "suite/compare/test_support.h"

namespace krepro {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<Side> two_sides(const MadeUpRun& base, const MadeUpRun& other, std::size_t boots = 4) {
  return {{base.label, made_up_runs(base, boots)}, {other.label, made_up_runs(other, boots)}};
}

const RowTest& only_test(const Comparison& comparison) {
  EXPECT_EQ(comparison.rows.size(), 1u);
  return comparison.rows[0].cells[0].test;
}

TEST(Comparison, ASlowerKernelIsWorse) {
  const MadeUpRun base;
  const Comparison comparison =
      compare_sides(two_sides(base, scaled(base, "6.19", "bbbb", 1.2)), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::worse);
  EXPECT_NEAR(change_of(only_test(comparison).difference->estimate), 1 / 1.2 - 1, 0.01);
  EXPECT_EQ(exit_status(comparison), 1);
  EXPECT_EQ(comparison.columns[0].boots, 4u);
  EXPECT_EQ(comparison.columns[0].least_repetitions, 3u);
  EXPECT_NEAR(*comparison.rows[0].base_value, 0.662, 0.01);
}

TEST(Comparison, TheSameSpeedIsSameAndExitsWithZero) {
  const MadeUpRun base;
  const Comparison comparison = compare_sides(two_sides(base, scaled(base, "6.19", "bbbb", 1)), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::same);
  EXPECT_EQ(exit_status(comparison), 0);
}

TEST(Comparison, OneBootASideIsUnresolved) {
  const MadeUpRun base;
  const Comparison comparison =
      compare_sides(two_sides(base, scaled(base, "6.19", "bbbb", 1.2), 1), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::unresolved);
  EXPECT_THAT(only_test(comparison).reason, HasSubstr("1 boot per kernel"));
  EXPECT_EQ(exit_status(comparison), 125);
}

TEST(Comparison, TheSameKernelOnBothSidesGetsNoVerdict) {
  const MadeUpRun base;
  const MadeUpRun other = scaled(base, "other", "aaaa", 1.2);
  Comparison comparison = compare_sides(two_sides(base, other), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::unresolved);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("the same kernel")));
  CompareOptions settings;
  settings.same_kernel_allowed = true;
  EXPECT_EQ(only_test(compare_sides(two_sides(base, other), settings)).verdict, Verdict::worse);
  const MadeUpRun setting = scaled(base, "6.18.0+preempt=lazy", "aaaa", 1.2);
  EXPECT_EQ(only_test(compare_sides(two_sides(base, setting), {})).verdict, Verdict::worse);
}

TEST(Comparison, OtherOptionsOrSourcesAreAnotherLoad) {
  const MadeUpRun base;
  MadeUpRun other = scaled(base, "6.19", "bbbb", 1.2);
  other.rows[0].options = {{"groups", 8}};
  Comparison comparison = compare_sides(two_sides(base, other), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::unresolved);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("options differ: groups 4 and 8")));
  CompareOptions settings;
  settings.same_kernel_allowed = true;
  comparison = compare_sides(two_sides(base, other), settings);
  EXPECT_EQ(only_test(comparison).verdict, Verdict::worse) << "the options are what is compared";
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("options differ: groups 4 and 8: 1 row")));
  other.rows[0].options = base.rows[0].options;
  other.source_hash = "changed";
  comparison = compare_sides(two_sides(base, other), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::unresolved);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("sources differ")));
}

TEST(Comparison, DifferentHostsAreSaidAndGetNoVerdict) {
  const MadeUpRun base;
  MadeUpRun other = scaled(base, "6.19", "bbbb", 1.2);
  other.host = "elsewhere";
  other.machine = "2 CPUs";
  const Comparison comparison = compare_sides(two_sides(base, other), {});
  EXPECT_EQ(only_test(comparison).verdict, Verdict::unresolved);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("different hosts")));
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("the machines differ")));
}

TEST(Comparison, OrderOfBootsIsSaid) {
  const MadeUpRun base;
  MadeUpRun later = scaled(base, "6.19", "bbbb", 1);
  EXPECT_THAT(compare_sides(two_sides(base, later), {}).warnings,
              Not(Contains(HasSubstr("came before"))));
  later.first_boot = 4;
  EXPECT_THAT(compare_sides(two_sides(base, later), {}).warnings,
              Contains(HasSubstr("came before")));
}

TEST(Comparison, EnvironmentDifferencesStandAboveTheVerdictMostSuspiciousFirst) {
  const MadeUpRun base;
  MadeUpRun other = scaled(base, "6.19", "bbbb", 1);
  other.environment["kernel.preemption"] = {{"value", "lazy"}, {"source", "x"}};
  other.environment["limits.file_max"] = {{"value", 5}, {"source", "x"}};
  other.environment["load.uptime_s"] = {{"value", 17}, {"source", "x"}};
  other.environment["host.name"] = {{"value", "secret"}, {"source", "x"}, {"identity", true}};
  const Comparison comparison = compare_sides(two_sides(base, other), {});
  ASSERT_EQ(comparison.environment.size(), 2u);
  EXPECT_EQ(comparison.environment[0].item, "kernel.preemption");
  EXPECT_EQ(comparison.environment[0].values, (std::vector<std::string>{"-", "lazy"}));
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("more than the kernel differs")));
}

TEST(Comparison, CommandLinesAreComparedWordByWord) {
  const MadeUpRun base;
  MadeUpRun left = base;
  MadeUpRun right = scaled(base, "6.19", "bbbb", 1);
  left.environment["kernel.cmdline"] = {{"value", "BOOT_IMAGE=/a quiet mitigations=off"},
                                        {"source", "x"}};
  right.environment["kernel.cmdline"] = {{"value", "BOOT_IMAGE=/b quiet"}, {"source", "x"}};
  const Comparison comparison = compare_sides(two_sides(left, right), {});
  ASSERT_EQ(comparison.environment.size(), 1u);
  EXPECT_EQ(comparison.environment[0].item, "kernel.cmdline mitigations");
}

TEST(Comparison, TrialsThatFailedOrFellShortAreListedAndNotCounted) {
  const MadeUpRun base;
  std::vector<Side> sides = two_sides(base, scaled(base, "6.19", "bbbb", 1));
  sides[1].runs[0].trials[0].counts = false;
  sides[1].runs[0].trials[0].reason = "truncated: interrupted";
  const Comparison comparison = compare_sides(sides, {});
  ASSERT_EQ(comparison.left_out_trials.size(), 1u);
  EXPECT_THAT(comparison.left_out_trials[0], HasSubstr("truncated: interrupted"));
  EXPECT_EQ(comparison.rows[0].cells[0].boots[0].values.size(), 2u);
}

TEST(Comparison, ATrialThatDidNotAchieveItsLoadDoesNotCount) {
  const MadeUpRun run;
  RunFile file = parse_run_file(made_up_run_file(run), "x.jsonl");
  file.trials[0].sample["asked"] = {{"connections", 200}, {"rate", 1000}};
  file.trials[0].sample["achieved"] = {{"connections", 192}, {"rate", 990}};
  file.trials[1].sample["asked"] = {{"rate", 1000}};
  file.trials[1].sample["achieved"] = {{"rate", 990}};
  const RunFacts facts = collect_run_facts(file).front();
  EXPECT_FALSE(facts.trials[0].counts);
  EXPECT_THAT(facts.trials[0].reason, HasSubstr("asked 200 connections, achieved 192"));
  EXPECT_TRUE(facts.trials[1].counts);
}

TEST(Comparison, AFileOfSeveralLabelsIsTakenApart) {
  MadeUpRun run;
  run.repetitions = 8;
  RunFile file = parse_run_file(made_up_run_file(run), "x.jsonl");
  for (RecordedTrial& trial : file.trials) {
    if (trial.repetition % 2 == 0) continue;
    trial.label = "6.18.0+slice=3";
    nlohmann::json& metric = trial.sample["metrics"]["seconds"]["value"];
    metric = metric.get<double>() * 1.3;
    --trial.repetition;  // A pair with the trial before it.
  }
  const std::vector<RunFacts> runs = collect_run_facts(file);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].label, "6.18.0");
  EXPECT_EQ(runs[1].trials.size(), 4u);
  const std::vector<Side> sides = make_sides({{"x.jsonl", runs}}, "6.18.0");
  CompareOptions paired;
  paired.judge.paired = true;
  const Comparison comparison = compare_sides(sides, paired);
  EXPECT_EQ(only_test(comparison).verdict, Verdict::worse);
  EXPECT_EQ(only_test(comparison).method, Method::paired);
}

TEST(Comparison, FilesOfOneBootArePairedInTurn) {
  // Setting off, on, off, on: a file each, and each begins with repetition 0.
  MadeUpRun run;
  run.repetitions = 2;
  std::vector<Side> sides{{"off", {}}, {"on", {}}};
  for (std::size_t i = 0; i < 4; ++i) {
    run.seed = i + 1;
    run.label = sides[i % 2].label;
    RunFile file = parse_run_file(made_up_run_file(run), "x.jsonl");
    for (nlohmann::json& boot : file.boots) boot["boot_id"] = "boot";
    for (RecordedTrial& trial : file.trials) {
      trial.boot_id = "boot";
      // A machine that gets slower: only pairs in turn see the setting through it.
      nlohmann::json& metric = trial.sample["metrics"]["seconds"]["value"];
      metric = (i < 2 ? 1.0 : 10.0) * (i % 2 == 0 ? 1 : 1.2);
    }
    sides[i % 2].runs.push_back(collect_run_facts(file).front());
  }
  CompareOptions paired;
  paired.judge.paired = true;
  const RowTest test = only_test(compare_sides(sides, paired));
  EXPECT_NEAR(change_of(test.difference->estimate), 1 / 1.2 - 1, 1e-9);
  EXPECT_EQ(test.difference->df, 3);
  EXPECT_EQ(test.verdict, Verdict::worse);
}

TEST(Comparison, RowsOfOneSideOnlyAreSaid) {
  MadeUpRun base;
  base.rows.push_back(base.rows[0]);
  base.rows[1].name = "gone";
  MadeUpRun other = scaled(base, "6.19", "bbbb", 1);
  other.rows.pop_back();
  const Comparison comparison = compare_sides(two_sides(base, other), {});
  EXPECT_EQ(comparison.rows.size(), 1u);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("gone (only in base)")));
}

TEST(Comparison, NothingThatMatchesIsAnErrorThatSaysWhatThereIs) {
  const MadeUpRun base;
  CompareOptions options;
  options.only = {"nosuch*"};
  try {
    static_cast<void>(compare_sides(two_sides(base, scaled(base, "6.19", "bbbb", 1)), options));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.remedy(), HasSubstr("process pipe g=4"));
  }
}

TEST(Comparison, MixedUnitsAreRefused) {
  const MadeUpRun base;
  MadeUpRun other = scaled(base, "6.19", "bbbb", 1);
  other.rows[0].unit = "ms";
  try {
    static_cast<void>(compare_sides(two_sides(base, other), {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("mixed units"));
  }
}

TEST(Comparison, ShapeIsNoted) {
  MadeUpRun base;
  base.repetitions = 8;
  std::vector<Side> sides = two_sides(base, scaled(base, "6.19", "bbbb", 1));
  for (RunFacts& run : sides[0].runs) {
    for (TrialFacts& trial : run.trials) trial.value *= trial.repetition % 2 == 0 ? 1 : 2;
  }
  for (RunFacts& run : sides[1].runs) {
    for (TrialFacts& trial : run.trials) {
      trial.value *= 1 + 0.01 * static_cast<double>(trial.repetition);
    }
  }
  const Comparison comparison = compare_sides(sides, {});
  EXPECT_THAT(comparison.rows[0].base_notes, Contains(HasSubstr("two modes, 2.0")));
  EXPECT_THAT(comparison.rows[0].cells[0].notes, Contains(HasSubstr("drift +7")));
}

TEST(Comparison, SwitchesWithoutASettlingTrialAreCounted) {
  std::vector<Side> sides = two_sides(MadeUpRun{}, MadeUpRun{}, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    for (TrialFacts& trial : sides[i].runs[0].trials) {
      trial.boot_id = "boot";
      trial.order = static_cast<std::size_t>(trial.repetition) * 2 + i;
    }
  }
  EXPECT_EQ(count_unsettled_switches(sides[0], sides[1]), 5u);
  for (TrialFacts& trial : sides[0].runs[0].trials) trial.warmup = true;
  EXPECT_EQ(count_unsettled_switches(sides[0], sides[1]), 3u);
}

TEST(Sides, RunsOfOneLabelArePooled) {
  const MadeUpRun base;
  std::vector<InputPath> inputs;
  inputs.push_back({"a", made_up_runs(base, 2)});
  inputs.push_back({"b", made_up_runs(scaled(base, "6.19", "bbbb", 1), 1)});
  MadeUpRun more = base;
  more.first_boot = 2;
  inputs.push_back({"c", made_up_runs(more, 1)});
  const std::vector<Side> sides = make_sides(std::move(inputs), "");
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_EQ(sides[0].label, "6.18.0");
  EXPECT_EQ(sides[0].runs.size(), 3u);
}

std::string error_of(std::vector<InputPath> inputs, const std::string& base) {
  try {
    static_cast<void>(make_sides(std::move(inputs), base));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return std::string(error.what()) + "; " + error.remedy();
  }
  return "";
}

TEST(Sides, OnePathWithSeveralLabelsNeedsABase) {
  const MadeUpRun base;
  std::vector<RunFacts> both = made_up_runs(base, 1);
  both.push_back(made_up_runs(scaled(base, "6.19", "bbbb", 1), 1)[0]);
  EXPECT_THAT(error_of({{"dir", both}}, ""), HasSubstr("6.18.0, 6.19; name the base with --base"));
  EXPECT_THAT(error_of({{"dir", both}}, "6.20"), HasSubstr("no run has the label \"6.20\""));
  EXPECT_EQ(make_sides({{"dir", both}}, "6.19")[0].label, "6.19");
  EXPECT_THAT(error_of({{"dir", made_up_runs(base, 1)}}, ""), HasSubstr("only one label"));
  EXPECT_THAT(error_of({}, ""), HasSubstr("nothing to compare"));
}

TEST(Sides, OneLabelWithTwoKernelsIsAnError) {
  const MadeUpRun base;
  std::vector<RunFacts> runs = made_up_runs(base, 1);
  runs.push_back(made_up_runs(scaled(base, "6.18.0", "cccc", 1), 1)[0]);
  EXPECT_THAT(error_of({{"a", runs}, {"b", made_up_runs(scaled(base, "6.19", "bbbb", 1), 1)}}, ""),
              HasSubstr("two kernels"));
}

TEST(Sides, PathsWithTheSameLabelAreToldApartByTheirNames) {
  const MadeUpRun base;
  const std::vector<Side> sides = make_sides(
      {{"quiet.jsonl", made_up_runs(base, 1)}, {"loud.jsonl", made_up_runs(base, 1)}}, "");
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_EQ(sides[0].label, "quiet");
  EXPECT_EQ(sides[1].label, "loud");
}

}  // namespace
}  // namespace krepro
