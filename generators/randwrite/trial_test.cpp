// Whole trials: time, rates, seeds, passes, job files, engines, and the sequence of system calls
// beside fio's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>

#include "common/base/host_files.h"
#include "common/process/process_tree.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;

class TrialTest : public testing::Test {
 protected:
  [[nodiscard]] ProgramRun run(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"--filename=" + (directory_ / "f"), "--rw=randwrite",
                                       "--size=1M"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_randwrite(arguments);
  }
  TemporaryDirectory directory_;
};

TEST_F(TrialTest, ATimeBasedJobGoesOverItsRangeUntilTheTimeIsOver) {
  const ProgramRun done = run({"--size=64k", "--time_based", "--runtime=1"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_GE(done.sample.at("duration_ns").get<std::int64_t>(), 1'000'000'000);
  EXPECT_GT(done.sample.at("extra").at("jobs").at(0).at("passes").get<int>(), 1);
  EXPECT_EQ(done.sample.at("asked").at("runtime_ns"), 1'000'000'000);
}

TEST_F(TrialTest, AnEndBeforeTheTimeIsTold) {
  const ProgramRun done = run({"--runtime=30"});
  EXPECT_EQ(done.status, 0);
  EXPECT_THAT(done.out, HasSubstr("the range was done once"));
}

TEST_F(TrialTest, TheRampIsNotMeasured) {
  const ProgramRun done = run({"--time_based", "--ramp_time=1", "--runtime=1", "--rate_iops=100"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_GE(done.sample.at("duration_ns").get<std::int64_t>(), 900'000'000);
  EXPECT_LE(done.sample.at("operations").get<int>(), 130);
}

TEST_F(TrialTest, ARateIsKeptAndLatencyCountsFromThePlannedStart) {
  const ProgramRun done = run({"--time_based", "--runtime=2", "--rate_iops=50", "--numjobs=2"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_LE(done.sample.at("operations").get<int>(), 202);
  EXPECT_GT(done.sample.at("operations").get<int>(), 20);
  EXPECT_DOUBLE_EQ(done.sample.at("asked").at("rate").get<double>(), 100);
  EXPECT_TRUE(done.sample.at("latency").contains("service"));
}

TEST_F(TrialTest, ARateBeyondReachIsToldAndLessThanOneASecondEndsOnTime) {
  const ProgramRun fast = run({"--time_based", "--runtime=1", "--rate_iops=900M"});
  ASSERT_EQ(fast.status, 0) << fast.err;
  EXPECT_FALSE(fast.sample.at("achieved").at("rate_met").get<bool>());
  EXPECT_THAT(fast.out, HasSubstr("the rate was not met"));
  const ProgramRun slow = run({"--time_based", "--runtime=1", "--rate_iops=0.5", "--numjobs=4"});
  ASSERT_EQ(slow.status, 0) << slow.err;
  EXPECT_LE(slow.sample.at("operations").get<int>(), 4);
}

TEST_F(TrialTest, ThinkingTimeIsNotLatency) {
  const ProgramRun done = run({"--size=40k", "--thinktime=20ms"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_GE(done.sample.at("duration_ns").get<std::int64_t>(), 180'000'000);
  EXPECT_LT(done.sample.at("latency").at("write").at("p50").get<std::int64_t>(), 20'000'000);
}

TEST_F(TrialTest, SeedsDecideTheOrder) {
  const auto sequence = [this](const std::vector<std::string>& more) {
    const ProgramRun done = run(more);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.sample.at("extra").at("sequence").get<std::uint64_t>();
  };
  EXPECT_EQ(sequence({}), sequence({})) << "randrepeat is fio's default";
  EXPECT_NE(sequence({"--randrepeat=0"}), sequence({"--randrepeat=0"}));
  EXPECT_EQ(sequence({"--randseed=1"}), sequence({"--randseed=1", "--randrepeat=0"}));
  EXPECT_NE(sequence({"--randseed=1"}), sequence({"--randseed=2"}));
  const ProgramRun done = run({"--randrepeat=0"});
  EXPECT_EQ(sequence({"--seed=" + done.sample.at("seed").dump()}),
            done.sample.at("extra").at("sequence").get<std::uint64_t>())
      << "the seed in the sample gives the same order again";
}

TEST_F(TrialTest, LoopsAndIoSizeCountOperations) {
  EXPECT_EQ(run({"--loops=2"}).sample.at("operations"), 512);
  EXPECT_EQ(run({"--io_size=100k"}).sample.at("operations"), 25);
  EXPECT_EQ(run({"--io_size=3M"}).sample.at("operations"), 768);
  EXPECT_EQ(run({"--end_fsync=1"}).sample.at("extra").at("fsyncs"), 1);
}

class EngineTest : public TrialTest,
                   public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(EngineTest, EveryBlockIsWrittenOnceWithTheSyncsBetween) {
  std::vector<std::string> arguments{"--fsync=64", "--keep-files"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  const ProgramRun done = run(arguments);
  if (done.status == 3) GTEST_SKIP() << done.err;
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.sample.at("operations"), 256);
  EXPECT_EQ(done.sample.at("extra").at("fsyncs"), 3);
  std::ifstream in(directory_ / "f", std::ios::binary);
  std::string block(4096, '\0');
  for (int i = 0; i < 256; ++i) {
    in.read(block.data(), 4096);
    ASSERT_NE(block, std::string(4096, '\0')) << "block " << i << " was not written";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Engines, EngineTest,
    testing::Values(std::vector<std::string>{"--ioengine=psync"},
                    std::vector<std::string>{"--ioengine=sync"},
                    std::vector<std::string>{"--ioengine=pvsync"},
                    std::vector<std::string>{"--ioengine=psync", "--direct=1"},
                    std::vector<std::string>{"--ioengine=psync", "--thread"},
                    std::vector<std::string>{"--ioengine=io_uring"},
                    std::vector<std::string>{"--ioengine=io_uring", "--iodepth=32", "--direct=1"},
                    std::vector<std::string>{"--ioengine=io_uring", "--iodepth=8", "--thread"},
                    std::vector<std::string>{"--ioengine=io_uring", "--iodepth=8",
                                             "--sqthread_poll=1"},
                    std::vector<std::string>{"--ioengine=io_uring", "--iodepth=8",
                                             "--iodepth_batch=4", "--iodepth_batch_complete=0"}));

TEST_F(TrialTest, MixedAndSkewedJobsRun) {
  const ProgramRun mixed = run({"--rw=randrw", "--rwmixread=70", "--fsync=8"});
  ASSERT_EQ(mixed.status, 0) << mixed.err;
  EXPECT_TRUE(mixed.sample.at("latency").contains("read"));
  EXPECT_TRUE(mixed.sample.at("latency").contains("write"));
  EXPECT_THAT(mixed.out, HasSubstr("   READ: bw="));
  EXPECT_THAT(mixed.out, HasSubstr("  WRITE: bw="));
  EXPECT_EQ(run({"--random_distribution=zipf:1.2"}).status, 0);
  EXPECT_EQ(run({"--random_distribution=pareto:0.3"}).status, 0);
  EXPECT_EQ(run({"--rw=write", "--numjobs=3", "--cpus_allowed=0", "--nice=1"}).status, 0);
}

TEST_F(TrialTest, AJobFileOfSeveralJobsRuns) {
  write_text(directory_ / "jobs.fio",
             "[global]\ndirectory=" + directory_.path().string() +
                 "\nsize=128k\n[writer]\nrw=randwrite\nfsync=8\n[reader]\nrw=read\n");
  const ProgramRun done = run_randwrite({directory_ / "jobs.fio"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.sample.at("operations"), 64);
  EXPECT_EQ(done.sample.at("extra").at("jobs").at(1).at("name"), "reader");
}

TEST_F(TrialTest, AJobThatIsStuckIsNamedInsteadOfWaitedFor) {
  SpawnRequest request;
  request.argv = {KREPRO_RANDWRITE_PROGRAM,
                  "--settle=0",
                  "--filename=" + (directory_ / "f"),
                  "--rw=randwrite",
                  "--size=1M",
                  "--time_based",
                  "--runtime=1",
                  "--hang-timeout=1s"};
  request.pipe_stdin = false;
  Child child = Child::spawn(request);
  const HostFiles host;
  std::vector<pid_t> workers;
  for (int i = 0; i < 400 && workers.empty(); ++i) {
    usleep(10'000);
    workers = children_of(child.pid(), host);
  }
  ASSERT_FALSE(workers.empty());
  const pid_t worker = workers.front();
  // It is stopped in the middle of its load, not while it is set up.
  const auto bytes_written = [&host, worker] {
    std::istringstream words(host.read("/proc/" + std::to_string(worker) + "/io").value_or(""));
    std::uint64_t bytes = 0;
    for (std::string name; words >> name;) {
      if (name == "wchar:") words >> bytes;
    }
    return bytes;
  };
  for (int i = 0; i < 1000 && bytes_written() < 100'000; ++i) usleep(1000);
  kill(worker, SIGSTOP);
  const std::optional<ChildEnd> end = child.wait(30'000'000'000);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->exit_code(), 1);
  std::string message(4096, '\0');
  const ssize_t got = read(child.stderr_fd(), message.data(), message.size());
  message.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  EXPECT_THAT(message, HasSubstr("stuck"));
  EXPECT_THAT(message, HasSubstr("state T"));
}

/// The calls on the file, one letter each: F fallocate, I invalidate, A advice, W write, S fsync;
/// empty where strace does not work here.
std::string calls_of(const std::vector<std::string>& command, const TemporaryDirectory& directory) {
  const std::string trace = directory / "trace";
  std::vector<std::string> argv{"strace",
                                "-f",
                                "-q",
                                "-o",
                                trace,
                                "-e",
                                "trace=pwrite64,fsync,fdatasync,fadvise64,fallocate,ftruncate"};
  argv.insert(argv.end(), command.begin(), command.end());
  try {
    const CommandOutput output = run_program(argv, directory.path());
    if (!output.end.exited() || output.end.exit_code() != 0) return {};
  } catch (const Error&) {
    return {};
  }
  std::string calls;
  std::ifstream in(trace);
  for (std::string line; std::getline(in, line);) {
    if (line.find("resumed>") != std::string::npos) continue;
    if (line.find(" pwrite64(") != std::string::npos) calls += 'W';
    if (line.find(" fsync(") != std::string::npos) calls += 'S';
    if (line.find(" fallocate(") != std::string::npos) calls += 'F';
    if (line.find(" fadvise64(") != std::string::npos) {
      calls += line.find("DONTNEED") != std::string::npos ? 'I' : 'A';
    }
  }
  return calls;
}

TEST_F(TrialTest, TheCallsAreFiosCallByCall) {
  const std::vector<std::string> job{"--name=n",       "--filename=" + (directory_ / "s"),
                                     "--size=520k",    "--bs=4k",
                                     "--rw=randwrite", "--ioengine=psync",
                                     "--fsync=64",     "--unlink=1"};
  std::vector<std::string> ours{KREPRO_RANDWRITE_PROGRAM, "--settle=0"};
  ours.insert(ours.end(), job.begin(), job.end());
  const std::string our_calls = calls_of(ours, directory_);
  if (our_calls.empty()) GTEST_SKIP() << "strace does not work here";
  EXPECT_EQ(our_calls, "FIIA" + std::string(64, 'W') + "S" + std::string(64, 'W') + "SWW");
  std::vector<std::string> original{"fio"};
  original.insert(original.end(), job.begin(), job.end());
  const std::string fio_calls = calls_of(original, directory_);
  if (fio_calls.empty()) GTEST_SKIP() << "fio is not installed";
  EXPECT_EQ(our_calls, fio_calls);
}

}  // namespace
}  // namespace krepro::randwrite
