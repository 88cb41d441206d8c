// Placement from the command line to the threads: what a profile asks for is what the kernel says
// of each worker, also under taskset; and the machine and placements as the commands show them.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/affinity/cpu_set.h"
#include "common/process/child.h"
#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  return std::string(KREPRO_SOURCE_DIRECTORY) + "/tests/fixtures/topology/" + name;
}

class PlacementTest : public ::testing::Test {
 protected:
  /// The placement's CPUs in all groups of threads of the only trial.
  [[nodiscard]] std::vector<std::string> cpus_of_threads() const {
    std::vector<std::string> cpus;
    const RunFile file = here_.only_result();
    for (const nlohmann::json& group : file.trials.at(0).sample.at("threads")) {
      cpus.push_back(group.at("cpus"));
    }
    return cpus;
  }
  static std::string profile(const std::string& lines) {
    return "[[benchmark]]\nname = \"row\"\ngenerator = \"null\"\nrepetitions = 1\n"
           "options = { workers = 4, runtime = \"10ms\" }\n" +
           lines;
  }
  /// Binds this process, and what it starts, to one CPU while it lives.
  class OneCpu {
   public:
    explicit OneCpu(int cpu) : before_(CpuSet::allowed()) { CpuSet(std::vector<int>{cpu}).apply(); }
    ~OneCpu() { before_.apply(); }
    OneCpu(const OneCpu&) = delete;
    OneCpu& operator=(const OneCpu&) = delete;

   private:
    CpuSet before_;
  };
  Workplace here_;
};

TEST_F(PlacementTest, WorkersArePinnedInTurnAndReadBack) {
  const CpuSet allowed = CpuSet::allowed();
  here_.write("p.toml", profile("pinning = \"pin-compact\"\nmemory = \"local\"\n"));
  const Outcome outcome = here_.krepro({"run", "p.toml"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const RunFile file = here_.only_result();
  ASSERT_TRUE(file.trials.at(0).valid()) << file.trials.at(0).reason;
  for (const std::string& cpus : cpus_of_threads()) {
    const CpuSet set = CpuSet::parse(cpus);
    EXPECT_EQ(set.size(), 1U);
    EXPECT_TRUE((set - allowed).empty());
  }
  EXPECT_EQ(cpus_of_threads().size(), std::min<std::size_t>(4, allowed.size()));
  EXPECT_EQ(file.trials.at(0).sample.at("threads").at(0).at("memory"), "local");
}

TEST_F(PlacementTest, UnderTasksetOnlyTheAllowedCpuCounts) {
  const CpuSet allowed = CpuSet::allowed();
  if (allowed.size() < 2) GTEST_SKIP() << "needs two CPUs";
  const int last = allowed.cpus().back();
  here_.write("p.toml", profile("placement = \"all\"\n"));
  Outcome outcome;
  {
    const OneCpu bound(last);
    outcome = here_.krepro({"run", "p.toml"});
    EXPECT_EQ(here_.krepro({"place", "all"}).out, fmt::format("{}\n", last));
    EXPECT_THAT(here_.krepro({"topology"}).out,
                HasSubstr(fmt::format("allowed here {} (taskset or cpuset)", last)));
  }
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("CPUs may be used here (taskset or cpuset)"));
  EXPECT_THAT(cpus_of_threads(), testing::ElementsAre(std::to_string(last)));
}

TEST_F(PlacementTest, HiddenFoldersOfSysfsLeaveTheAffinityMask) {
  std::filesystem::create_directories(here_.path("empty"));
  for (const std::string folder : {"cpu", "node"}) {
    SpawnRequest request;
    request.argv = {"unshare", "-m", "sh", "-c",
                    fmt::format("mount --bind {} /sys/devices/system/{} && exec {} topology",
                                here_.path("empty").string(), folder, KREPRO_COMMAND)};
    request.pipe_stdin = false;
    const CommandOutput output = run_command(request, 30'000'000'000);
    if (output.err.find("unshare:") != std::string::npos) GTEST_SKIP() << output.err;
    if (output.err.find("mount:") != std::string::npos) GTEST_SKIP() << output.err;
    EXPECT_EQ(output.end.describe(), "exit status 0") << folder << ": " << output.err;
    EXPECT_THAT(output.out, HasSubstr("/sys/devices/system/" + folder));
  }
}

/// Everything that is read of /proc and /sys comes from a folder while it lives.
class OtherRoot {
 public:
  explicit OtherRoot(const std::filesystem::path& root) {
    setenv("KREPRO_HOST_ROOT", root.c_str(), 1);
  }
  ~OtherRoot() { unsetenv("KREPRO_HOST_ROOT"); }
  OtherRoot(const OtherRoot&) = delete;
  OtherRoot& operator=(const OtherRoot&) = delete;
};

TEST_F(PlacementTest, HalfACpuIsSaidBeforeTheFirstTrialAndRecorded) {
  here_.write("p.toml", profile(""));
  std::filesystem::create_directories(here_.path("root/proc/self"));
  std::filesystem::create_directories(here_.path("root/sys/fs/cgroup/job"));
  here_.write("root/proc/self/cgroup", "0::/job\n");
  here_.write("root/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  Outcome outcome;
  {
    const OtherRoot root(here_.path("root"));
    outcome = here_.krepro({"run", "p.toml", "--label", "made-up"});
    EXPECT_EQ(here_.krepro({"doctor", "--quick"}).status, 1);
  }
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("note: quota: the control group may use 0.5 CPUs' time"));
  const RunFile file = here_.only_result();
  const auto checkup =
      std::find_if(file.notes.begin(), file.notes.end(),
                   [](const nlohmann::json& note) { return note.at("kind") == "doctor"; });
  ASSERT_NE(checkup, file.notes.end());
  EXPECT_EQ(checkup->at("findings").at(0).at("id"), "quota");
  EXPECT_EQ(checkup->at("findings").at(0).at("weight"), "problem");
}

TEST_F(PlacementTest, TheEnvironmentIsTakenAgainAfterTheRun) {
  here_.write("p.toml", profile(""));
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  const RunFile file = here_.only_result();
  const auto again =
      std::find_if(file.notes.begin(), file.notes.end(),
                   [](const nlohmann::json& note) { return note.at("kind") == "environment"; });
  ASSERT_NE(again, file.notes.end());
  EXPECT_TRUE(again->at("changed").is_object());
  // Time has passed: at least that has changed.
  EXPECT_TRUE(again->at("changed").contains("load.uptime_s"));
}

TEST_F(PlacementTest, TheDoctorSpeaksOfAProfileToo) {
  const Outcome outcome =
      here_.krepro({"doctor", "c5ad.24xlarge/newidle-randwrite-file", "--quick"});
  EXPECT_EQ(outcome.status, 1);  // nobody tests on 96 CPUs with 12 caches
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("PROBLEM  machine: not the machine"),
                                 HasSubstr("12 LLCs expected"), HasSubstr("cannot be seen here")));
  const Outcome json = here_.krepro({"doctor", "--quick", "--json"});
  EXPECT_TRUE(nlohmann::json::parse(json.out).is_array());
}

TEST_F(PlacementTest, TheDoctorMeasuresOtherLoadAndNoise) {
  const Outcome outcome = here_.krepro({"doctor", "--json"});
  const nlohmann::json findings = nlohmann::json::parse(outcome.out);
  const auto text_of = [&findings](const std::string& id) {
    const auto found =
        std::find_if(findings.begin(), findings.end(),
                     [&](const nlohmann::json& finding) { return finding.at("id") == id; });
    return found == findings.end() ? std::string() : found->at("text").get<std::string>();
  };
  EXPECT_THAT(text_of("busy"), HasSubstr("CPUs just now"));
  EXPECT_THAT(text_of("noise"), AllOf(HasSubstr("null (10 us of work): one trial +-"),
                                      HasSubstr("hackbench g=1: one trial +-"),
                                      HasSubstr("hackbench g=4: one trial")));
}

TEST_F(PlacementTest, PlaceAndTopologyWorkAsIfOnAnotherMachine) {
  const std::string c5ad = fixture("c5ad.24xlarge.txt");
  EXPECT_EQ(here_.krepro({"place", "llc:1", "--topology", c5ad}).out, "4-7,52-55\n");
  EXPECT_EQ(here_
                .krepro({"place", "llc:0", "--topology", c5ad, "--pinning", "pin-compact",
                         "--memory", "bind"})
                .out,
            "0,48,1,49,2,50,3,51\nbind:0\n");
  EXPECT_EQ(here_.krepro({"place", "rest", "--other", "llc:0-10", "--topology", c5ad}).out,
            "44-47,92-95\n");
  const Outcome drawing =
      here_.krepro({"topology", "c5ad.24xlarge/newidle-randwrite", "--topology", c5ad});
  EXPECT_EQ(drawing.status, 0) << drawing.err;
  EXPECT_THAT(drawing.out,
              AllOf(HasSubstr("96 CPUs, 12 LLCs, SMT, x86_64"), HasSubstr("0+48 1+49 2+50 3+51"),
                    HasSubstr("as expected by c5ad.24xlarge")));
  EXPECT_THAT(here_.krepro({"topology", "graviton3/next-buddy-nginx", "--topology", c5ad}).out,
              AllOf(HasSubstr("64 CPUs expected"), HasSubstr("aarch64 expected")));
}

TEST_F(PlacementTest, WhatTheMachineLacksIsStatus3AndWrongWordsAreStatus2) {
  const std::string c6g = fixture("c6g.metal.txt");
  EXPECT_EQ(here_.krepro({"place", "llc:7", "--topology", c6g}).status, 3);
  EXPECT_EQ(here_.krepro({"place", "lcc:0", "--topology", c6g}).status, 2);
  EXPECT_EQ(here_.krepro({"place", "all", "--pinning", "pinned"}).status, 2);
  EXPECT_EQ(here_.krepro({"place", "all", "--topology", "/nowhere.xml"}).status, 2);
  EXPECT_EQ(here_.krepro({"topology", "no-such-profile"}).status, 2);
}

TEST_F(PlacementTest, PlansAreMadeForAnotherMachine) {
  const Outcome outcome = here_.krepro(
      {"plan", "graviton3/next-buddy-hackbench", "--topology", fixture("c7g.metal.txt")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("machine: 64 CPUs, 1 LLC, no SMT, aarch64"),
                                 testing::Not(HasSubstr("WARNING"))));
}

}  // namespace
}  // namespace krepro::test
