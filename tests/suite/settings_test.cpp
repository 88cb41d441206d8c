// Settings in whole runs: as an axis, interleaved and labelled; put back at the end, on Ctrl-C, and
// by the next start after SIGKILL. On files that stand for the kernel's, and once on this machine's
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "common/base/made_up_root.h"
#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* knob = "/proc/sys/kernel/made_up";

std::string profile_with(const std::string& settings, const std::string& runtime = "20ms",
                         int repetitions = 4) {
  return "title = \"settings\"\n[settings]\n" + settings +
         "\n[defaults]\nrepetitions = " + std::to_string(repetitions) + "\nruntime = \"" + runtime +
         "\"\n[[benchmark]]\nname = \"one\"\ngenerator = \"null\"\noptions = { latency = \"1ms\", "
         "wait = \"sleep\" }\n[[benchmark]]\nname = \"two\"\ngenerator = \"null\"\noptions = { "
         "latency = \"2ms\", wait = \"sleep\" }\n";
}

class SettingsRunTest : public ::testing::Test {
 protected:
  SettingsRunTest() {
    root_.put(knob, "7\n");
    root_.put("/proc/sys/kernel/random/boot_id", "made-up-boot\n");
    setenv("KREPRO_HOST_ROOT", root_.path().c_str(), 1);
    setenv("KREPRO_STATE_DIR", (root_.path() / "state").c_str(), 1);
  }
  ~SettingsRunTest() override {
    unsetenv("KREPRO_HOST_ROOT");
    unsetenv("KREPRO_STATE_DIR");
  }
  Outcome run(const std::string& profile, const std::vector<std::string>& more) {
    here_.write("p.toml", profile);
    std::vector<std::string> words = {"run", "p.toml", "--out", "r.jsonl", "--label", "L"};
    words.insert(words.end(), more.begin(), more.end());
    return here_.krepro(words);
  }
  [[nodiscard]] std::string now() const { return root_.host().read_line(knob).value_or(""); }
  [[nodiscard]] RunFile file() const { return read_run_file(here_.path("r.jsonl")); }

  MadeUpRoot root_;
  Workplace here_;
};

TEST_F(SettingsRunTest, AnAxisIsInterleavedSettledLabelledAndPutBack) {
  const Outcome outcome = run(profile_with("\"kernel.made_up\" = [0, 1]"), {"--apply-settings"});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  EXPECT_EQ(now(), "7");
  std::string blocks;
  std::string last;
  std::size_t settled = 0;
  const RunFile recorded = file();
  for (const RecordedTrial& trial : recorded.trials) {
    const std::string value = trial.settings.at("kernel.made_up");
    EXPECT_EQ(trial.label, "L+kernel.made_up=" + value);
    // The first trial after each switch only settles.
    EXPECT_EQ(trial.warmup, trial.label != last) << trial.order;
    if (trial.warmup) {
      ++settled;
    } else if (trial.benchmark == "one") {
      blocks += value;
    }
    last = trial.label;
  }
  EXPECT_EQ(blocks, "01100110");
  EXPECT_EQ(settled, 5U);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("2 benchmarks x 4 repetitions x 2 settings"),
                                 HasSubstr("one +kernel.made_up=0"),
                                 HasSubstr("two +kernel.made_up=1"), Not(HasSubstr("missing"))));
}

TEST_F(SettingsRunTest, AnAxisIsReadyForAPairedComparison) {
  ASSERT_EQ(run(profile_with("\"kernel.made_up\" = [0, 1]"), {"--apply-settings"}).status, 0);
  const Outcome compared =
      here_.krepro({"compare", "r.jsonl", "--base", "L+kernel.made_up=0", "--paired"});
  EXPECT_TRUE(compared.status == 0 || compared.status == 1 || compared.status == 125)
      << compared.err;
  EXPECT_THAT(compared.out,
              AllOf(HasSubstr("L+kernel.made_up=1"), HasSubstr("paired"),
                    Not(HasSubstr("without a settling")), Not(HasSubstr("no kernel verdict"))));
}

TEST_F(SettingsRunTest, WithoutLeaveNothingIsChanged) {
  const Outcome refused = run(profile_with("\"kernel.made_up\" = [0, 1]"), {});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("varies settings"), HasSubstr("--apply-settings")));
  EXPECT_FALSE(std::filesystem::exists(here_.path("r.jsonl")));
  const Outcome noted = run(profile_with("\"kernel.made_up\" = 3"), {});
  EXPECT_EQ(noted.status, 0) << noted.out << noted.err;
  EXPECT_THAT(noted.out, HasSubstr("asks for kernel.made_up = 3, and it is 7"));
  EXPECT_EQ(now(), "7");
  EXPECT_FALSE(std::filesystem::exists(root_.path() / "state"));
}

TEST_F(SettingsRunTest, PlanShowsWhatWouldBeSet) {
  here_.write("p.toml", profile_with("\"kernel.made_up\" = [0, 1]\nthp = \"never\"\n"
                                     "scheduling = [\"other\", \"batch\"]"));
  const Outcome planned = here_.krepro({"plan", "p.toml"});
  EXPECT_EQ(planned.status, 0) << planned.err;
  EXPECT_THAT(planned.out, AllOf(HasSubstr("thp = never"), HasSubstr("is not there"),
                                 HasSubstr("kernel.made_up = 0: /proc/sys/kernel/made_up is 7"),
                                 HasSubstr("LABEL+kernel.made_up=1+scheduling=batch"),
                                 HasSubstr("every trial with each of 4"), HasSubstr("settling 1")));
}

TEST_F(SettingsRunTest, AFixedSettingHoldsForTheRun) {
  const Outcome outcome = run(profile_with("\"kernel.made_up\" = 3"), {"--apply-settings"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kernel.made_up is 3 for this run"));
  for (const RecordedTrial& trial : file().trials) {
    EXPECT_EQ(trial.settings.at("kernel.made_up"), "3");
    EXPECT_EQ(trial.label, "");
  }
  EXPECT_EQ(now(), "7");
  EXPECT_EQ(file().notes.back().at("text"), "all settings are as they were before the run");
}

TEST_F(SettingsRunTest, WhatIsNoSettingIsAnErrorWithItsPlace) {
  const Outcome outcome = run(profile_with("governer = \"performance\""), {});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("p.toml:3:12"), HasSubstr("did you mean \"governor\"?")));
  EXPECT_THAT(run(profile_with("smt = [\"on\", \"off\"]"), {}).err,
              HasSubstr("settings.smt cannot be varied"));
  EXPECT_THAT(run(profile_with("thp = []"), {}).err, HasSubstr("settings.thp is empty"));
}

TEST_F(SettingsRunTest, ASettingThatCannotBeAppliedEndsTheRunBeforeAnyLoad) {
  const Outcome outcome = run(profile_with("\"kernel.not_there\" = 3"), {"--apply-settings"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr("kernel.not_there = 3"));
  EXPECT_FALSE(std::filesystem::exists(here_.path("r.jsonl")));
}

TEST_F(SettingsRunTest, CtrlCPutsTheSettingBack) {
  here_.write("p.toml", profile_with("\"kernel.made_up\" = [0, 1]", "200ms"));
  RunningCommand command(here_.directory(),
                         {"run", "p.toml", "--out", "r.jsonl", "--label", "L", "--apply-settings"},
                         false);
  ASSERT_TRUE(here_.wait_for_samples("r.jsonl", 2));
  EXPECT_NE(now(), "7");
  command.signal(SIGINT);
  EXPECT_EQ(command.wait().status, 130);
  EXPECT_EQ(now(), "7");
}

TEST_F(SettingsRunTest, AfterSigkillTheNextStartPutsItBackAndSaysSo) {
  here_.write("p.toml", profile_with("\"kernel.made_up\" = [0, 1]", "200ms"));
  {
    RunningCommand command(
        here_.directory(),
        {"run", "p.toml", "--out", "killed.jsonl", "--label", "L", "--apply-settings"}, false);
    ASSERT_TRUE(here_.wait_for_samples("killed.jsonl", 2));
    command.signal(SIGKILL);
    EXPECT_EQ(command.wait().status, 128 + SIGKILL);
  }
  EXPECT_NE(now(), "7");
  // Whatever else is wrong with it.
  const Outcome next = here_.krepro({"run", "nosuch.toml", "--label", "N"});
  EXPECT_EQ(next.status, 2) << next.err;
  EXPECT_THAT(next.out, HasSubstr("put back to 7"));
  EXPECT_EQ(now(), "7");
  // And the killed run goes on where it was.
  EXPECT_EQ(here_.krepro({"run", "--resume", "killed.jsonl", "--apply-settings"}).status, 0);
  EXPECT_EQ(read_run_file(here_.path("killed.jsonl")).final_trials().size(), 21U);
  EXPECT_EQ(now(), "7");
}

TEST(SettingsHere, APolicyIsAnAxisAndIsReadBackPerThread) {
  Workplace here;
  here.write("p.toml", profile_with("scheduling = [\"other\", \"batch\"]", "20ms", 2));
  const Outcome outcome = here.krepro({"run", "p.toml", "--out", "r.jsonl", "--label", "L"});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const RunFile file = read_run_file(here.path("r.jsonl"));
  EXPECT_EQ(file.trials.size(), 8U);  // Nothing of the machine changes: nothing has to settle.
  for (const RecordedTrial& trial : file.trials) {
    const std::string policy = trial.settings.at("scheduling");
    EXPECT_EQ(trial.label, "L+scheduling=" + policy);
    for (const nlohmann::json& group : trial.sample.at("threads")) {
      EXPECT_EQ(group.at("policy"), policy);
    }
  }
}

TEST(SettingsHere, AnAxisOfThisMachineIsSwitchedAndPutBack) {
  constexpr const char* autogroup = "/proc/sys/kernel/sched_autogroup_enabled";
  const HostFiles host("/");
  const std::optional<std::string> before = host.read_line(autogroup);
  if (!before || geteuid() != 0) {
    GTEST_SKIP() << (before ? "needs root" : "the kernel has no autogroup");
  }
  const MadeUpRoot state;
  setenv("KREPRO_STATE_DIR", (state.path() / "state").c_str(), 1);
  Workplace here;
  here.write("p.toml", profile_with("\"kernel.sched_autogroup_enabled\" = [0, 1]", "20ms", 2));
  const Outcome outcome =
      here.krepro({"run", "p.toml", "--out", "r.jsonl", "--label", "L", "--apply-settings"});
  unsetenv("KREPRO_STATE_DIR");
  EXPECT_EQ(host.read_line(autogroup), before);
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const RunFile file = read_run_file(here.path("r.jsonl"));
  for (const RecordedTrial& trial : file.trials) {
    EXPECT_EQ(trial.label,
              "L+kernel.sched_autogroup_enabled=" +
                  trial.settings.at("kernel.sched_autogroup_enabled").get<std::string>());
  }
}

TEST(SettingsHere, RolesHaveGroupsOfTheirOwnWherePossible) {
  Workplace here;
  here.write("p.toml", instant_profile(1, 1));
  ASSERT_EQ(here.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  ASSERT_EQ(here.krepro({"run", "p.toml", "--out", "none.jsonl", "--cgroups", "none"}).status, 0);
  const nlohmann::json item =
      read_run_file(here.path("r.jsonl")).boots.at(0).at("environment").at("run.role_groups");
  EXPECT_TRUE(item.at("value").is_string() || item.contains("reason")) << item;
  EXPECT_EQ(read_run_file(here.path("none.jsonl"))
                .boots.at(0)
                .at("environment")
                .at("run.role_groups")
                .at("reason"),
            "--cgroups none");
  EXPECT_EQ(here.krepro({"run", "p.toml", "--cgroups", "some"}).status, 2);
}

}  // namespace
}  // namespace krepro::test
