// Runs that go well, that are cut short, and that go on.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "suite/report/summary_table.h"
#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Real time, so that there is time to interfere: six trials of 0.3 s.
constexpr const char* slow_profile =
    "title = \"slow\"\n[defaults]\nrepetitions = 6\nruntime = \"300ms\"\nseed = 7\n"
    "[[benchmark]]\nname = \"slow\"\ngenerator = \"null\"\n"
    "options = { latency = \"1ms\", wait = \"sleep\" }\n";

/// Standard error without the notes of what changed on the machine during the run: other programs,
/// tests with disks of their own among them, may change it.
std::string without_drift(const std::string& text) {
  std::string rest;
  bool drift = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    drift = line.starts_with("note: during the run ") || (drift && line.starts_with(" "));
    if (!drift) rest += line + "\n";
  }
  return rest;
}

class RunTest : public ::testing::Test {
 protected:
  /// Every trial of the plan is recorded with a result once, none is missing.
  static void expect_complete(const RunFile& file) {
    std::set<std::size_t> seen;
    for (const RecordedTrial& trial : file.trials) {
      if (trial.status == "truncated") continue;
      EXPECT_TRUE(seen.insert(trial.order).second) << "trial " << trial.order << " ran twice";
    }
    EXPECT_EQ(seen.size(), file.plan.trials.size());
  }

  Workplace here_;
};

TEST_F(RunTest, AProfileIsRunRecordedAndSummarised) {
  here_.write("p.toml", instant_profile(2, 5));
  const Outcome outcome = here_.krepro({"run", "p.toml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("krepro 0.1.0   Linux "),
                    HasSubstr("2 benchmarks x 5 repetitions, interleaved"), HasSubstr("95 % CI"),
                    HasSubstr("  row 2 "), HasSubstr("written to krepro-results/")));
  EXPECT_EQ(without_drift(outcome.err), "");
  const RunFile file = here_.only_result();
  expect_complete(file);
  EXPECT_EQ(file.boots.size(), 1U);
  for (const RecordedTrial& trial : file.trials) {
    EXPECT_TRUE(trial.valid()) << trial.reason;
    EXPECT_EQ(trial.boot_id, file.boots[0].at("boot_id"));
    EXPECT_TRUE(trial.counters.at("host").contains("context_switches"));
    EXPECT_GT(trial.harness.at("start_up_ns"), 0);
  }
}

TEST_F(RunTest, InterleavedOrderRunsAllRowsBeforeAnyAgain) {
  here_.write("p.toml", instant_profile(3, 2));
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  std::vector<std::string> order;
  const RunFile file = here_.only_result();
  for (const RecordedTrial& trial : file.trials) order.push_back(trial.benchmark);
  EXPECT_EQ(order,
            (std::vector<std::string>{"row 1", "row 2", "row 3", "row 1", "row 2", "row 3"}));
}

TEST_F(RunTest, ShowPrintsTheSameTableAgain) {
  here_.write("p.toml", instant_profile(2, 3));
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  const Outcome shown = here_.krepro({"show", here_.results()[0].string()});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr(summary_text(here_.only_result())));
}

TEST_F(RunTest, NothingThatIsPrintedIsWiderThan78Columns) {
  here_.write("p.toml", instant_profile(2, 5));
  const Outcome outcome = here_.krepro({"run", "p.toml", "--out", "r.jsonl"});
  std::istringstream lines(outcome.out + here_.krepro({"show", "r.jsonl"}).out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
}

TEST_F(RunTest, TwoRunsAtTheSameMinuteDoNotOverwriteEachOther) {
  here_.write("p.toml", instant_profile(1, 1));
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  EXPECT_EQ(here_.results().size(), 2U);
}

TEST_F(RunTest, AHundredTrialsStayBelowOneMegabyte) {
  here_.write("p.toml", instant_profile(10, 10));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  EXPECT_LT(std::filesystem::file_size(here_.path("r.jsonl")), 1'000'000U);
}

TEST_F(RunTest, TheHarnessCostsLittleTimePerTrial) {
  here_.write("p.toml", instant_profile(2, 10));
  ASSERT_EQ(here_.krepro({"run", "p.toml"}).status, 0);
  const RunFile file = here_.only_result();
  ASSERT_FALSE(file.notes.empty());
  const nlohmann::json& note = file.notes.back();
  ASSERT_EQ(note.at("kind"), "harness");
  // What it costs on an idle machine stands in docs/running.md; tests run beside anything.
  EXPECT_GT(note.at("own_ns").at("median"), 0);
  EXPECT_LT(note.at("own_ns").at("median"), 1e9);
  EXPECT_GT(note.at("flush_ns").at("median"), 0);
}

TEST_F(RunTest, AfterSigkillHalfWayAResumedRunLosesAndRepeatsNoTrial) {
  here_.write("p.toml", slow_profile);
  {
    RunningCommand command(here_.directory(), {"run", "p.toml", "--out", "r.jsonl"}, false);
    ASSERT_TRUE(here_.wait_for_samples("r.jsonl", 2));
    command.signal(SIGKILL);
    EXPECT_EQ(command.wait().status, 128 + SIGKILL);
  }
  EXPECT_TRUE(here_.all_gone());
  const std::size_t before = read_run_file(here_.path("r.jsonl")).trials.size();
  EXPECT_LT(before, 6U);
  const Outcome shown = here_.krepro({"show", "r.jsonl"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out, HasSubstr("krepro run --resume r.jsonl"));

  const Outcome outcome = here_.krepro({"run", "--resume", "r.jsonl"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(fmt::format("{} of 6 trials are recorded already", before)));
  expect_complete(read_run_file(here_.path("r.jsonl")));
}

TEST_F(RunTest, ResumingACompleteRunRunsNothing) {
  here_.write("p.toml", instant_profile(1, 3));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  EXPECT_EQ(here_.krepro({"run", "--resume", "r.jsonl"}).status, 0);
  EXPECT_EQ(read_run_file(here_.path("r.jsonl")).trials.size(), 3U);
}

TEST_F(RunTest, ATornLastLineIsCutOffAndItsTrialRunsAgain) {
  here_.write("p.toml", instant_profile(1, 3));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  const std::string text = here_.read("r.jsonl");
  const std::size_t last_sample = text.rfind(R"("type":"sample")");
  here_.write("r.jsonl", text.substr(0, last_sample));
  EXPECT_THAT(here_.krepro({"show", "r.jsonl"}).out, HasSubstr("torn"));

  const Outcome outcome = here_.krepro({"run", "--resume", "r.jsonl"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("torn last line"));
  expect_complete(read_run_file(here_.path("r.jsonl")));
}

TEST_F(RunTest, AFailedTrialIsNotRunAgainOnResume) {
  here_.write("p.toml", faulty_profile("error"));
  EXPECT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 1);
  EXPECT_EQ(here_.krepro({"run", "--resume", "r.jsonl"}).status, 1);
  expect_complete(read_run_file(here_.path("r.jsonl")));
}

TEST_F(RunTest, ResumingOnAnotherKernelHostOrGeneratorIsRefused) {
  here_.write("p.toml", instant_profile(1, 2));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  const std::string text = here_.read("r.jsonl");
  const auto refused_after = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at == std::string::npos) return std::string();
    changed.replace(at, from.size(), to);
    here_.write("changed.jsonl", changed);
    const Outcome outcome = here_.krepro({"run", "--resume", "changed.jsonl"});
    EXPECT_EQ(outcome.status, 2) << from;
    EXPECT_EQ(here_.read("changed.jsonl"), changed);
    return outcome.err;
  };
  EXPECT_THAT(refused_after(R"("kernel":{"build_id":")", R"("kernel":{"build_id":"00)"),
              HasSubstr("another kernel"));
  EXPECT_THAT(refused_after(R"("source_hash":")", R"("source_hash":"00)"),
              HasSubstr("generator null has changed"));
  EXPECT_THAT(refused_after(R"("host.name":{"identity":true,"source":"/proc/sys/kernel/hostname",)"
                            R"("value":")",
                            R"("host.name":{"identity":true,"source":"/proc/sys/kernel/hostname",)"
                            R"("value":"other-)"),
              HasSubstr("another host"));
  here_.write("p.toml", instant_profile(1, 2) + "# changed\n");
  const Outcome outcome = here_.krepro({"run", "--resume", "r.jsonl"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has changed since the run began"));
}

TEST_F(RunTest, ResumingWithTheSameCommandLineWorksAndWithAnotherIsRefused) {
  here_.write("p.toml", instant_profile(2, 2));
  const std::vector<std::string> same = {"run", "p.toml", "--repetitions", "3"};
  std::vector<std::string> first = same;
  first.insert(first.end(), {"--out", "r.jsonl"});
  ASSERT_EQ(here_.krepro(first).status, 0);
  std::vector<std::string> again = same;
  again.insert(again.end(), {"--resume", "r.jsonl"});
  EXPECT_EQ(here_.krepro(again).status, 0);
  const Outcome other =
      here_.krepro({"run", "p.toml", "--repetitions", "4", "--resume", "r.jsonl"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("plan"));
}

TEST_F(RunTest, AfterARebootTheRunGoesOnUnderANewBoot) {
  here_.write("p.toml", instant_profile(1, 3));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--out", "r.jsonl"}).status, 0);
  // The file as an earlier boot would have left it: its own boot id, and one trial short.
  std::string text = here_.read("r.jsonl");
  text = text.substr(0, text.rfind('\n', text.rfind(R"("type":"sample")")) + 1);
  const std::string id = read_run_file(here_.path("r.jsonl")).boots[0].at("boot_id");
  for (std::size_t at = text.find(id); at != std::string::npos; at = text.find(id, at + 1)) {
    text.replace(at, id.size(), "00000000-an-earlier-boot");
  }
  here_.write("r.jsonl", text);
  EXPECT_EQ(here_.krepro({"run", "--resume", "r.jsonl"}).status, 0);
  const RunFile file = read_run_file(here_.path("r.jsonl"));
  expect_complete(file);
  EXPECT_EQ(file.boots.size(), 2U);
  EXPECT_NE(file.trials.back().boot_id, file.trials.front().boot_id);
}

TEST_F(RunTest, CtrlCKeepsWhatRanAndTellsHowToGoOn) {
  here_.write("p.toml", slow_profile);
  RunningCommand command(here_.directory(), {"run", "p.toml", "--out", "r.jsonl"}, false);
  ASSERT_TRUE(here_.wait_for_samples("r.jsonl", 1));
  command.signal(SIGINT);
  const Outcome outcome = command.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_THAT(outcome.out, HasSubstr("krepro run --resume r.jsonl"));
  EXPECT_TRUE(here_.all_gone());
  const RunFile file = read_run_file(here_.path("r.jsonl"));
  EXPECT_LE(file.trials.size(), 6U);
  for (const RecordedTrial& trial : file.trials) {
    EXPECT_TRUE(trial.valid() || trial.status == "truncated") << trial.status;
  }
  EXPECT_EQ(here_.krepro({"run", "--resume", "r.jsonl"}).status, 0);
  expect_complete(read_run_file(here_.path("r.jsonl")));
}

TEST_F(RunTest, SimulatedBootsAreMarkedEverywhere) {
  here_.write("p.toml", instant_profile(1, 2));
  const Outcome outcome =
      here_.krepro({"run", "p.toml", "--simulate-boots", "3", "--label", "base"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("SIMULATED"));
  const RunFile file = here_.only_result();
  EXPECT_TRUE(file.simulated);
  EXPECT_EQ(file.boots.size(), 3U);
  EXPECT_EQ(file.trials.size(), 6U);
  for (const RecordedTrial& trial : file.trials) EXPECT_TRUE(trial.simulated);
}

TEST_F(RunTest, SimulatedBootsComeOutTheSameAgainAndDifferByLabel) {
  here_.write("p.toml", instant_profile(1, 2));
  const auto values = [&](const std::string& label, const std::string& out) {
    EXPECT_EQ(
        here_.krepro({"run", "p.toml", "--simulate-boots", "2", "--label", label, "--out", out})
            .status,
        0);
    return summarise_rows(read_run_file(here_.path(out))).at(0).values;
  };
  const auto base = values("base", "1.jsonl");
  EXPECT_EQ(base.size(), 4U);
  EXPECT_EQ(std::set(base.begin(), base.end()).size(), 4U);
  EXPECT_EQ(values("base", "2.jsonl"), base);
  EXPECT_NE(values("other", "3.jsonl"), base);
}

TEST_F(RunTest, OneLabelOfTwoKernelsIsAnError) {
  here_.write("p.toml", instant_profile(1, 1));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--label", "mine"}).status, 0);
  const std::filesystem::path file = here_.results()[0];
  std::string text = here_.read(std::filesystem::relative(file, here_.directory()).string());
  const std::string key = R"("kernel":{"build_id":")";
  text.replace(text.find(key), key.size(), key + "00");
  here_.write("krepro-results/" + file.filename().string(), text);
  const Outcome outcome = here_.krepro({"run", "p.toml", "--label", "mine"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("another kernel"), HasSubstr("--label")));
  EXPECT_EQ(here_.krepro({"run", "p.toml", "--label", "yours"}).status, 0);
}

}  // namespace
}  // namespace krepro::test
