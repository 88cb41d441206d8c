// Figures and text of a small load that was counted by hand.
#include "generators/hackbench/sample_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace krepro::hackbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// One group of one sender and one receiver, two messages.
LoadSetup small_setup() {
  LoadSetup setup;
  setup.channel = Channel::pipe;
  setup.groups = 1;
  setup.fds = 2;
  setup.loops = 5;
  setup.datasize_bytes = 100;
  return setup;
}

LoadReport small_report() {
  LoadReport report;
  report.capacity_min_bytes = report.capacity_max_bytes = 65536;
  report.workers = {{11, false, 0}, {12, false, 0}, {13, true, 0}, {14, true, 0}};
  report.elapsed_ns = 2'000'000'000;
  // In the order of their end, which is another than that of their making.
  report.reaped = {
      {14, {1, 2, 30, 40}}, {13, {3, 2, 30, 40}}, {11, {4, 0, 10, 90}}, {12, {8, 0, 10, 70}}};
  report.ended = true;
  return report;
}

std::vector<ReadBack> all_alike() { return std::vector<ReadBack>(4, ReadBack{"other", "0-1"}); }

TEST(CompleteSample, CountsPerMessage) {
  const Sample sample = complete_sample(small_setup(), small_report(), all_alike(), false);
  EXPECT_EQ(sample.operations, 20U);
  EXPECT_EQ(sample.duration_ns, 2'000'000'000);
  EXPECT_DOUBLE_EQ(sample.metrics.at("seconds").value, 2);
  EXPECT_TRUE(sample.metrics.at("seconds").primary);
  EXPECT_FALSE(sample.metrics.at("seconds").higher_is_better);
  EXPECT_DOUBLE_EQ(sample.metrics.at("messages/s").value, 10);
  EXPECT_DOUBLE_EQ(sample.metrics.at("switches/message").value, 1);
  EXPECT_DOUBLE_EQ(sample.metrics.at("user_time/message").value, 80e3 / 20);
  EXPECT_DOUBLE_EQ(sample.metrics.at("system_time/message").value, 240e3 / 20);
  EXPECT_EQ(sample.extra.at("usage").at("sender").at("voluntary_switches"), 4);
  EXPECT_EQ(sample.extra.at("usage").at("receiver").at("voluntary_switches"), 12);
}

TEST(CompleteSample, OfThreadsHasTheProcessFigures) {
  LoadReport report = small_report();
  report.reaped.clear();
  report.process = Usage{30, 10, 500, 1500};
  const Sample sample = complete_sample(small_setup(), report, all_alike(), false);
  EXPECT_DOUBLE_EQ(sample.metrics.at("switches/message").value, 2);
  EXPECT_EQ(sample.extra.at("usage").at("process").at("user_us"), 500);
  EXPECT_FALSE(sample.extra.at("usage").contains("sender"));
}

TEST(CompleteSample, ListsEveryWorkerWhereAsked) {
  const Sample sample = complete_sample(small_setup(), small_report(), all_alike(), true);
  const nlohmann::json& list = sample.extra.at("all_threads");
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[2].at("id"), 13);
  EXPECT_EQ(list[2].at("role"), "sender");
  EXPECT_EQ(list[2].at("voluntary_switches"), 3);
  EXPECT_EQ(list[2].at("cpus"), "0-1");
}

TEST(ThreadGroups, SpreadWhatWait4CountedOverTheWorkersOfARole) {
  const std::vector<ThreadGroup> groups = thread_groups(small_report(), all_alike());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].role, "receiver");
  EXPECT_EQ(groups[0].count, 2U);
  EXPECT_DOUBLE_EQ(groups[0].voluntary_switches.sum, 12);
  EXPECT_DOUBLE_EQ(groups[0].voluntary_switches.min, 4);
  EXPECT_DOUBLE_EQ(groups[0].voluntary_switches.median, 6);
  EXPECT_DOUBLE_EQ(groups[0].voluntary_switches.max, 8);
  EXPECT_DOUBLE_EQ(groups[0].run_time_ns.min, 80e3);
  EXPECT_EQ(groups[1].role, "sender");
  EXPECT_DOUBLE_EQ(groups[1].involuntary_switches.sum, 4);
}

TEST(ThreadGroups, AWorkerWithAnotherPolicyIsAGroupOfItsOwn) {
  std::vector<ReadBack> read_back = all_alike();
  read_back[3] = {"batch", "0-1"};
  const std::vector<ThreadGroup> groups = thread_groups(small_report(), read_back);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1].policy, "batch");
  EXPECT_EQ(groups[1].count, 1U);
}

TEST(Describe, NamesTheWorkerThatFailed) {
  EXPECT_THAT(describe(WorkerFailure{12, 9}, small_report()),
              testing::AllOf(HasSubstr("receiver of group 0"), HasSubstr("pid 12"),
                             HasSubstr("killed by signal 9")));
  EXPECT_THAT(describe(WorkerFailure{99, 256}, small_report()), HasSubstr("exit status 1"));
}

Sample shown_sample(const LoadSetup& setup) {
  Sample sample = complete_sample(setup, small_report(), all_alike(), false);
  sample.threads = thread_groups(small_report(), all_alike());
  sample.extra["channel_capacity_bytes"] = {{"min", 65536}, {"max", 65536}};
  return sample;
}

TEST(ResultText, BeginsWithTheLinesOfTheOriginal) {
  EXPECT_THAT(result_text(small_setup(), shown_sample(small_setup())),
              StartsWith("Running in process mode with 1 groups using 4 file descriptors each (== "
                         "4 tasks)\n"
                         "Each sender will pass 5 messages of 100 bytes\n"
                         "Time: 2.000\n"));
}

TEST(ResultText, AddsOursInAtMost78Columns) {
  const std::string text = result_text(small_setup(), shown_sample(small_setup()));
  EXPECT_THAT(text, HasSubstr("2.000000000 s"));
  EXPECT_THAT(text, HasSubstr("1.0000 per message: senders 0.4000, receivers 0.6000"));
  EXPECT_THAT(text, HasSubstr("2 senders: policy other, CPUs 0-1"));
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // The original's own first line is longer.
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 78U) << line;
  }
}

TEST(ResultText, ShowsNoFigureOfAStoppedTrial) {
  Sample sample;
  sample.truncated = true;
  EXPECT_THAT(result_text(small_setup(), sample), HasSubstr("No measurement: stopped"));
}

}  // namespace
}  // namespace krepro::hackbench
