// The lines of hackbench-load, and what becomes of those that tell of a failure.
#include "generators/hackbench/load_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "common/base/error.h"

namespace krepro::hackbench {
namespace {

using testing::HasSubstr;

LoadReport report_of(const std::vector<std::string>& lines) {
  LoadReport report;
  for (const std::string& line : lines) {
    report.add_line(line);
  }
  return report;
}

TEST(LoadReport, KnowsEachWorkersRoleAndGroup) {
  const LoadReport report = report_of({"hackbench-load 1", "receivers 11 12", "senders 13 14",
                                       "receivers 15 16", "senders 17 18", "ready"});
  ASSERT_EQ(report.workers.size(), 8U);
  EXPECT_TRUE(report.ready);
  EXPECT_EQ(report.workers[0].id, 11);
  EXPECT_FALSE(report.workers[0].sender);
  EXPECT_EQ(report.workers[3].id, 14);
  EXPECT_TRUE(report.workers[3].sender);
  EXPECT_EQ(report.workers[3].group, 0U);
  EXPECT_EQ(report.workers[4].group, 1U);
  EXPECT_EQ(report.workers[7].group, 1U);
}

TEST(LoadReport, ReadsFiguresOfProcessesAndOfThreads) {
  const LoadReport report =
      report_of({"channels 40 capacity_min 4096 capacity_max 65536", "stack 16384",
                 "elapsed_ns 123456789", "reaped 11 1 2 3 4", "process 5 6 7 8", "end"});
  EXPECT_EQ(report.capacity_min_bytes, 4096);
  EXPECT_EQ(report.capacity_max_bytes, 65536);
  EXPECT_EQ(report.stack_bytes, 16384);
  EXPECT_EQ(report.elapsed_ns, 123'456'789);
  ASSERT_EQ(report.reaped.size(), 1U);
  EXPECT_EQ(report.reaped[0].first, 11);
  EXPECT_EQ(report.reaped[0].second.involuntary_switches, 2U);
  ASSERT_TRUE(report.process);
  EXPECT_EQ(report.process->system_us, 8U);
  EXPECT_TRUE(report.ended);
}

TEST(LoadReport, KeepsWhatFailed) {
  const LoadReport failed = report_of({"failed 11 9"});
  ASSERT_TRUE(failed.worker_failure);
  EXPECT_EQ(failed.worker_failure->id, 11);
  EXPECT_EQ(WTERMSIG(failed.worker_failure->wait_status), SIGKILL);
  const LoadReport error = report_of({"error 11 fork of a worker"});
  ASSERT_TRUE(error.failure);
  EXPECT_EQ(error.failure->error_number, EAGAIN);
  EXPECT_EQ(error.failure->what, "fork of a worker");
}

TEST(LoadReport, RefusesLinesOfAnotherBuild) {
  for (const char* line : {"hackbench-load 2", "surprise", "elapsed_ns soon", "reaped 1 2", ""}) {
    LoadReport report;
    EXPECT_THROW(report.add_line(line), Error) << line;
  }
}

TEST(LoadProcess, AProgramThatIsNotThereIsASetUpThatFailed) {
  try {
    LoadProcess load("/no/such/hackbench-load", {});
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("/no/such/hackbench-load"));
  }
}

TEST(SetUpError, ALimitThatWasHitIsNotPossibleHereWithARemedy) {
  for (const int number : {EAGAIN, EMFILE, ENFILE, ENOMEM, EPERM, EADDRINUSE}) {
    const Error error = set_up_error({number, "fork"});
    EXPECT_EQ(error.code(), ExitCode::not_possible) << number;
    EXPECT_FALSE(error.remedy().empty()) << number;
    EXPECT_THAT(error.what(), HasSubstr("fork"));
  }
  EXPECT_EQ(set_up_error({EIO, "read"}).code(), ExitCode::usage);
}

}  // namespace
}  // namespace krepro::hackbench
