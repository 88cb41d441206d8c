// Generators are whatever krepro-* programs describe themselves; the ones that do not are listed
// with the reason, and nothing else fails.
#include "suite/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "common/base/error.h"
#include "common/timing/clock.h"
#include "suite/catalog/list_command.h"

namespace krepro {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* good_description = R"({
  "name": "good", "summary": "Does nothing well.", "details": "", "roles": ["load", "serve"],
  "positional": "", "source_hash": "abc", "binary_hash": "def", "original": null,
  "metrics": [{"name": "seconds", "unit": "s", "better": "lower", "primary": true, "help": "h"},
              {"name": "rate", "unit": "1/s", "better": "higher"}],
  "options": [{"name": "groups", "aliases": ["g"], "type": "integer", "default": "10",
               "min": 1, "max": 100, "help": "groups"},
              {"name": "pipe", "type": "flag"}]})";

class Directory {
 public:
  Directory() {
    std::string pattern = fs::temp_directory_path() / "krepro-catalog-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Directory() { fs::remove_all(path_); }
  void program(const std::string& name, const std::string& script, mode_t mode = 0755) const {
    std::ofstream(path_ / name) << "#!/bin/sh\n" << script << "\n";
    chmod((path_ / name).c_str(), mode);
  }
  void file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] Catalog catalog() const { return read_catalog(path_, path_); }

 private:
  fs::path path_;
};

std::string printing(const std::string& text) { return "cat <<'END'\n" + text + "\nEND"; }

std::string reason_of(const std::string& text) {
  try {
    (void)parse_description("good", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Description, IsReadWhole) {
  const GeneratorInfo generator = parse_description("good", good_description);
  EXPECT_EQ(generator.summary, "Does nothing well.");
  EXPECT_TRUE(generator.has_role("serve"));
  EXPECT_FALSE(generator.has_role("both"));
  ASSERT_NE(generator.primary_metric(), nullptr);
  EXPECT_EQ(generator.primary_metric()->name, "seconds");
  EXPECT_FALSE(generator.primary_metric()->higher_is_better);
  EXPECT_EQ(generator.metrics[1].unit, "1/s");
  ASSERT_NE(generator.options.find("g"), nullptr);
  EXPECT_EQ(generator.options.find("g")->max, 100);
  EXPECT_EQ(generator.source_hash, "abc");
  EXPECT_TRUE(generator.original.is_null());
}

TEST(Description, ThatIsWrongIsRefusedWithTheReason) {
  EXPECT_THAT(reason_of("hello"), HasSubstr("does not print JSON"));
  EXPECT_THAT(reason_of(""), HasSubstr("does not print JSON"));
  EXPECT_THAT(reason_of("[]"), HasSubstr("describes itself wrongly"));
  EXPECT_THAT(reason_of(R"({"name": "good"})"), HasSubstr("describes itself wrongly"));
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = good_description;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(reason_of(with("\"good\"", "\"good\"")), "accepted");
  EXPECT_THAT(reason_of(with("\"good\"", "\"other\"")), HasSubstr("describes itself as \"other\""));
  EXPECT_THAT(reason_of(with("true", "false")), HasSubstr("no primary metric"));
  EXPECT_THAT(reason_of(with("\"pipe\"", "\"g\"")), HasSubstr("describes option g twice"));
  EXPECT_THAT(reason_of(with("\"flag\"", "\"colour\"")), HasSubstr("not a type"));
  EXPECT_THAT(reason_of(with("\"10\"", "\"1000\"")), HasSubstr("above 100"));
}

TEST(Catalog, HoldsTheProgramsThatDescribeThemselves) {
  const Directory directory;
  directory.program("krepro-good", printing(good_description));
  directory.program("krepro-agent", "exit 1");
  directory.program("other-program", "exit 1");
  directory.program("krepro-not-executable", "exit 1", 0644);
  directory.file("krepro-good.debug", "x");
  const Catalog catalog = directory.catalog();
  ASSERT_EQ(catalog.generators.size(), 1U);
  EXPECT_EQ(catalog.generators[0].path, directory.path() / "krepro-good");
  EXPECT_NE(catalog.find("good"), nullptr);
  EXPECT_EQ(catalog.find("bad"), nullptr);
  EXPECT_THAT(catalog.broken, testing::IsEmpty());
}

TEST(Catalog, ListsBrokenProgramsWithTheReason) {
  const Directory directory;
  directory.program("krepro-crashes", "echo sorry >&2; kill -SEGV $$");
  directory.program("krepro-fails", "echo sorry >&2; exit 4");
  directory.program("krepro-garbage", "echo '{\"name\":'");
  directory.program("krepro-good", printing(good_description));
  directory.program("krepro-other", printing(good_description));
  const Catalog catalog = directory.catalog();
  EXPECT_EQ(catalog.generators.size(), 1U);
  ASSERT_EQ(catalog.broken.size(), 4U);
  EXPECT_THAT(catalog.broken[0].reason, HasSubstr("fails on --describe: killed by signal 11"));
  EXPECT_THAT(catalog.broken[1].reason, HasSubstr("fails on --describe: exit status 4, \"sorry\""));
  EXPECT_THAT(catalog.broken[2].reason, HasSubstr("does not print JSON"));
  EXPECT_THAT(catalog.broken[3].reason, HasSubstr("describes itself as \"good\""));
  EXPECT_THAT(catalog.reason_for_absence("fails"), HasSubstr("generator \"fails\" fails on"));
  EXPECT_EQ(catalog.reason_for_absence("http"),
            "generator \"http\" is not built here (there are: good)");
}

TEST(Catalog, WaitsForAHangingProgramOnlySoLong) {
  const Directory directory;
  directory.program("krepro-hangs", "sleep 1000");
  const std::int64_t start_ns = now_ns();
  const Catalog catalog = directory.catalog();
  ASSERT_EQ(catalog.broken.size(), 1U);
  EXPECT_THAT(catalog.broken[0].reason, HasSubstr("no answer to --describe within 5 s"));
  EXPECT_LT(now_ns() - start_ns, 60'000'000'000);
}

TEST(Catalog, IsEmptyWhereThereIsNothing) {
  const Catalog catalog = read_catalog("/nowhere", "/nowhere");
  EXPECT_TRUE(catalog.generators.empty());
  EXPECT_EQ(catalog.reason_for_absence("null"),
            "generator \"null\" is not built here (there are: none)");
  EXPECT_THAT(catalog.known_names, testing::Contains("null"));
}

TEST(FindingThem, TheEnvironmentGoesFirst) {
  const Directory directory;
  directory.program("krepro-good", printing(good_description));
  directory.file("mine.toml", "title = \"Mine\"\n[[benchmark]]\ngenerator = \"good\"\n");
  setenv("KREPRO_GENERATORS", directory.path().c_str(), 1);
  setenv("KREPRO_PROFILES", directory.path().c_str(), 1);
  const Catalog catalog = find_catalog();
  const fs::path program = find_generator_program("good");
  std::string unknown;
  try {
    (void)find_generator_program("goood");
  } catch (const Error& error) {
    unknown = error.remedy();
  }
  unsetenv("KREPRO_GENERATORS");
  unsetenv("KREPRO_PROFILES");
  EXPECT_EQ(catalog.generators_directory, directory.path());
  EXPECT_EQ(catalog.profiles_directory, directory.path());
  EXPECT_NE(catalog.find("good"), nullptr);
  EXPECT_EQ(program, directory.path() / "krepro-good");
  EXPECT_EQ(unknown, "did you mean \"good\"?");
}

TEST(FindingThem, WithoutItTheyAreBesideTheCommandAndInTheSourceTree) {
  EXPECT_EQ(find_generators_directory(), program_directory());
  EXPECT_TRUE(fs::exists(find_profiles_directory() / "quick.toml"));
}

TEST(List, ShowsProfilesAndGeneratorsWithin78Columns) {
  const Directory directory;
  directory.program("krepro-good", printing(good_description));
  directory.program("krepro-fails", "exit 1");
  directory.file("mine.toml",
                 "title = \"Mine, with a title that is so long that it does not fit into one line "
                 "of 78 columns\"\n[[benchmark]]\ngenerator = \"good\"\n");
  directory.file("wrong.toml", "titel = 1\n");
  const std::string text = list_text({}, directory.catalog());
  EXPECT_THAT(text, HasSubstr("  mine   Mine, with a title"));
  EXPECT_THAT(text, HasSubstr("wrong  cannot be read: "));
  EXPECT_THAT(text, HasSubstr("  good   Does nothing well."));
  EXPECT_THAT(text, HasSubstr("  fails  cannot be used: fails on --describe"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // A path cannot be broken.
    if (line.find('/') == std::string::npos) {
      EXPECT_LE(line.size(), 78U) << line;
    }
  }
  EXPECT_THAT(list_text({"profiles", false}, directory.catalog()), Not(HasSubstr("good   ")));
  EXPECT_THAT(list_text({"generators", false}, directory.catalog()), Not(HasSubstr("mine")));
  EXPECT_THROW((void)list_text({"everything", false}, directory.catalog()), Error);
}

TEST(List, IsJsonWhereAsked) {
  const Directory directory;
  directory.program("krepro-good", printing(good_description));
  directory.file("wrong.toml", "titel = 1\n");
  const auto json = nlohmann::json::parse(list_text({"", true}, directory.catalog()));
  EXPECT_EQ(json.at("generators").at(0).at("name"), "good");
  EXPECT_EQ(json.at("profiles").at(0).at("name"), "wrong");
  EXPECT_TRUE(json.at("profiles").at(0).contains("problem"));
}

}  // namespace
}  // namespace krepro
