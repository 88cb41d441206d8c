// `krepro run --observe`: extra trials under the eyes of a tool, with any command in the tool's
// place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* short_profile =
    "title = \"observed\"\n[defaults]\nrepetitions = 2\nruntime = \"200ms\"\n"
    "[[benchmark]]\nname = \"row a\"\ngenerator = \"null\"\n"
    "options = { latency = \"1ms\", wait = \"sleep\" }\n";

/// Writes down when SIGINT came, by the same clock.
constexpr const char* patient_tool =
    "trap 'cut -d\" \" -f1 /proc/uptime > {dir}/interrupted; exit 0' INT; echo up; "
    "while :; do sleep 0.02; done";

class ObserveTest : public ::testing::Test {
 protected:
  Outcome run(const std::string& tool, const std::vector<std::string>& more = {}) {
    here_.write("p.toml", short_profile);
    std::vector<std::string> words = {"run",       "p.toml", "--out",          "r.jsonl",
                                      "--observe", tool,     "--observe-lead", "100ms"};
    words.insert(words.end(), more.begin(), more.end());
    return here_.krepro(words);
  }
  [[nodiscard]] RunFile file() const { return read_run_file(here_.path("r.jsonl")); }

  Workplace here_;
};

TEST_F(ObserveTest, OneExtraTrialPerRowIsListedAndInNoMean) {
  const Outcome outcome = run(patient_tool);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const RunFile recorded = file();
  EXPECT_EQ(recorded.trials.size(), 2U);
  ASSERT_EQ(recorded.observations.size(), 1U);
  const nlohmann::json& line = recorded.observations[0];
  EXPECT_EQ(line.at("status"), "valid") << line.value("reason", "");
  EXPECT_EQ(line.at("benchmark"), "row a");
  EXPECT_TRUE(line.at("metrics").is_object());
  const std::filesystem::path directory = line.at("directory").get<std::string>();
  EXPECT_EQ(directory, std::filesystem::canonical(here_.directory()) / "r.observed/row-a-1");
  EXPECT_TRUE(std::filesystem::exists(directory / "interrupted"));
  std::ifstream log(directory / "observer.log");
  std::string word;
  EXPECT_TRUE(log >> word && word == "up");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("observed, in no mean:"), HasSubstr("row a")));
  EXPECT_THAT(here_.krepro({"show", "r.jsonl"}).out, HasSubstr("r.observed/row-a-1"));
}

TEST_F(ObserveTest, TheWindowLiesWithinTheToolsLifeAndFromGoToSample) {
  ASSERT_EQ(run(patient_tool).status, 0);
  const nlohmann::json window = file().observations.at(0).at("window");
  const auto at = [&](const char* name) { return window.at(name).get<std::int64_t>(); };
  EXPECT_EQ(window.at("clock"), "CLOCK_MONOTONIC");
  EXPECT_GE(at("go_ns"), at("observer_started_ns") + 100'000'000);
  EXPECT_GE(at("sample_ns"), at("go_ns") + 200'000'000);
  EXPECT_GE(at("observer_stopped_ns"), at("sample_ns"));
  EXPECT_GE(at("observer_ended_ns"), at("observer_stopped_ns"));
  std::ifstream stream(here_.path("r.observed/row-a-1/window.json"));
  EXPECT_EQ(nlohmann::json::parse(stream), window);
}

TEST_F(ObserveTest, AToolThatEndsAtOnceFailsItsTrialAndNoOther) {
  const Outcome outcome = run("echo no permission; exit 3");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const RunFile recorded = file();
  for (const RecordedTrial& trial : recorded.trials) EXPECT_TRUE(trial.valid());
  ASSERT_EQ(recorded.observations.size(), 1U);
  EXPECT_EQ(recorded.observations[0].at("status"), "failed");
  EXPECT_THAT(recorded.observations[0].at("reason").get<std::string>(),
              AllOf(HasSubstr("ended before the load began"), HasSubstr("no permission")));
  EXPECT_TRUE(here_.all_gone());
}

TEST_F(ObserveTest, AToolWhoseEndGoesWrongIsSaidToHaveFailed) {
  ASSERT_EQ(run("trap 'echo disk full; exit 5' INT; while :; do sleep 0.02; done").status, 0);
  EXPECT_THAT(file().observations.at(0).at("reason").get<std::string>(),
              AllOf(HasSubstr("exit status 5"), HasSubstr("disk full")));
}

TEST_F(ObserveTest, ResumingObservesWhatWasNotObserved) {
  ASSERT_EQ(run("exit 1").status, 0);
  ASSERT_EQ(here_.krepro({"run", "--resume", "r.jsonl", "--observe", patient_tool}).status, 0);
  ASSERT_EQ(here_.krepro({"run", "--resume", "r.jsonl", "--observe", patient_tool}).status, 0);
  const RunFile recorded = file();
  ASSERT_EQ(recorded.observations.size(), 2U);
  EXPECT_EQ(recorded.observations[1].at("status"), "valid");
  EXPECT_EQ(recorded.trials.size(), 2U);
}

TEST_F(ObserveTest, AnEmptyCommandIsRefusedBeforeAnythingRuns) {
  const Outcome outcome = run(" ");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--observe: the command is empty"));
  EXPECT_FALSE(std::filesystem::exists(here_.path("r.jsonl")));
}

}  // namespace
}  // namespace krepro::test
