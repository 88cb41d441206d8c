// The originals' command lines and figures, from descriptions as generators give them.
#include "suite/original/original.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/base/error.h"

namespace krepro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nlohmann::json hackbench_like() {
  return nlohmann::json::parse(R"json({
    "name": "hackbench",
    "metrics": [{"name": "seconds", "unit": "s", "better": "lower", "primary": true}],
    "options": [
      {"name": "groups", "aliases": ["g"], "type": "integer", "default": "10"},
      {"name": "loops", "aliases": ["l"], "type": "integer", "default": "100"},
      {"name": "datasize", "aliases": ["s"], "type": "bytes", "default": "100"},
      {"name": "pipe", "aliases": ["p"], "type": "flag"},
      {"name": "pattern", "type": "choice", "choices": ["original", "lean"], "default": "original", "origin": "ours"}
    ],
    "original": {
      "program": "hackbench", "package": "rt-tests", "version_arguments": ["--help"],
      "figures": [{"metric": "seconds", "pattern": "Time: ([0-9.]+)", "scale": 1}],
      "rows": [{"name": "process pipe g=4", "options": [["groups", "4"], ["pipe", ""]], "operations": 160000}],
      "scaling_option": "loops", "operation": "message", "time_ratio_low": 0.9
    }})json");
}

nlohmann::json fio_like() {
  nlohmann::json json = hackbench_like();
  json["name"] = "randwrite";
  json["options"] = nlohmann::json::parse(R"json([
      {"name": "bs", "aliases": ["blocksize"], "type": "bytes"},
      {"name": "runtime", "type": "duration", "plain_unit_ns": 1000000000},
      {"name": "time_based", "type": "flag", "optional_value": true},
      {"name": "filename", "type": "text"}])json");
  json["original"]["program"] = "fio";
  json["original"]["package"] = "fio";
  json["original"]["extra_arguments"] = {"--output-format=json"};
  json["original"]["long_equals"] = true;
  return json;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " / " + error.remedy();
  }
  return "no error";
}

TEST(Original, ReadsWhatTheGeneratorDeclares) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  EXPECT_EQ(hackbench.generator(), "hackbench");
  EXPECT_EQ(hackbench.primary().name, "seconds");
  EXPECT_FALSE(hackbench.primary().higher_is_better);
  ASSERT_EQ(hackbench.about().rows.size(), 1U);
  EXPECT_EQ(hackbench.about().rows[0].options[0],
            std::make_pair(std::string("groups"), std::string("4")));
  EXPECT_EQ(hackbench.about().scaling_option, "loops");
  EXPECT_EQ(hackbench.about().time_ratio_low, 0.9);
  EXPECT_EQ(hackbench.about().time_ratio_high, 1.05);
}

TEST(Original, AGeneratorWithoutOneIsSaidToHaveNone) {
  nlohmann::json json = hackbench_like();
  json["original"] = nullptr;
  EXPECT_THAT(message_of([&] { (void)OriginalProgram::from_description(json); }),
              HasSubstr("names no original"));
}

TEST(Original, ADescriptionOfAnotherShapeIsAnErrorAndNotACrash) {
  nlohmann::json json = hackbench_like();
  json["original"]["figures"] = 7;
  EXPECT_THROW((void)OriginalProgram::from_description(json), Error);
}

TEST(Original, OptionsAreSpeltAsTheOriginalSpellsThem) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  EXPECT_THAT(hackbench.command(hackbench.arguments({{"groups", "4"}, {"pipe", ""}})),
              ElementsAre("hackbench", "--groups", "4", "--pipe"));
  const OriginalProgram fio = OriginalProgram::from_description(fio_like());
  EXPECT_THAT(fio.command(fio.arguments({{"bs", "4k"}, {"time_based", ""}})),
              ElementsAre("fio", "--output-format=json", "--bs=4096", "--time_based=1"));
}

TEST(Original, SuffixesThatTheOriginalMayMisreadBecomePlainNumbers) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  EXPECT_THAT(hackbench.arguments({{"loops", "10k"}, {"datasize", "4k"}}),
              ElementsAre("--loops", "10000", "--datasize", "4096"));
  const OriginalProgram fio = OriginalProgram::from_description(fio_like());
  EXPECT_THAT(fio.arguments({{"runtime", "1m"}}), ElementsAre("--runtime=60"));
  EXPECT_THAT(fio.arguments({{"runtime", "1500ms"}}), ElementsAre("--runtime=1500ms"));
}

TEST(Original, OptionsOfAPlanAreTakenToo) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  const auto options = nlohmann::json{{"groups", 4}, {"pipe", false}, {"pattern", "original"}};
  EXPECT_THAT(hackbench.arguments_from_json(options), ElementsAre("--groups", "4"));
  EXPECT_THAT(hackbench.arguments_from_json(nlohmann::json{{"pipe", true}}), ElementsAre("--pipe"));
}

TEST(Original, AnOptionThatTheOriginalDoesNotKnowIsAnError) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  EXPECT_THAT(message_of([&] {
                (void)hackbench.arguments({{"pattern", "lean"}});
              }),
              HasSubstr("hackbench does not know it"));
  EXPECT_THAT(message_of([&] { (void)hackbench.arguments({{"loop", "3"}}); }), HasSubstr("loops"));
}

TEST(Original, APositionalArgumentStandsLast) {
  nlohmann::json json = fio_like();
  json["positional"] = "filename";
  const OriginalProgram fio = OriginalProgram::from_description(json);
  EXPECT_THAT(fio.arguments({{"filename", "/x"}, {"bs", "512"}}), ElementsAre("--bs=512", "/x"));
}

TEST(Original, FiguresAreReadFromTheOutput) {
  nlohmann::json json = hackbench_like();
  json["original"]["figures"][0]["scale"] = 0.001;
  const OriginalProgram hackbench = OriginalProgram::from_description(json);
  EXPECT_DOUBLE_EQ(hackbench.read_figures("Running in process mode\nTime: 250.5\n").at("seconds"),
                   0.2505);
}

TEST(Original, AMissingFigureNamesTheMetricAndShowsTheOutput) {
  const OriginalProgram hackbench = OriginalProgram::from_description(hackbench_like());
  const std::string message =
      message_of([&] { (void)hackbench.read_figures("fork() (error: Resource unavailable)"); });
  EXPECT_THAT(message, HasSubstr("no seconds in its output"));
  EXPECT_THAT(message, HasSubstr("Resource unavailable"));
}

TEST(Original, OneThatIsNotInstalledComesWithTheLineThatInstallsIt) {
  nlohmann::json json = hackbench_like();
  json["original"]["program"] = "krepro-no-such-program";
  const OriginalProgram missing = OriginalProgram::from_description(json);
  const std::string message = message_of([&] { missing.require_installed(); });
  EXPECT_THAT(message, HasSubstr("krepro-no-such-program, the original of hackbench"));
  EXPECT_THAT(message, HasSubstr("apt-get install --no-install-recommends rt-tests"));
}

TEST(Original, TheVersionIsTheFirstLineItPrintsOnWhicheverStream) {
  char directory[] = "/tmp/krepro-original-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::filesystem::path program = std::filesystem::path(directory) / "tool";
  std::ofstream(program) << "#!/bin/sh\necho >&2\necho 'tool V 2.40' >&2\nexit 1\n";
  chmod(program.c_str(), 0755);
  nlohmann::json json = hackbench_like();
  json["original"]["program"] = program.string();
  EXPECT_EQ(OriginalProgram::from_description(json).version(), "tool V 2.40");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace krepro
