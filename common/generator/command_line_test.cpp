// The command line: spellings that users of the originals type, and what they get wrong.
#include "common/generator/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"

namespace krepro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Option option(std::string name, std::vector<std::string> aliases, OptionType type,
              std::string default_text = "") {
  Option made;
  made.name = std::move(name);
  made.aliases = std::move(aliases);
  made.type = type;
  made.default_text = std::move(default_text);
  made.help = "help of it";
  return made;
}

Description example() {
  Description description{
      .name = "example",
      .summary = "An example.",
      .details = {},
      .metrics = {},
      .options = OptionTable(
          {option("groups", {"g"}, OptionType::integer, "10"),
           option("pipe", {"p"}, OptionType::flag), option("time_based", {}, OptionType::flag),
           option("header", {"H"}, OptionType::list), option("url", {}, OptionType::text)}),
      .roles = {"load", "serve"},
      .example = {},
      .long_example = {},
      .original = std::nullopt,
      .positional = "url"};
  return description;
}

CommandLine parse(const std::vector<const char*>& arguments) {
  static const Description description = example();
  std::vector<const char*> argv{"krepro-example"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return parse_command_line(description, static_cast<int>(argv.size()), argv.data());
}

std::string error_of(const std::vector<const char*>& arguments) {
  try {
    static_cast<void>(parse(arguments));
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.remedy();
  }
  return {};
}

TEST(CommandLineTest, ShortAndLongFormsAndBothWaysToGiveAValue) {
  for (const std::vector<const char*>& spelling : std::vector<std::vector<const char*>>{
           {"-g", "4"}, {"-g4"}, {"--groups", "4"}, {"--groups=4"}, {"-g", "9", "-g", "4"}}) {
    EXPECT_EQ(parse(spelling).options.integer("groups"), 4) << spelling.front();
  }
  EXPECT_TRUE(parse({"-p"}).options.flag("pipe"));
}

TEST(CommandLineTest, FlagsMayCarryAValueAndDashesMayBeUnderscores) {
  EXPECT_TRUE(parse({"--time_based"}).options.flag("time_based"));
  EXPECT_TRUE(parse({"--time-based=1"}).options.flag("time_based"));
  EXPECT_FALSE(parse({"--time_based=0"}).options.flag("time_based"));
}

TEST(CommandLineTest, ListsKeepTheirOrderAndPositionalsFindTheirOption) {
  const CommandLine line = parse({"-H", "a: 1", "http://x/", "-H", "b: 2"});
  EXPECT_THAT(line.options.list("header"), ElementsAre("a: 1", "b: 2"));
  EXPECT_EQ(line.options.text("url"), "http://x/");
}

TEST(CommandLineTest, TheFramesOptionsAreLongOnly) {
  const CommandLine line = parse({"--json", "-", "--seed", "9", "--role", "serve", "--quiet"});
  EXPECT_EQ(line.json, "-");
  EXPECT_EQ(line.seed, 9U);
  EXPECT_EQ(line.role, RoleChoice::serve);
  EXPECT_TRUE(line.quiet);
}

TEST(CommandLineTest, MistakesGetASuggestion) {
  EXPECT_THAT(error_of({"--group=4"}), HasSubstr("did you mean --groups?"));
  EXPECT_THAT(error_of({"--jsn", "x"}), HasSubstr("did you mean --json?"));
  EXPECT_THAT(error_of({"--role", "server"}), HasSubstr("has the roles load, serve"));
  EXPECT_THAT(error_of({"--groups"}), HasSubstr("groups"));
  EXPECT_THAT(error_of({"-g", "x"}), HasSubstr("groups"));
  EXPECT_THAT(error_of({"--seed", "-1"}), HasSubstr("-1"));
}

TEST(CommandLineTest, HelpFitsAndNamesAll) {
  const std::string help = help_text(example());
  for (const char* name : {"--groups", "--pipe", "--header", "--json", "--server-cpus"}) {
    EXPECT_THAT(help, HasSubstr(name));
  }
}

}  // namespace
}  // namespace krepro
