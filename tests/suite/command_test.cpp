// The command line: what is said of mistakes, and how it behaves without a terminal.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CommandTest : public ::testing::Test {
 protected:
  Workplace here_;
};

/// A profile that is shipped can be planned: its keys, options and values are the generators'.
TEST_F(CommandTest, EveryShippedProfileIsAccepted) {
  const std::filesystem::path profiles =
      std::filesystem::path(KREPRO_SOURCE_DIRECTORY) / "profiles";
  int planned = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(profiles)) {
    if (entry.path().extension() != ".toml") continue;
    Outcome outcome = here_.krepro({"plan", entry.path().string()});
    // The message's lines break where the path's length has them break.
    if (outcome.err.find("\"device\"") != std::string::npos) {
      outcome = here_.krepro({"plan", entry.path().string(), "--set", "device=/dev/nvme1n1"});
    }
    EXPECT_EQ(outcome.status, 0) << entry.path() << "\n" << outcome.err;
    ++planned;
  }
  EXPECT_GE(planned, 4);
}

TEST_F(CommandTest, HelpAndVersionGoToStandardOutput) {
  for (const auto& words : {std::vector<std::string>{"--help"},
                            {"help"},
                            {},
                            {"help", "run"},
                            {"run", "--help"},
                            {"compare", "--help"},
                            {"bundle", "--help"},
                            {"aa", "--help"},
                            {"place", "--help"},
                            {"topology", "--help"},
                            {"doctor", "--help"},
                            {"show", "-h"}}) {
    const Outcome outcome = here_.krepro(words);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("krepro"));
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
  }
  EXPECT_EQ(here_.krepro({"--version"}).out, "krepro 0.1.0\n");
}

TEST_F(CommandTest, AMisspeltCommandGetsASuggestion) {
  const Outcome outcome = here_.krepro({"rnu", "quick"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("krepro: unknown command or generator \"rnu\""),
                                 HasSubstr("did you mean \"run\"?")));
  EXPECT_THAT(here_.krepro({"nul"}).err, HasSubstr("did you mean \"null\"?"));
  EXPECT_EQ(here_.krepro({"qqqqqqqq"}).status, 2);
}

TEST_F(CommandTest, AMisspeltOptionGetsASuggestion) {
  const Outcome outcome = here_.krepro({"run", "quick", "--repetition", "3"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean --repetitions?"));
}

TEST_F(CommandTest, ValuesOutOfRangeAreRefused) {
  here_.write("p.toml", instant_profile(1, 1));
  for (const auto& [option, value] : {std::pair("--repetitions", "0"),
                                      {"--repetitions", "-3"},
                                      {"--repetitions", "x"},
                                      {"--warmups", "-1"},
                                      {"--order", "sideways"},
                                      {"--trial-timeout", "5"},
                                      {"--setup-timeout", "0s"},
                                      {"--simulate-boots", "0"},
                                      {"--simulate-boots", "1000000"},
                                      {"--label", "two words"},
                                      {"--runtime", "soon"}}) {
    const Outcome outcome = here_.krepro({"run", "p.toml", option, value});
    EXPECT_EQ(outcome.status, 2) << option << " " << value;
    EXPECT_THAT(outcome.err, StartsWith("krepro: "));
  }
  EXPECT_TRUE(here_.results().empty());
}

TEST_F(CommandTest, SetTakesOneValueAndLeavesTheProfileAlone) {
  here_.write("p.toml", instant_profile(1, 1));
  // A parameter that the profile does not know is an error of its own, not of the command line.
  const Outcome outcome = here_.krepro({"run", "--only", "row*", "p.toml"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(CommandTest, ErrorsOfAProfileExitWith2BeforeAnythingStarts) {
  here_.write("p.toml", "[defaults]\nrepetition = 3\n");
  const Outcome outcome = here_.krepro({"run", "p.toml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("p.toml:2:"), HasSubstr("repetitions")));
  EXPECT_TRUE(here_.results().empty());
}

TEST_F(CommandTest, AGeneratorIsHandedOverTo) {
  const Outcome outcome = here_.krepro(
      {"null", "--time", "virtual", "--latency", "1ms", "--runtime", "1s", "--json", "-"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("generator"), "null");
  EXPECT_EQ(here_.krepro({"null", "--no-such-option"}).status, 2);
}

TEST_F(CommandTest, BootsCanBeSimulatedForTheNullGeneratorOnly) {
  here_.write("p.toml", instant_profile(1, 1));
  EXPECT_EQ(here_.krepro({"run", "p.toml", "--simulate-boots", "2"}).status, 0);
}

TEST_F(CommandTest, AClosedStandardOutputCostsNoResult) {
  here_.write("p.toml", instant_profile(1, 3));
  RunningCommand command(here_.directory(), {"run", "p.toml", "--out", "r.jsonl"}, true);
  EXPECT_EQ(command.wait().status, 0);
  EXPECT_EQ(read_run_file(here_.path("r.jsonl")).trials.size(), 3U);
}

TEST_F(CommandTest, AReaderThatGoesAwayIsNoErrorHoweverMuchThereIsToPrint) {
  here_.write("p.toml", instant_profile(60, 1));
  RunningCommand run(here_.directory(), {"run", "p.toml", "--out", "r.jsonl"}, true);
  EXPECT_EQ(run.wait().status, 0);
  EXPECT_EQ(read_run_file(here_.path("r.jsonl")).trials.size(), 60U);
  RunningCommand show(here_.directory(), {"show", "r.jsonl"}, true);
  EXPECT_EQ(show.wait().status, 0);
  RunningCommand plan(here_.directory(), {"plan", "p.toml"}, true);
  EXPECT_EQ(plan.wait().status, 0);
  EXPECT_EQ(here_.read("stderr"), "");
}

TEST_F(CommandTest, ShowOfWhatIsNoRunFileExitsWith2) {
  here_.write("notes.txt", "hello\n");
  for (const char* file : {"notes.txt", "absent.jsonl", "."}) {
    const Outcome outcome = here_.krepro({"show", file});
    EXPECT_EQ(outcome.status, 2) << file;
    EXPECT_THAT(outcome.err, HasSubstr(file));
  }
}

TEST_F(CommandTest, TheRuntimeOfTheCommandLineReplacesTheProfiles) {
  here_.write("p.toml", instant_profile(1, 1));
  ASSERT_EQ(here_.krepro({"run", "p.toml", "--runtime", "3s"}).status, 0);
  const RunFile file = here_.only_result();
  EXPECT_EQ(file.trials.at(0).sample.at("options").at("runtime"), 3'000'000'000);
}

}  // namespace
}  // namespace krepro::test
