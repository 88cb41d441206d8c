// A profile says what it means, and everything that is wrong with one is said at its place.
#include "suite/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "common/base/error.h"

namespace krepro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* minimal = R"(
[[benchmark]]
generator = "null"
)";

std::vector<std::string> errors_of(const std::string& text) {
  try {
    (void)parse_profile(text, "mine.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    std::vector<std::string> lines;
    std::istringstream stream(error.remedy().empty()
                                  ? std::string(error.what())
                                  : std::string(error.what()) + "; " + error.remedy());
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  return {};
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = fs::temp_directory_path() / "krepro-profile-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Profile, ReadsEveryKeyOfTheContract) {
  const Profile profile = parse_profile(R"(
title  = "Proportional newidle balance"
report = "https://example.org/report"
[machine]
cpus = 96
llcs = 12
smt = true
architecture = "x86_64"
name = "c5ad.24xlarge"
[defaults]
repetitions = 10
warmups = 1
runtime = "60s"
seed = 7
[[benchmark]]
name      = "randwrite-fsync64"
generator = "randwrite"
placement = { load = "all" }
scheduling = "batch"
options   = { bs = "4k", fsync = 64, direct = true, filename = "${device}" }
matrix    = { ioengine = ["psync", "io_uring"], numjobs = [1, 4] }
repetitions = 5
expected_seconds = 61.5
fit = ["numjobs"]
[parameters]
device = { help = "a spare block device or a file", required = true }
size = { help = "bytes", default = "50G" }
)",
                                        "mine.toml");
  EXPECT_EQ(profile.title, "Proportional newidle balance");
  EXPECT_EQ(profile.report, "https://example.org/report");
  EXPECT_EQ(profile.machine.cpus, 96);
  EXPECT_EQ(profile.machine.llcs, 12);
  EXPECT_EQ(profile.machine.cores, std::nullopt);
  EXPECT_EQ(profile.machine.smt, true);
  EXPECT_EQ(profile.machine.architecture, "x86_64");
  EXPECT_EQ(profile.machine.name, "c5ad.24xlarge");
  EXPECT_EQ(profile.repetitions, 10);
  EXPECT_EQ(profile.warmups, 1);
  EXPECT_EQ(profile.defaults.at("runtime").value, "60s");
  ASSERT_EQ(profile.benchmarks.size(), 1U);
  const BenchmarkTemplate& benchmark = profile.benchmarks.front();
  EXPECT_EQ(benchmark.name.text, "randwrite-fsync64");
  EXPECT_EQ(benchmark.generator.text, "randwrite");
  EXPECT_EQ(benchmark.placement.at("load").text, "all");
  EXPECT_EQ(benchmark.scheduling.at("load").text, "batch");
  EXPECT_EQ(benchmark.options.at("fsync").value, 64);
  EXPECT_EQ(benchmark.options.at("direct").value, true);
  EXPECT_EQ(benchmark.options.at("filename").value, "${device}");
  EXPECT_EQ(benchmark.options.at("bs").key_position.line, 20);
  EXPECT_EQ(benchmark.repetitions, 5);
  EXPECT_EQ(benchmark.warmups, std::nullopt);
  EXPECT_DOUBLE_EQ(benchmark.expected_seconds, 61.5);
  EXPECT_EQ(benchmark.fit.front().text, "numjobs");
  EXPECT_TRUE(profile.parameters.at("device").required);
  EXPECT_EQ(profile.parameters.at("size").default_value, "50G");
}

TEST(Profile, KeepsMatrixAxesAndChoicesInTheOrderOfTheFile) {
  const Profile profile = parse_profile(R"(
[[benchmark]]
generator = "hackbench"
[benchmark.matrix]
mode = { process = { process = true }, threads = { threads = true } }
groups = [4, 1]
channel.socket = {}
channel.pipe = { pipe = true }
)",
                                        "mine.toml");
  const auto& matrix = profile.benchmarks.front().matrix;
  ASSERT_EQ(matrix.size(), 3U);
  EXPECT_EQ(matrix[0].name, "mode");
  EXPECT_TRUE(matrix[0].named);
  EXPECT_EQ(matrix[0].choices[0].label, "process");
  EXPECT_EQ(matrix[0].choices[0].options.at("process").value, true);
  EXPECT_EQ(matrix[1].name, "groups");
  EXPECT_FALSE(matrix[1].named);
  EXPECT_EQ(matrix[1].choices[0].label, "4");
  EXPECT_EQ(matrix[1].choices[1].options.at("groups").value, 1);
  EXPECT_EQ(matrix[2].choices[0].label, "socket");
  EXPECT_THAT(matrix[2].choices[0].options, IsEmpty());
}

TEST(Profile, ABenchmarkIsNamedAfterItsGeneratorWhereNothingElseIsSaid) {
  const Profile profile = parse_profile(minimal, "mine.toml");
  EXPECT_EQ(profile.benchmarks.front().name.text, "null");
  EXPECT_EQ(profile.repetitions, 3);
}

TEST(Profile, AMisspeltKeyIsAnErrorAtItsPlaceWithTheNearestKey) {
  EXPECT_THAT(errors_of("[defaults]\nruntime = \"1s\"\nrepetition = 10\n" + std::string(minimal)),
              ElementsAre("mine.toml:3:1: unknown key \"repetition\" in [defaults]; "
                          "did you mean \"repetitions\"?"));
  EXPECT_THAT(errors_of("[machin]\ncpus = 1\n" + std::string(minimal)),
              ElementsAre(HasSubstr("mine.toml:1:2: unknown key \"machin\" in the profile; did you "
                                    "mean \"machine\"?")));
  EXPECT_THAT(errors_of(std::string(minimal) + "iodepth = 64\n"),
              ElementsAre(HasSubstr("4:1: unknown key \"iodepth\" in [[benchmark]]")));
}

TEST(Profile, EverythingThatIsWrongIsSaidAtOnceInTheOrderOfTheFile) {
  const auto errors = errors_of(R"(titel = "x"
[machine]
cpus = "many"
[defaults]
repetitions = 0
runtime = "60x"
connections = 0
[[benchmark]]
generator = ""
upstream = "yes"
placement = { lode = "all" }
options = { when = 1979-05-27, deep = { a = 1 } }
matrix = { empty = [], twice = [1, 1] }
expected_seconds = -1
fit = []
[parameters]
bare = "x"
both = { help = "h", required = true, default = "1" }
neither = { help = "h" }
)");
  EXPECT_THAT(
      errors,
      ElementsAre(
          HasSubstr("mine.toml:1:1: unknown key \"titel\" in the profile; did you mean \"title\"?"),
          HasSubstr("mine.toml:3:8: cpus in [machine] is a string; expected an integer from 1"),
          HasSubstr("mine.toml:5:15: repetitions in [defaults] is 0; expected 1 to 10000"),
          HasSubstr("mine.toml:6:11: runtime in [defaults]: \"60x\""),
          HasSubstr("mine.toml:7:15: connections in [defaults] is 0"),
          HasSubstr("mine.toml:9:13: generator in [[benchmark]] is empty"),
          HasSubstr("mine.toml:10:12: upstream in [[benchmark]] is a string; expected true or "
                    "false"),
          HasSubstr("mine.toml:11:15: unknown key \"lode\" in placement; known are load, serve"),
          HasSubstr("mine.toml:12:20: options.when is a date or time"),
          HasSubstr("mine.toml:12:39: options.deep is a table"),
          HasSubstr("mine.toml:13:20: matrix.empty is empty"),
          HasSubstr("mine.toml:13:36: matrix.twice has \"1\" twice"),
          HasSubstr("mine.toml:14:20: expected_seconds in [[benchmark]] is -1"),
          HasSubstr("mine.toml:15:7: fit is empty"),
          HasSubstr("mine.toml:17:8: [parameters] bare is a string"),
          HasSubstr("mine.toml:18:39: [parameters] both is required and has a default"),
          HasSubstr("mine.toml:19:1: [parameters] neither needs required = true or a default")));
}

TEST(Profile, MalformedTomlIsSaidWithItsPlace) {
  EXPECT_THAT(errors_of("title = \"x\"\n[defaults\nruntime = 1\n"),
              ElementsAre(HasSubstr("mine.toml:2:")));
  EXPECT_THAT(errors_of("title = \"never ends\n"), ElementsAre(HasSubstr("not valid TOML")));
  EXPECT_THAT(errors_of("a = 1\na = 2\n"), ElementsAre(HasSubstr("mine.toml:2:5: not valid TOML")));
  EXPECT_THAT(errors_of("x = nan\n" + std::string(minimal)),
              ElementsAre(HasSubstr("mine.toml:1:5: not valid TOML: a number must be finite")));
  EXPECT_THAT(errors_of(std::string("title = \"\xff\"\n")), ElementsAre(HasSubstr("mine.toml:1:")));
}

TEST(Profile, AStrayLetterOutsideAStringIsAnError) {
  // U+01A3 and the like fell into a gap of the TOML library's tables.
  EXPECT_THAT(errors_of("\xc6\xa3"), ElementsAre(HasSubstr("mine.toml:1:1: not valid TOML")));
  EXPECT_THAT(errors_of("title = \"x\" \xc3\xa9\n"),
              ElementsAre(HasSubstr("mine.toml:1:13: not valid TOML")));
}

TEST(Profile, ATableHeaderThatIsNoKeyIsAnError) {
  EXPECT_THAT(errors_of("[:"), ElementsAre(HasSubstr("mine.toml:1:2: not valid TOML")));
}

TEST(Profile, ControlCharactersAreRefused) {
  EXPECT_THAT(errors_of(std::string("\n [\0", 4)),
              ElementsAre(HasSubstr("mine.toml:2:3: not valid TOML: control character 0x00")));
}

TEST(Profile, AProfileWithoutBenchmarksIsNone) {
  EXPECT_THAT(errors_of(""), ElementsAre(HasSubstr("mine.toml:1:1: the profile has no benchmark")));
  EXPECT_THAT(errors_of("benchmark = []"), ElementsAre(HasSubstr("has no benchmark")));
  EXPECT_THAT(errors_of("[benchmark]\ngenerator = \"null\"\n"),
              ElementsAre(HasSubstr("mine.toml:1:2: benchmark is a table; expected an array of "
                                    "tables; write [[benchmark]]")));
  EXPECT_THAT(errors_of("[[benchmark]]\nname = \"x\"\n"),
              ElementsAre(HasSubstr("mine.toml:1:1: [[benchmark]] lacks generator")));
}

TEST(Profile, UnnamedTablesInAnAxisAreRefusedWithTheRightForm) {
  EXPECT_THAT(errors_of(std::string(minimal) + "matrix = { mode = [{ process = true }] }\n"),
              ElementsAre(HasSubstr("holds a table without a name; name the alternatives")));
}

TEST(Profile, AFloodOfErrorsIsCutShort) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const auto errors = errors_of(text + minimal);
  EXPECT_EQ(errors.size(), 21U);
  EXPECT_THAT(errors.back(), HasSubstr("and 80 more errors"));
}

TEST(FindingProfiles, ByNameBelowTheDirectoryOrByPath) {
  const TemporaryDirectory directory;
  directory.write("quick.toml", minimal);
  directory.write("graviton3/next-buddy.toml", minimal);
  directory.write("graviton3/next-buddy.csv", "a,b\n");
  EXPECT_THAT(list_profiles(directory.path()), ElementsAre("graviton3/next-buddy", "quick"));
  EXPECT_EQ(load_profile("quick", directory.path()).name, "quick");
  const Profile nested = load_profile("graviton3/next-buddy", directory.path());
  EXPECT_EQ(nested.path, directory.path() / "graviton3/next-buddy.toml");
  EXPECT_EQ(nested.text, minimal);
  EXPECT_EQ(load_profile("quick.toml", directory.path()).name, "quick");
  const std::string path = directory.path() / "quick.toml";
  EXPECT_EQ(load_profile(path, "/nowhere").name, path);
}

std::string remedy_of(const std::string& name, const fs::path& directory) {
  try {
    (void)load_profile(name, directory);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return std::string(error.what()) + " | " + error.remedy();
  }
  return "found";
}

TEST(FindingProfiles, AnUnknownNameGetsTheNearestOne) {
  const TemporaryDirectory directory;
  directory.write("quick.toml", minimal);
  directory.write("graviton3/next-buddy.toml", minimal);
  EXPECT_THAT(remedy_of("quikc", directory.path()), HasSubstr("did you mean \"quick\"?"));
  EXPECT_THAT(remedy_of("next-budy", directory.path()),
              HasSubstr("did you mean \"graviton3/next-buddy\"?"));
  EXPECT_THAT(remedy_of("something-else", directory.path()), HasSubstr("krepro list"));
  EXPECT_THAT(remedy_of("/nowhere/x.toml", directory.path()), HasSubstr("no profile"));
  EXPECT_THAT(remedy_of(directory.path(), directory.path()), HasSubstr("is a directory"));
}

TEST(FindingProfiles, AReferenceThatIsNotThereIsAnError) {
  const TemporaryDirectory directory;
  directory.write("a.toml", "reference = \"a.csv\"\n" + std::string(minimal));
  EXPECT_THAT(remedy_of("a", directory.path()), HasSubstr("a.toml:1:13: reference \"a.csv\""));
  directory.write("a.csv", "x\n");
  EXPECT_EQ(remedy_of("a", directory.path()), "found");
}

}  // namespace
}  // namespace krepro
