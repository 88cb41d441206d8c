// The table as users see it.
#include "suite/report/summary_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace krepro {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A file of rows with the given values, made in memory.
class TableTest : public ::testing::Test {
 protected:
  void add_row(const std::string& name, const std::vector<double>& values) {
    Benchmark benchmark;
    benchmark.name = name;
    benchmark.family = "hackbench, seconds (lower is better)";
    benchmark.generator = "hackbench";
    file_.plan.benchmarks.push_back(benchmark);
    for (std::size_t i = 0; i < values.size(); ++i) {
      plan_trial(i);
      record("valid", "boot", values[i]);
    }
  }
  void plan_trial(std::size_t repetition) {
    file_.plan.trials.push_back({file_.plan.trials.size(), file_.plan.benchmarks.size() - 1,
                                 static_cast<std::int64_t>(repetition), false});
  }
  RecordedTrial& record(const std::string& status, const std::string& boot, double value) {
    const Trial& planned = file_.plan.trials.back();
    RecordedTrial trial;
    trial.benchmark = file_.plan.benchmarks.back().name;
    trial.order = planned.index;
    trial.repetition = planned.repetition;
    trial.boot_id = boot;
    trial.status = status;
    trial.sample = {
        {"metrics",
         {{"seconds", {{"value", value}, {"unit", "s"}, {"better", "lower"}, {"primary", true}}}}}};
    file_.trials.push_back(trial);
    return file_.trials.back();
  }
  [[nodiscard]] std::string table() const { return summary_text(file_); }

  RunFile file_;
};

TEST_F(TableTest, ARowHasMeanIntervalVariationAndCount) {
  add_row("process pipe g=4", {0.650, 0.660, 0.670, 0.665, 0.655});
  // Student's t with 4 degrees of freedom: 2.776 x 0.0079057 / sqrt(5) / 0.66 = 1.487 %.
  EXPECT_THAT(table(), HasSubstr("0.6600   +-1.5 %   1.2 %   5\n"));
  EXPECT_THAT(table(), HasSubstr("hackbench, seconds (lower is better)"));
}

TEST_F(TableTest, FewerThanThreeValuesHaveNoInterval) {
  add_row("a", {1.0, 2.0});
  EXPECT_THAT(table(), HasSubstr("1.500         -       -   2\n"));
  EXPECT_THAT(table(), HasSubstr("fewer than 3 values"));
}

TEST_F(TableTest, FailedTrialsAreLeftOutAndListedWithTheirReason) {
  add_row("a", {1.0, 1.1, 1.2});
  plan_trial(3);
  record("failed", "boot", 99.0).reason = "errors: 3 timeout";
  EXPECT_THAT(table(), HasSubstr("1 failed"));
  EXPECT_THAT(table(), HasSubstr("1.100"));
  EXPECT_THAT(table(), HasSubstr("left out:\n  a, repetition 4: failed: errors: 3 timeout\n"));
}

TEST_F(TableTest, TrialsOfOneRowAndReasonShareALine) {
  add_row("a", {});
  for (const std::size_t repetition : {0U, 1U, 2U, 4U}) {
    plan_trial(repetition);
    record("failed", "boot", 1.0).reason = "no server";
  }
  plan_trial(5);
  record("failed", "boot", 1.0).reason = "hung";
  EXPECT_THAT(table(), HasSubstr("left out:\n  a, repetitions 1-3, 5: failed: no server\n"
                                 "  a, repetition 6: failed: hung\n"));
}

TEST_F(TableTest, WarmUpsAreNeverPartOfAMean) {
  add_row("a", {1.0, 1.1, 1.2});
  plan_trial(0);
  record("valid", "boot", 99.0).warmup = true;
  file_.plan.trials.back().warmup = true;
  EXPECT_EQ(summarise_rows(file_)[0].values.size(), 3U);
}

TEST_F(TableTest, WhatAMeanHidesIsNoted) {
  add_row("modes", {0.300, 0.371, 0.302, 0.370, 0.301, 0.372, 0.300, 0.371});
  add_row("drift", {1.00, 1.02, 1.04, 1.06, 1.08, 1.10, 1.12, 1.14});
  add_row("outlier", {1.00, 1.01, 0.99, 1.00, 1.01, 2.00, 1.00, 0.99});
  add_row("quiet", {1.00, 1.01, 0.99, 1.00, 1.02, 0.98, 1.01, 0.99});
  const std::vector<SummaryRow> rows = summarise_rows(file_);
  EXPECT_THAT(rows[0].notes, ::testing::ElementsAre("two modes"));
  EXPECT_THAT(rows[1].notes, ::testing::ElementsAre("drift +14.0 %"));
  EXPECT_THAT(rows[2].notes, ::testing::ElementsAre("1 outlier"));
  EXPECT_THAT(rows[3].notes, ::testing::IsEmpty());
}

TEST_F(TableTest, ATrialThatLostTimeToTheHypervisorIsNoted) {
  add_row("a", {1.0, 1.1, 1.2});
  file_.trials[1].counters = {{"host", {{"cpu_user_ns", 900}, {"cpu_steal_ns", 100}}}};
  EXPECT_THAT(summarise_rows(file_)[0].notes, ::testing::ElementsAre("steal in 1"));
}

TEST_F(TableTest, AnUnfinishedRunSaysWhatIsMissingAndHowToGoOn) {
  add_row("a", {1.0, 1.1, 1.2});
  plan_trial(3);
  file_.path = "x.jsonl";
  EXPECT_THAT(table(), HasSubstr("1 missing"));
  EXPECT_THAT(table(), HasSubstr("unfinished: 3 of 4 trials"));
  EXPECT_THAT(table(), HasSubstr("krepro run --resume x.jsonl"));
}

TEST_F(TableTest, FromThreeBootsOnTheIntervalIsBetweenBoots) {
  add_row("a", {});
  for (const auto& [boot, value] :
       {std::pair("1", 1.00), {"1", 1.00}, {"2", 1.10}, {"2", 1.10}, {"3", 1.20}, {"3", 1.20}}) {
    plan_trial(0);
    record("valid", boot, value);
  }
  const SummaryRow row = summarise_rows(file_)[0];
  EXPECT_TRUE(row.by_boot);
  EXPECT_EQ(row.summary.count, 3U);
  EXPECT_THAT(table(), HasSubstr("3x2"));
}

TEST_F(TableTest, NothingIsWiderThan78Columns) {
  add_row("a row with an exceedingly long name that no column of this table was made for",
          {0.300, 0.371, 0.302, 0.370, 0.301, 0.372, 0.300, 0.371});
  file_.plan.benchmarks.back().scaled = "groups 256 -> 8, and many more words about the scaling";
  plan_trial(5);
  record("failed", "boot", 1).reason = std::string("it went wrong ") + std::string(60, 'x') +
                                       " and then some more words to fill the line with";
  EXPECT_THAT(table(), HasSubstr("two modes"));
  std::istringstream lines(table());
  for (std::string line; std::getline(lines, line);) {
    // The row's own name may be longer than a line; all else wraps.
    EXPECT_LE(line.size(), line.find("exceedingly") != std::string::npos ? 80U : 78U) << line;
  }
}

TEST(FormatFigureTest, SmallValuesKeepTheirDigits) {
  EXPECT_EQ(format_figure(0.33123), "0.3312");
  EXPECT_EQ(format_figure(87228.4), "87228");
  EXPECT_EQ(format_figure(12.3456), "12.35");
  EXPECT_EQ(format_figure(0.00000012346), "1.235e-07");
  EXPECT_EQ(format_figure(0), "0");
  EXPECT_EQ(format_figure(-2.5), "-2.500");
}

TEST(WrapTextTest, LinesAreBrokenAtSpaces) {
  const std::string text = wrap_text("note: " + std::string(70, 'a') + " bb ccc", "      ");
  EXPECT_EQ(text, "note: " + std::string(70, 'a') + "\n      bb ccc");
}

}  // namespace
}  // namespace krepro
