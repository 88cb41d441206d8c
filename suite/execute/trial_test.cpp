// Single trials with small shell scripts in the place of generators and original programs, so that
// each step of the protocol can go right or wrong on purpose. Whole runs are in tests/suite.
#include "suite/execute/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace krepro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* finished_event =
    R"({"event":"sample","sample":{"generator":"fake","truncated":false,"operations":5,)"
    R"("duration_ns":1000,"metrics":{"seconds":{"value":1.5,"unit":"s","better":"lower",)"
    R"("primary":true}}}})";

class TrialTest : public ::testing::Test {
 protected:
  TrialTest() {
    char pattern[] = "/tmp/krepro-trial-XXXXXX";
    directory_ = mkdtemp(pattern);
    // As the program does: a script may have ended before it is written to.
    turn_write_signals_into_errors();
    generator_.name = "fake";
    generator_.roles = {"load"};
    generator_.metrics = {{"seconds", "s", false, true, ""}};
    benchmark_.name = "row";
    benchmark_.generator = "fake";
    request_.benchmark = &benchmark_;
    request_.generator = &generator_;
    request_.counters = &counters_;
    request_.limits = {5'000'000'000, 5'000'000'000, 2'000'000'000};
  }
  ~TrialTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::filesystem::path script(const std::string& name,
                                             const std::string& body) const {
    const std::filesystem::path path = directory_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0755);
    return path;
  }
  void generator_is(const std::string& body) { generator_.path = script("krepro-fake", body); }
  RecordedTrial run() { return run_trial(request_, interruption_); }

  std::filesystem::path directory_;
  GeneratorInfo generator_;
  Benchmark benchmark_;
  TrialRequest request_;
  CounterReader counters_;
  Interruption interruption_;
};

TEST_F(TrialTest, ALoadIsConfiguredReleasedAndMeasured) {
  generator_is(std::string("echo \"$@\" >&2; read configure; echo \"$configure\" > ") +
               (directory_ / "configure").string() +
               "\necho '{\"event\":\"ready\"}'\nread go\necho '" + finished_event + "'\n");
  benchmark_.options = {{"groups", 4}};
  request_.seed = 99;
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "valid") << trial.reason;
  EXPECT_EQ(trial.sample.at("metrics").at("seconds").at("value"), 1.5);
  std::ifstream stream(directory_ / "configure");
  const json configure = json::parse(stream);
  EXPECT_EQ(configure.at("cmd"), "configure");
  EXPECT_EQ(configure.at("options"), json({{"groups", 4}, {"seed", 99}}));
  EXPECT_EQ(configure.at("progress"), false);
  for (const char* name : {"total_ns", "spawn_ns", "start_up_ns", "counters_ns", "own_ns"}) {
    EXPECT_GT(trial.harness.at(name), 0) << name;
  }
}

TEST_F(TrialTest, AServerIsStartedFirstAndItsEndpointGivenToTheLoad) {
  generator_.roles = {"load", "serve"};
  generator_is(std::string(R"(
read configure
if [ "$2" = serve ]; then
  echo '{"event":"ready","endpoint":"unix:/made/up"}'
  read go; read stop
  echo '{"event":"sample","sample":{"generator":"fake","served":7}}'
  exit 0
fi
case "$configure" in *'"server":"unix:/made/up"'*) ;; *) exit 1;; esac
echo '{"event":"ready"}'
read go
echo ')") + finished_event +
               "'\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "valid") << trial.reason;
  EXPECT_EQ(trial.server.at("served"), 7);
}

TEST_F(TrialTest, ARowThatNamesAServerStartsNone) {
  generator_.roles = {"load", "serve"};
  generator_.positional = "url";
  generator_.options =
      OptionTable({make_option("url", {}, OptionType::text, "", "a server that runs"),
                   make_option("server", {}, OptionType::text, "", "its kind, or its URL")});
  generator_is(std::string(R"(
read configure
[ "$2" = load ] || exit 1
case "$configure" in *'http://10.0.0.2/'*) ;; *) exit 1;; esac
echo '{"event":"ready"}'
read go
echo ')") + finished_event +
               "'\n");
  for (const char* option : {"url", "server"}) {
    benchmark_.options = {{option, "http://10.0.0.2/"}};
    const RecordedTrial trial = run();
    EXPECT_EQ(trial.status, "valid") << trial.reason;
    EXPECT_TRUE(trial.server.is_null());
  }
}

TEST_F(TrialTest, AServerThatEndsEarlyFailsTheTrial) {
  generator_.roles = {"load", "serve"};
  generator_is(std::string(R"(
read configure
if [ "$2" = serve ]; then echo '{"event":"ready","endpoint":"unix:/x"}'; read go; exit 7; fi
echo '{"event":"ready"}'
read go; sleep 20
)"));
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("fake (serve) ended"));
  EXPECT_THAT(trial.reason, HasSubstr("exit status 7"));
}

TEST_F(TrialTest, WhatTheGeneratorWroteToStandardErrorIsKeptWhenItFails) {
  generator_is("echo 'first line' >&2; echo 'out of luck' >&2; exit 2\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("exit status 2: out of luck"));
  EXPECT_EQ(trial.log, "first line\nout of luck\n");
}

TEST_F(TrialTest, AnErrorEventIsTheReasonWithItsRemedy) {
  generator_is(
      "read configure; echo '{\"event\":\"error\",\"kind\":\"not_possible\",\"message\":\"no "
      "io_uring\",\"remedy\":\"set kernel.io_uring_disabled to 0\"}'; exit 3\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "skipped");
  EXPECT_EQ(trial.reason, "fake (load): no io_uring; set kernel.io_uring_disabled to 0");
}

TEST_F(TrialTest, AValidSampleWithABadExitStatusDoesNotCount) {
  generator_is(std::string("read configure; echo '{\"event\":\"ready\"}'; read go; echo '") +
               finished_event + "'; exit 1\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("exit status 1"));
}

TEST_F(TrialTest, ProcessesLeftBehindAreKilledAndFailTheTrial) {
  generator_is(
      std::string("read configure; echo '{\"event\":\"ready\"}'; read go; sleep 100 <&- >&- 2>&- & "
                  "echo '") +
      finished_event + "'\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("left 1 process"));
}

TEST_F(TrialTest, AFloodOfOutputDoesNotHoldTheSuite) {
  request_.limits.setup_ns = 1'000'000'000;
  generator_is("exec yes garbage\n");
  EXPECT_EQ(run().status, "failed");
  generator_is("exec yes '{\"event\":\"pong\"}'\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("gave no ready within 1 s"));
}

TEST_F(TrialTest, AMissingProgramFailsTheTrialAndNamesIt) {
  generator_.path = directory_ / "krepro-absent";
  const RecordedTrial trial = run();
  EXPECT_NE(trial.status, "valid");
  EXPECT_THAT(trial.reason, HasSubstr("krepro-absent"));
}

TEST_F(TrialTest, AnInterruptedTrialIsStoppedAndItsPartialSampleKept) {
  generator_is(
      "read configure; echo '{\"event\":\"ready\"}'; read go; kill -TERM $PPID_OF_TEST; read stop; "
      "echo '{\"event\":\"sample\",\"sample\":{\"generator\":\"fake\",\"truncated\":true}}'; exit "
      "130\n");
  setenv("PPID_OF_TEST", std::to_string(getpid()).c_str(), 1);
  const RecordedTrial trial = run();
  unsetenv("PPID_OF_TEST");
  EXPECT_EQ(trial.status, "truncated");
  EXPECT_THAT(trial.reason, HasSubstr("SIGTERM"));
  EXPECT_EQ(trial.sample.at("truncated"), true);
}

TEST_F(TrialTest, TheLimitOfARunFollowsItsRuntime) {
  EXPECT_EQ(run_limit_ns(benchmark_, generator_, {}), 3600'000'000'000);
  Option runtime;
  runtime.name = "runtime";
  runtime.type = OptionType::duration;
  runtime.default_text = "10s";
  runtime.means = Meaning::runtime;
  generator_.options = OptionTable({runtime});
  EXPECT_EQ(run_limit_ns(benchmark_, generator_, {}), 75'000'000'000);
  benchmark_.options = {{"runtime", "60s"}};
  EXPECT_EQ(run_limit_ns(benchmark_, generator_, {}), 150'000'000'000);
}

class OriginalTrialTest : public TrialTest {
 protected:
  void original_is(const std::string& body) {
    const std::string program = script("fake-original", body).string();
    benchmark_.upstream = true;
    generator_.described = {
        {"name", "fake"},
        {"metrics", {{{"name", "seconds"}, {"unit", "s"}, {"better", "lower"}, {"primary", true}}}},
        {"options", {{{"name", "groups"}, {"type", "integer"}, {"default", "10"}}}},
        {"original",
         {{"program", program},
          {"package", "fake"},
          {"version_arguments", {"--version"}},
          {"figures", {{{"metric", "seconds"}, {"pattern", "Time: ([0-9.]+)"}, {"scale", 1}}}}}}};
    generator_.options = OptionTable::from_json(generator_.described.at("options"));
  }
};

TEST_F(OriginalTrialTest, ItsFiguresAreReadFromItsOutput) {
  original_is(
      "if [ \"$1\" = --version ]; then echo 'fake 2.0'; exit; fi\necho \"args: $@\"; echo 'Time: "
      "0.25'\n");
  benchmark_.options = {{"groups", 4}};
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "valid") << trial.reason;
  EXPECT_EQ(trial.sample.at("metrics").at("seconds").at("value"), 0.25);
  EXPECT_EQ(trial.sample.at("extra").at("version"), "fake 2.0");
  EXPECT_THAT(trial.sample.at("extra").at("output").get<std::string>(),
              HasSubstr("args: --groups 4"));
}

TEST_F(OriginalTrialTest, OutputWithoutTheFigureAndABadExitStatusFail) {
  original_is("echo nothing\n");
  EXPECT_EQ(run().status, "failed");
  original_is("echo 'Time: 1'; echo 'quota exceeded' >&2; exit 1\n");
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("quota exceeded"));
}

TEST_F(OriginalTrialTest, OneThatHangsIsKilled) {
  original_is("sleep 100\n");
  request_.limits.run_ns = 500'000'000;
  const RecordedTrial trial = run();
  EXPECT_EQ(trial.status, "failed");
  EXPECT_THAT(trial.reason, HasSubstr("did not end within 500 ms"));
}

TEST_F(OriginalTrialTest, OneThatIsNotInstalledIsSkipped) {
  original_is("true\n");
  generator_.described["original"]["program"] = "krepro-no-such-program";
  EXPECT_EQ(run().status, "skipped");
}

}  // namespace
}  // namespace krepro
