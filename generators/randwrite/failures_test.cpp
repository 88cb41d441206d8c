// Calls that fail, and machines without io_uring: the job ends with the error and no number, or
// goes on where the kernel only wants to be asked again. Never another engine than the one asked
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The sanitizers' run time must be the first library, which preloading another one prevents.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_preload = false;
#else
constexpr bool can_preload = true;
#endif

class FailuresTest : public testing::Test {
 protected:
  [[nodiscard]] ProgramRun run_with(const std::string& shim,
                                    const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"--filename=" + (directory_ / "f"), "--rw=randwrite",
                                       "--size=1M", "--fsync=64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_randwrite(
        arguments, {}, {std::string("LD_PRELOAD=") + KREPRO_FAILING_CALLS, "KREPRO_SHIM=" + shim});
  }
  TemporaryDirectory directory_;
};

TEST_F(FailuresTest, AnFsyncThatFailsEndsTheJob) {
  if (!can_preload) GTEST_SKIP() << "sanitizer";
  const ProgramRun run = run_with("fsync-eio:2", {});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(run.sample.at("errors").at("EIO"), 1);
  EXPECT_THAT(run.sample.at("error").get<std::string>(), HasSubstr("fsync of"));
  EXPECT_TRUE(run.sample.at("metrics").empty());
  EXPECT_THAT(run.out, Not(HasSubstr("WRITE: bw=")));
}

TEST_F(FailuresTest, AShortWriteIsCountedAndItsCauseFound) {
  if (!can_preload) GTEST_SKIP() << "sanitizer";
  const ProgramRun run = run_with("short-write:10", {});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(run.sample.at("errors").at("ENOSPC"), 1);
  EXPECT_EQ(run.sample.at("errors").at("short_transfer"), 1);
  EXPECT_EQ(run.sample.at("operations"), 9);
}

TEST_F(FailuresTest, AFileSystemWithoutDirectIoIsNamed) {
  if (!can_preload) GTEST_SKIP() << "sanitizer";
  const ProgramRun run = run_with("direct-einval", {"--direct=1"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("does not support O_DIRECT"));
  EXPECT_TRUE(directory_.names().empty());
}

class RingFailuresTest : public FailuresTest,
                         public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(RingFailuresTest, RequestsAreIssuedAgainAndCountOnce) {
  if (!can_preload) GTEST_SKIP() << "sanitizer";
  std::vector<std::string> arguments{"--ioengine=io_uring"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  const ProgramRun run = run_with("ring", arguments);
  if (run.status == 3) GTEST_SKIP() << run.err;
  ASSERT_EQ(run.status, 0) << run.err << " (a worker that ended with 99: fsync raced its writes)";
  EXPECT_EQ(run.sample.at("operations"), 256);
  EXPECT_EQ(run.sample.at("extra").at("fsyncs"), 3);
  EXPECT_GT(run.sample.at("extra").at("retries").get<int>(), 10);
  EXPECT_EQ(run.sample.at("latency").at("write").at("count"), 256);
}

INSTANTIATE_TEST_SUITE_P(
    Depths, RingFailuresTest,
    testing::Values(std::vector<std::string>{"--iodepth=1"},
                    std::vector<std::string>{"--iodepth=16"},
                    std::vector<std::string>{"--iodepth=16", "--iodepth_batch=8",
                                             "--iodepth_batch_complete=4"},
                    std::vector<std::string>{"--iodepth=8", "--nonvectored=0"},
                    std::vector<std::string>{"--iodepth=8", "--fixedbufs=1", "--registerfiles=1"}));

class NoRingTest : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(NoRingTest, TheCauseIsNamedAndNoOtherEngineTaken) {
  const auto& [how, text] = GetParam();
  const TemporaryDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  if (std::string(how) == "memlock" && geteuid() != 0) GTEST_SKIP() << "needs root";
  const CommandOutput output =
      run_program({KREPRO_WITHOUT_IO_URING, how, KREPRO_RANDWRITE_PROGRAM, "--settle=0",
                   "--filename=" + (directory / "f"), "--rw=randwrite", "--size=1M",
                   "--ioengine=io_uring", "--iodepth=256", "--numjobs=4", "--fixedbufs=1"});
  ASSERT_TRUE(output.end.exited());
  if (output.end.exit_code() >= 100) GTEST_SKIP() << "the filter cannot be installed here";
  if (std::string(how) == "memlock" && output.end.exit_code() == 0) {
    GTEST_SKIP() << "this kernel does not count a ring against RLIMIT_MEMLOCK";
  }
  EXPECT_EQ(output.end.exit_code(), 3) << output.err;
  EXPECT_THAT(one_line(output.err), HasSubstr(text));
  EXPECT_EQ(output.end.leftover_processes, 0);
  EXPECT_TRUE(directory.names().empty());
}

INSTANTIATE_TEST_SUITE_P(Causes, NoRingTest,
                         testing::Values(std::pair("eperm", "seccomp"),
                                         std::pair("enosys", "seccomp"),
                                         std::pair("memlock", "RLIMIT_MEMLOCK")),
                         [](const auto& cause) { return std::string(cause.param.first); });

}  // namespace
}  // namespace krepro::randwrite
