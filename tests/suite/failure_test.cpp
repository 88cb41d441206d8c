// Generators that misbehave, and places that cannot be written to.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/timing/clock.h"
#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Fault {
  const char* name;
  const char* reason;  ///< What the recorded reason says.
};

class FaultTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultTest, CostsItsTrialsAndTheRunGoesOn) {
  const Workplace here;
  here.write("p.toml", faulty_profile(GetParam().name));
  const Outcome outcome = here.krepro(
      {"run", "p.toml", "--out", "r.jsonl", "--setup-timeout", "2s", "--trial-timeout", "2s"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 failed"), HasSubstr("left out:")));
  const RunFile file = read_run_file(here.path("r.jsonl"));
  ASSERT_EQ(file.trials.size(), 4U);
  for (const RecordedTrial& trial : file.trials) {
    if (trial.benchmark == "good") {
      EXPECT_TRUE(trial.valid()) << trial.reason;
    } else {
      EXPECT_EQ(trial.status, "failed");
      EXPECT_THAT(trial.reason, HasSubstr(GetParam().reason));
    }
  }
  EXPECT_TRUE(here.all_gone());
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultTest,
    ::testing::Values(Fault{"error", "errors: 3 made-up"}, Fault{"crash", "killed by signal 6"},
                      Fault{"exit", "exit status 1"}, Fault{"hang-setup", "gave no ready"},
                      Fault{"garbage", "not an event"}, Fault{"torn-line", "not an event"},
                      Fault{"lie-nan", "not a finite number"},
                      Fault{"lie-no-primary", "primary metric"}, Fault{"lie-unit", "not in 1/s"},
                      Fault{"lie-negative", "negative"}, Fault{"hang-run", "gave no sample"}),
    [](const auto& parameter) {
      std::string name = parameter.param.name;
      for (char& letter : name) letter = letter == '-' ? '_' : letter;
      return name;
    });

TEST(RunFailureTest, WhatIsNotPossibleHereIsSkippedAndListed) {
  const Workplace here;
  here.write("p.toml", faulty_profile("not-possible"));
  const Outcome outcome = here.krepro({"run", "p.toml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 skipped"), HasSubstr("made-up fault: not possible")));
}

TEST(RunFailureTest, WhereNothingCouldRunTheStatusIs3) {
  const Workplace here;
  here.write("p.toml", faulty_profile("not-possible"));
  EXPECT_EQ(here.krepro({"run", "p.toml", "--only", "bad"}).status, 3);
}

/// Waits until a trial of r.jsonl is under way: its boot is recorded, and krepro, a keeper and a
/// generator are there. False after ten seconds.
bool wait_for_load(const Workplace& here) {
  const std::int64_t deadline_ns = now_ns() + 10'000'000'000;
  while (now_ns() < deadline_ns) {
    const bool begun = here.read("r.jsonl").find(R"("type":"boot")") != std::string::npos;
    if (begun && here.processes().size() >= 3) {
      // Most probably past its set-up then; the test holds in either case.
      sleep_until_ns(now_ns() + 500'000'000);
      return true;
    }
    sleep_until_ns(now_ns() + 20'000'000);
  }
  return false;
}

TEST(RunFailureTest, AGeneratorThatIgnoresSignalsIsKilledOnCtrlC) {
  const Workplace here;
  here.write("p.toml",
             "title = \"deaf\"\n[defaults]\nrepetitions = 1\nruntime = \"60s\"\n"
             "[[benchmark]]\nname = \"deaf\"\ngenerator = \"null\"\n"
             "options = { latency = \"1ms\", wait = \"sleep\", fault = [\"ignore-signals\", "
             "\"hang-stop\"] }\n");
  RunningCommand command(here.directory(), {"run", "p.toml", "--out", "r.jsonl"}, false);
  ASSERT_TRUE(wait_for_load(here));
  const std::int64_t start_ns = now_ns();
  command.signal(SIGINT);
  EXPECT_EQ(command.wait().status, 130);
  // Three seconds for a partial sample; the rest is for a machine that is busy with other tests.
  EXPECT_LT(now_ns() - start_ns, 20'000'000'000);
  EXPECT_TRUE(here.all_gone());
  const RunFile file = read_run_file(here.path("r.jsonl"));
  ASSERT_EQ(file.trials.size(), 1U);
  EXPECT_EQ(file.trials[0].status, "truncated");
}

TEST(RunFailureTest, ASecondCtrlCEndsItAtOnce) {
  const Workplace here;
  here.write("p.toml",
             "title = \"deaf\"\n[defaults]\nrepetitions = 1\nruntime = \"60s\"\n"
             "[[benchmark]]\nname = \"deaf\"\ngenerator = \"null\"\n"
             "options = { latency = \"1ms\", wait = \"sleep\", fault = [\"ignore-signals\", "
             "\"hang-stop\"] }\n");
  RunningCommand command(here.directory(), {"run", "p.toml", "--out", "r.jsonl"}, false);
  ASSERT_TRUE(wait_for_load(here));
  command.signal(SIGINT);
  sleep_until_ns(now_ns() + 200'000'000);
  command.signal(SIGTERM);
  EXPECT_EQ(command.wait().status, 130);
  EXPECT_TRUE(here.all_gone());
}

TEST(RunFailureTest, APlaceThatCannotBeWrittenIsFoundBeforeAnyLoad) {
  const Workplace here;
  here.write("p.toml", instant_profile(1, 1));
  std::filesystem::create_directory(here.path("directory"));
  here.write("file.jsonl", "mine");
  for (const char* out : {"no/such/dir/x.jsonl", "directory", "file.jsonl"}) {
    const Outcome outcome = here.krepro({"run", "p.toml", "--out", out});
    EXPECT_EQ(outcome.status, 2) << out;
    EXPECT_THAT(outcome.err, HasSubstr(out));
  }
  EXPECT_EQ(here.read("file.jsonl"), "mine");
}

TEST(RunFailureTest, AReadOnlyDirectoryIsFoundBeforeAnyLoad) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to read-only directories";
  const Workplace here;
  here.write("p.toml", instant_profile(1, 1));
  std::filesystem::create_directory(here.path("locked"));
  chmod(here.path("locked").c_str(), 0555);
  const Outcome outcome = here.krepro({"run", "p.toml", "--out", "locked/x.jsonl"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
}

TEST(RunFailureTest, AReadOnlyFileSystemIsFoundBeforeAnyLoad) {
  const Workplace here;
  here.write("p.toml", instant_profile(1, 1));
  // /proc takes no files from anybody, root included.
  const Outcome outcome = here.krepro({"run", "p.toml", "--out", "/proc/x.jsonl"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/proc/x.jsonl"));
}

/// Lowers the limit on file sizes for commands started meanwhile: a full disk for everybody.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &saved_);
    const rlimit limit = {bytes, saved_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &saved_); }

 private:
  rlimit saved_{};
};

TEST(RunFailureTest, AFullDiskKeepsWhatWasRecordedAndTheRunCanGoOn) {
  const Workplace here;
  here.write("p.toml", instant_profile(1, 30));
  ASSERT_EQ(here.krepro({"run", "p.toml", "--only", "row 1", "--out", "whole.jsonl"}).status, 0);
  const auto whole = std::filesystem::file_size(here.path("whole.jsonl"));
  {
    const FileSizeLimit limit(whole * 3 / 4);
    const Outcome outcome = here.krepro({"run", "p.toml", "--out", "r.jsonl"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("cannot write r.jsonl"), HasSubstr("krepro run --resume r.jsonl")));
  }
  const RunFile cut = read_run_file(here.path("r.jsonl"));
  EXPECT_FALSE(cut.torn);
  EXPECT_GT(cut.trials.size(), 0U);
  EXPECT_LT(cut.trials.size(), 30U);
  EXPECT_EQ(here.krepro({"run", "--resume", "r.jsonl"}).status, 0);
  EXPECT_EQ(read_run_file(here.path("r.jsonl")).trials.size(), 30U);
}

TEST(RunFailureTest, AFullFileSystemKeepsWhatWasRecorded) {
  const Workplace here;
  const std::filesystem::path small = here.path("small");
  std::filesystem::create_directory(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "a small tmpfs cannot be mounted here: needs root";
  }
  here.write("p.toml", instant_profile(1, 60));
  const Outcome outcome = here.krepro({"run", "p.toml", "--out", "small/r.jsonl"});
  const RunFile file = read_run_file(small / "r.jsonl");
  umount2(small.c_str(), MNT_DETACH);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
  EXPECT_FALSE(file.torn);
  EXPECT_GT(file.trials.size(), 0U);
}

}  // namespace
}  // namespace krepro::test
