// Child processes with real programs: their ends, streams and time limits, and commands.
#include "common/process/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "common/base/error.h"
#include "common/process/child_test_support.h"
#include "common/process/descriptor.h"

namespace krepro {
namespace {

using testing::HasSubstr;

TEST_F(ChildTest, ReportsTheExitStatus) {
  Child child = Child::spawn(shell("exit 3"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->exited());
  EXPECT_EQ(end->exit_code(), 3);
  EXPECT_EQ(end->describe(), "exit status 3");
  EXPECT_EQ(end->leftover_processes, 0);
  EXPECT_GT(end->elapsed_ns, 0);
  EXPECT_EQ(child.wait(0)->exit_code(), 3) << "asking again gives the same answer";
}

TEST_F(ChildTest, ReportsTheSignalThatKilledIt) {
  Child child = Child::spawn(shell("kill -SEGV $$"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->exited());
  EXPECT_EQ(end->signal(), SIGSEGV);
  EXPECT_EQ(end->describe(), "killed by signal 11 (Segmentation fault)");
}

TEST_F(ChildTest, CountsTheResourcesOfItAndWhatItWaitedFor) {
  Child child = Child::spawn(shell("sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  const std::int64_t used_us = end->usage.ru_utime.tv_sec * 1'000'000 +
                               end->usage.ru_utime.tv_usec +
                               end->usage.ru_stime.tv_sec * 1'000'000 + end->usage.ru_stime.tv_usec;
  EXPECT_GT(used_us, 1000);
  EXPECT_LE(used_us * 1000, end->elapsed_ns + second_ns);
}

TEST_F(ChildTest, CarriesStandardInputToStandardOutput) {
  SpawnRequest request;
  request.argv = {"cat"};
  Child child = Child::spawn(request);
  ASSERT_EQ(write(child.stdin_fd(), "hello\n", 6), 6);
  EXPECT_EQ(read_line(child.stdout_fd()), "hello");
  EXPECT_FALSE(child.wait(0)) << "it still runs";
  child.close_stdin();
  EXPECT_EQ(child.stdin_fd(), -1);
  EXPECT_EQ(child.wait(patience_ns)->exit_code(), 0);
}

TEST_F(ChildTest, TheEndDescriptorBecomesReadableAtTheEnd) {
  Child child = Child::spawn(shell("read line"));
  pollfd poll_fd = {child.end_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&poll_fd, 1, 50), 0);
  child.close_stdin();
  EXPECT_EQ(poll(&poll_fd, 1, 20'000), 1);
  EXPECT_TRUE(child.wait(0));
}

TEST_F(ChildTest, WaitReturnsNothingWhenTheTimeRunsOut) {
  Child child = Child::spawn(shell("sleep 100"));
  const std::int64_t before_ns = now_ns();
  EXPECT_FALSE(child.wait(30'000'000));
  EXPECT_GE(now_ns() - before_ns, 30'000'000);
}

TEST_F(ChildTest, TerminateKillsWhatIgnoresSigterm) {
  Child child = Child::spawn(shell("trap '' TERM; echo ready; while :; do sleep 100; done"));
  ASSERT_EQ(read_line(child.stdout_fd()), "ready");
  const ChildEnd end = child.terminate(50'000'000);
  ASSERT_FALSE(end.exited());
  EXPECT_EQ(end.signal(), SIGKILL);
  EXPECT_TRUE(is_gone(child.pid()));
}

TEST_F(ChildTest, TerminateLetsAProgramEndInItsOwnWay) {
  Child child = Child::spawn(shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
  ASSERT_EQ(read_line(child.stdout_fd()), "ready");
  const ChildEnd end = child.terminate(patience_ns);
  ASSERT_TRUE(end.exited());
  EXPECT_EQ(end.exit_code(), 7);
}

TEST_F(ChildTest, AMissingProgramIsNamed) {
  SpawnRequest request;
  request.argv = {"no-such-program-here"};
  const Error error = error_of(request);
  EXPECT_EQ(error.code(), ExitCode::not_possible);
  EXPECT_THAT(error.what(), HasSubstr("no-such-program-here: no such program in PATH"));
  request.argv = {(folder_ / "absent").string()};
  EXPECT_THAT(error_of(request).what(), HasSubstr("absent: cannot be executed: no such file"));
}

TEST_F(ChildTest, AFileThatIsNoProgramIsNamed) {
  const std::string path = (folder_ / "data").string();
  std::ofstream(path) << "not a program\n";
  SpawnRequest request;
  request.argv = {path};
  EXPECT_THAT(error_of(request).what(), HasSubstr("cannot be executed: not executable"));
  chmod(path.c_str(), 0755);
  const Error error = error_of(request);
  EXPECT_EQ(error.code(), ExitCode::not_possible);
  EXPECT_THAT(error.what(), HasSubstr("cannot be executed: Exec format error"));
}

TEST_F(ChildTest, SettingsThatFailAreReportedAndNothingRuns) {
  SpawnRequest request = shell("echo ran > " + (folder_ / "ran").string());
  request.cpus = CpuSet({99999});
  const Error no_cpu = error_of(request);
  EXPECT_EQ(no_cpu.code(), ExitCode::usage);
  EXPECT_THAT(no_cpu.what(), HasSubstr("cpus 99999: not on this machine"));
  request.cpus.reset();
  request.working_directory = folder_ / "absent";
  EXPECT_THAT(error_of(request).what(), HasSubstr("enter the working directory"));
  request.working_directory.clear();
  request.cgroup = folder_ / "absent";
  EXPECT_THAT(error_of(request).what(), HasSubstr("join the control group"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST(ChildDeathTest, SpawningWithThreadsAroundIsAProgrammersError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        std::thread idle([] { pause(); });
        (void)Child::spawn(shell("exit 0"));
      },
      "single_threaded");
}

TEST(ChildDeathTest, SpawningAfterThreadsWereJoinedWorks) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::thread([] {}).join();
        std::exit(Child::spawn(shell("exit 6")).wait()->exit_code());
      },
      testing::ExitedWithCode(6), "");
}

TEST(RunCommand, ReturnsBothStreamsWholeWhenTheyAreLargerThanAPipe) {
  const CommandOutput output = run_command(
      shell("head -c 300000 /dev/zero | tr '\\0' o; head -c 300000 /dev/zero | tr '\\0' e >&2"),
      patience_ns);
  EXPECT_EQ(output.out, std::string(300'000, 'o'));
  EXPECT_EQ(output.err, std::string(300'000, 'e'));
  EXPECT_FALSE(output.truncated);
  EXPECT_EQ(output.end.exit_code(), 0);
}

TEST(RunCommand, DropsWhatIsMoreThanAskedForAndSaysSo) {
  const CommandOutput output = run_command(shell("head -c 300000 /dev/zero"), patience_ns, 1000);
  EXPECT_EQ(output.out.size(), 1000U);
  EXPECT_TRUE(output.truncated);
  EXPECT_EQ(output.end.exit_code(), 0) << "it was not stuck on a full pipe";
}

TEST(RunCommand, EndsAProgramThatRunsTooLong) {
  const CommandOutput output = run_command(shell("echo begun; exec sleep 1000"), 200'000'000);
  EXPECT_TRUE(output.timed_out);
  EXPECT_EQ(output.out, "begun\n");
  EXPECT_EQ(output.end.signal(), SIGTERM);
}

TEST(RunCommand, EndsAProgramThatClosedItsStreamsAndRunsOn) {
  const CommandOutput output =
      run_command(shell("exec >/dev/null 2>&1; exec sleep 1000"), 200'000'000);
  EXPECT_TRUE(output.timed_out);
}

TEST(RunCommand, GivesTheProgramNoInput) {
  EXPECT_EQ(run_command(shell("cat; echo end"), patience_ns).out, "end\n");
}

}  // namespace
}  // namespace krepro
