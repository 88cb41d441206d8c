// krepro-hackbench as a program: its modes, its ends, and that nothing is left behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "common/base/host_files.h"
#include "common/timing/clock.h"
#include "generators/hackbench/test_support/running_hackbench.h"

namespace krepro::hackbench {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// Long enough to be stopped in the middle, whatever the machine.
const nlohmann::json lasting = {{"groups", 2}, {"fds", 5}, {"loops", 100'000'000}, {"pipe", true}};

class Modes : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Modes, RunToTheirEnd) {
  const auto [workers, channel] = GetParam();
  std::vector<std::string> arguments{"-g", "2", "-f", "3", "-l", "20", "-s", "1000", workers};
  if (*channel != '\0') {
    arguments.emplace_back(channel);
  }
  arguments.insert(arguments.end(), {"--json", "-", "--all-threads"});
  const CommandOutput output = run_hackbench(arguments);
  ASSERT_EQ(output.end.exit_code(), 0) << output.err;
  EXPECT_EQ(output.end.leftover_processes, 0);
  const nlohmann::json sample = nlohmann::json::parse(output.out);
  EXPECT_TRUE(sample.at("valid").get<bool>());
  EXPECT_EQ(sample.at("operations"), 2 * 3 * 3 * 20);
  EXPECT_GT(sample.at("metrics").at("seconds").at("value").get<double>(), 0);
  EXPECT_EQ(sample.at("extra").at("all_threads").size(), 12U);
  std::uint64_t count = 0;
  for (const nlohmann::json& group : sample.at("threads")) {
    EXPECT_THAT(group.at("policy").get<std::string>(), HasSubstr("other"));
    count += group.at("count").get<std::uint64_t>();
  }
  EXPECT_EQ(count, 12U);
}

INSTANTIATE_TEST_SUITE_P(All, Modes,
                         testing::Combine(testing::Values("--process", "--threads"),
                                          testing::Values("--pipe", "", "--inet")));

TEST(Program, PrintsTheLinesOfTheOriginalAndThenMore) {
  const CommandOutput output = run_hackbench({"-g", "1", "-f", "2", "-l", "5", "-p"});
  ASSERT_EQ(output.end.exit_code(), 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("Running in process mode with 1 groups using 4 file "
                                    "descriptors each (== 4 tasks)\n"
                                    "Each sender will pass 5 messages of 100 bytes\n"
                                    "Time: 0."));
  EXPECT_THAT(output.out, HasSubstr("context switches"));
}

TEST(Program, MessagesLargerThanAChannelArePassedInParts) {
  for (const char* workers : {"--process", "--threads"}) {
    const CommandOutput output =
        run_hackbench({workers, "-p", "-g", "1", "-f", "2", "-l", "3", "-s", "200000"});
    EXPECT_EQ(output.end.exit_code(), 0) << workers << output.err;
  }
}

TEST(Program, FifoIsForTheMainTaskOnly) {
  const CommandOutput output =
      run_hackbench({"-F", "-p", "-g", "1", "-f", "2", "-l", "5", "--json", "-"});
  if (output.end.exit_code() == 3) {
    EXPECT_THAT(output.err, HasSubstr("CAP_SYS_NICE"));
    GTEST_SKIP() << "may not use SCHED_FIFO here";
  }
  ASSERT_EQ(output.end.exit_code(), 0) << output.err;
  const nlohmann::json sample = nlohmann::json::parse(output.out);
  for (const nlohmann::json& group : sample.at("threads")) {
    EXPECT_THAT(group.at("policy").get<std::string>(), HasSubstr("other"));
  }
}

TEST(Program, PoliciesOfWorkersAreReadBackOneByOne) {
  RunningHackbench hackbench({{"groups", 1}, {"fds", 2}, {"loops", 5}, {"pipe", true}});
  EXPECT_EQ(hackbench.workers().size(), 4U);
  hackbench.go();
  const nlohmann::json sample = hackbench.hear("sample").at("sample");
  ASSERT_EQ(sample.at("threads").size(), 2U);
  EXPECT_EQ(sample.at("threads")[0].at("role"), "receiver");
  EXPECT_EQ(sample.at("threads")[1].at("role"), "sender");
  // A receiver sleeps at least once, in poll.
  EXPECT_GE(sample.at("threads")[0].at("voluntary_switches").at("min").get<double>(), 1);
  EXPECT_EQ(hackbench.exit_status(), 0);
}

TEST(Program, ContradictionsAreWrongUsage) {
  const CommandOutput output = run_hackbench({"-p", "-i"});
  EXPECT_EQ(output.end.exit_code(), 2);
  EXPECT_THAT(output.err, HasSubstr("--pipe and --inet cannot be used together"));
}

class EndedBy : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(EndedBy, ASignalInTheMiddle) {
  const auto [signal_number, threads] = GetParam();
  nlohmann::json options = lasting;
  options["threads"] = threads;
  RunningHackbench hackbench(options);
  std::vector<pid_t> processes = hackbench.workers();
  processes.push_back(hackbench.load_pid());
  hackbench.go();
  usleep(100'000);
  kill(hackbench.child().pid(), signal_number);
  const nlohmann::json sample = hackbench.hear("sample").at("sample");
  EXPECT_TRUE(sample.at("truncated").get<bool>());
  EXPECT_EQ(sample.at("operations"), 0);
  EXPECT_FALSE(sample.at("metrics").contains("seconds"));
  EXPECT_EQ(hackbench.exit_status(), 130);
  EXPECT_TRUE(gone_soon(processes));
}

INSTANTIATE_TEST_SUITE_P(Signals, EndedBy,
                         testing::Combine(testing::Values(SIGINT, SIGTERM), testing::Bool()));

TEST(Program, EndOfFileBeforeGoEndsAllWorkers) {
  RunningHackbench hackbench(lasting);
  std::vector<pid_t> processes = hackbench.workers();
  EXPECT_EQ(processes.size(), 20U);
  processes.push_back(hackbench.load_pid());
  hackbench.child().close_stdin();
  EXPECT_EQ(hackbench.exit_status(), 130);
  EXPECT_TRUE(gone_soon(processes));
}

TEST(Program, AWorkerThatIsKilledEndsTheTrialAtOnce) {
  // The first is a receiver, the last a sender.
  for (const bool sender : {false, true}) {
    RunningHackbench hackbench(lasting);
    const std::vector<pid_t> workers = hackbench.workers();
    ASSERT_EQ(workers.size(), 20U);
    hackbench.go();
    usleep(50'000);
    kill(sender ? workers.back() : workers.front(), SIGKILL);
    const nlohmann::json sample = hackbench.hear("sample").at("sample");
    EXPECT_FALSE(sample.at("valid").get<bool>());
    EXPECT_FALSE(sample.at("truncated").get<bool>());
    EXPECT_EQ(sample.at("errors").at("worker"), 1);
    EXPECT_THAT(sample.at("error").get<std::string>(), HasSubstr("killed by signal"));
    EXPECT_EQ(hackbench.exit_status(), 1);
    EXPECT_TRUE(gone_soon(workers));
  }
}

TEST(Program, AWorkerThatIsKilledBeforeGoFailsTheTrial) {
  RunningHackbench hackbench(lasting);
  const std::vector<pid_t> workers = hackbench.workers();
  kill(workers.front(), SIGKILL);
  // Not before it has ended: its senders, which a broken pipe ends, could be reaped before it.
  const HostFiles own("/");
  const std::string stat = "/proc/" + std::to_string(workers.front()) + "/stat";
  const std::int64_t deadline_ns = now_ns() + 10'000'000'000;
  while (own.read(stat).value_or(") Z").find(") Z") == std::string::npos &&
         now_ns() < deadline_ns) {
    usleep(1000);
  }
  hackbench.go();
  const nlohmann::json sample = hackbench.hear("sample").at("sample");
  EXPECT_THAT(sample.at("error").get<std::string>(), HasSubstr("killed by signal 9"));
  EXPECT_EQ(hackbench.exit_status(), 1);
  EXPECT_TRUE(gone_soon(workers));
}

TEST(Program, ALoadThatIsKilledEndsTheTrialAtOnce) {
  for (const bool threads : {false, true}) {
    nlohmann::json options = lasting;
    options["threads"] = threads;
    RunningHackbench hackbench(options);
    std::vector<pid_t> processes = hackbench.workers();
    hackbench.go();
    kill(hackbench.load_pid(), SIGKILL);
    const nlohmann::json sample = hackbench.hear("sample").at("sample");
    EXPECT_THAT(sample.at("error").get<std::string>(), HasSubstr("killed by signal 9"));
    EXPECT_EQ(hackbench.exit_status(), 1);
    EXPECT_TRUE(gone_soon(processes));
  }
}

TEST(Program, NothingSurvivesSigkill) {
  RunningHackbench hackbench(lasting);
  std::vector<pid_t> processes = hackbench.workers();
  processes.push_back(hackbench.load_pid());
  hackbench.go();
  kill(hackbench.child().pid(), SIGKILL);
  EXPECT_TRUE(gone_soon(processes));
}

TEST(Program, AScriptThatStopsItInItsOwnProcessGroupLivesOn) {
  for (const char* signal_name : {"TERM", "INT"}) {
    const std::string script = fmt::format(
        "trap : INT; {} -p -g 2 -l 100000000 --json - >/dev/null & sleep 0.5; kill -{} $!; "
        "wait $!; echo status $?",
        KREPRO_HACKBENCH, signal_name);
    SpawnRequest request;
    request.argv = {"sh", "-c", script};
    request.pipe_stdin = false;
    const CommandOutput output = run_command(request, 60'000'000'000);
    EXPECT_EQ(output.out, "status 130\n") << signal_name << output.err;
    EXPECT_EQ(output.end.leftover_processes, 0);
  }
}

TEST(Program, ManyShortTrialsLeaveNoZombies) {
  for (int i = 0; i < 20; ++i) {
    const CommandOutput output = run_hackbench({"-p", "-g", "1", "-f", "2", "-l", "1"});
    ASSERT_EQ(output.end.exit_code(), 0) << output.err;
    ASSERT_EQ(output.end.leftover_processes, 0);
  }
}

TEST(Program, HundredThousandGroupsAreRefusedBeforeAnythingStarts) {
  const CommandOutput output = run_hackbench({"-g", "100000"});
  EXPECT_EQ(output.end.exit_code(), 3);
  EXPECT_EQ(output.end.leftover_processes, 0);
  // A PID namespace of its own may allow 4,194,304; then it is the next limit.
  EXPECT_THAT(output.err, AnyOf(HasSubstr("pid_max"), HasSubstr("threads-max")));
  EXPECT_THAT(output.err, HasSubstr("4,000,0"));
  EXPECT_THAT(output.err, HasSubstr("lower --groups to"));
  EXPECT_EQ(output.out, "");
}

TEST(Program, TooFewDescriptorsAreToldWithBothNumbers) {
  const CommandOutput output =
      run_hackbench({"--threads", "-g", "20"}, {"prlimit", "--nofile=256:256"});
  EXPECT_EQ(output.end.exit_code(), 3);
  EXPECT_THAT(output.err, testing::AllOf(HasSubstr("RLIMIT_NOFILE"), HasSubstr("256")));
}

TEST(Program, ASoftLimitOnDescriptorsIsRaised) {
  const CommandOutput output =
      run_hackbench({"--threads", "-p", "-g", "4", "-l", "1"}, {"prlimit", "--nofile=128:4096"});
  EXPECT_EQ(output.end.exit_code(), 0) << output.err;
}

}  // namespace
}  // namespace krepro::hackbench
