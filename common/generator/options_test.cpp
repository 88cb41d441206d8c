// One table gives flags, profile keys and checks: these tests hold its rules.
#include "common/generator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/base/error.h"

namespace krepro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Option option(std::string name, OptionType type, std::string default_text = "") {
  Option made;
  made.name = std::move(name);
  made.type = type;
  made.default_text = std::move(default_text);
  return made;
}

OptionTable example_table() {
  Option groups = option("groups", OptionType::integer, "10");
  groups.aliases = {"g", "nr_groups"};
  groups.min = 1;
  groups.max = 1000;
  Option engine = option("ioengine", OptionType::choice, "psync");
  engine.choices = {"psync", "io_uring"};
  Option runtime = option("runtime", OptionType::duration);
  runtime.plain_unit_ns = 1'000'000'000;
  Option verify = option("verify", OptionType::text);
  verify.origin = Origin::ignored;
  Option zone = option("zonemode", OptionType::text);
  zone.origin = Origin::refused;
  return OptionTable({groups, engine, runtime, verify, zone, option("bs", OptionType::bytes, "4k"),
                      option("pipe", OptionType::flag), option("rate", OptionType::rate),
                      option("header", OptionType::list)});
}

/// The message of the Error that `action` throws; "" where it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.remedy();
  }
  return {};
}

class OptionsTest : public testing::Test {
 protected:
  OptionTable table_ = example_table();
  Options options_{table_};
};

TEST_F(OptionsTest, WhatWasGivenElsewhereOverridesAndDefaultsDoNot) {
  options_.set("groups", "3");
  options_.set("bs", "8k");
  Options other(table_);
  other.set("bs", "16k");
  options_.override_with(other);
  EXPECT_EQ(options_.integer("groups"), 3);
  EXPECT_EQ(options_.integer("bs"), 16384);
  EXPECT_TRUE(options_.given("bs"));
}

TEST_F(OptionsTest, DefaultsAreThereUntilSomethingIsGiven) {
  EXPECT_EQ(options_.integer("groups"), 10);
  EXPECT_EQ(options_.integer("bs"), 4096);
  EXPECT_FALSE(options_.flag("pipe"));
  EXPECT_FALSE(options_.has("runtime"));
  EXPECT_FALSE(options_.given("groups"));
  options_.set("groups", "3");
  EXPECT_TRUE(options_.given("groups"));
  EXPECT_EQ(options_.integer("groups"), 3);
}

TEST_F(OptionsTest, AliasesAndBothSpellingsOfADashNameTheSameOption) {
  options_.set("g", "4");
  EXPECT_EQ(options_.integer("groups"), 4);
  options_.set("nr-groups", "5");
  EXPECT_EQ(options_.integer("groups"), 5);
}

TEST_F(OptionsTest, AMisspeltNameGetsASuggestion) {
  EXPECT_THAT(error_of([this] { options_.set("group", "4"); }),
              HasSubstr("did you mean \"groups\"?"));
}

TEST_F(OptionsTest, ValuesOutOfRangeOrOfAnotherKindAreRefused) {
  EXPECT_THAT(error_of([this] { options_.set("groups", "0"); }), HasSubstr("groups: 0 is below 1"));
  EXPECT_THAT(error_of([this] { options_.set("groups", "-3"); }), HasSubstr("below 1"));
  EXPECT_THAT(error_of([this] { options_.set("groups", "1001"); }), HasSubstr("above 1000"));
  EXPECT_NE(error_of([this] { options_.set("groups", "many"); }), "");
  EXPECT_NE(error_of([this] { options_.set("groups", "99999999999999999999"); }), "");
  EXPECT_NE(error_of([this] { options_.set("pipe", "perhaps"); }), "");
  EXPECT_THAT(error_of([this] { options_.set("ioengine", "psnc"); }),
              HasSubstr("did you mean \"psync\"?"));
  EXPECT_EQ(options_.integer("groups"), 10) << "a refused value changes nothing";
}

TEST_F(OptionsTest, APlainDurationHasTheUnitOfTheOriginal) {
  options_.set("runtime", "60");
  EXPECT_EQ(options_.integer("runtime"), 60'000'000'000);
  options_.set("runtime", "250ms");
  EXPECT_EQ(options_.integer("runtime"), 250'000'000);
}

TEST_F(OptionsTest, HarmlessOptionsAreAcceptedWithANoteAndOthersRefusedByName) {
  options_.set("verify", "0");
  EXPECT_THAT(options_.notes(), ElementsAre(HasSubstr("verify: accepted")));
  EXPECT_THAT(error_of([this] { options_.set("zonemode", "zbd"); }),
              HasSubstr("zonemode: known, but not implemented"));
}

TEST_F(OptionsTest, ListsAppendAndOthersKeepTheLastValue) {
  options_.set("header", "a: 1");
  options_.set("header", "b: 2");
  EXPECT_THAT(options_.list("header"), ElementsAre("a: 1", "b: 2"));
  options_.set("groups", "2");
  options_.set("groups", "7");
  EXPECT_EQ(options_.integer("groups"), 7);
}

TEST_F(OptionsTest, JsonValuesFollowTheSameRules) {
  options_.set_json("groups", 12);
  options_.set_json("pipe", true);
  options_.set_json("bs", "16k");
  options_.set_json("header", nlohmann::json::array({"x", "y"}));
  EXPECT_EQ(options_.integer("groups"), 12);
  EXPECT_TRUE(options_.flag("pipe"));
  EXPECT_EQ(options_.integer("bs"), 16384);
  EXPECT_THAT(options_.list("header"), ElementsAre("x", "y"));
  EXPECT_NE(error_of([this] { options_.set_json("groups", 1.5); }), "");
  EXPECT_NE(error_of([this] { options_.set_json("groups", true); }), "");
  EXPECT_NE(error_of([this] { options_.set_json("groups", nlohmann::json::array({1})); }), "");
  EXPECT_NE(error_of([this] { options_.set_json("bs", nlohmann::json::object()); }), "");
  EXPECT_NE(error_of([this] { options_.set_json("pipe", 2); }), "");
}

TEST_F(OptionsTest, TheTableSurvivesTheWayThroughJson) {
  const OptionTable copy = OptionTable::from_json(table_.to_json());
  EXPECT_EQ(copy.to_json(), table_.to_json());
  Options options(copy);
  options.set("g", "4");
  EXPECT_EQ(options.integer("groups"), 4);
  EXPECT_THROW(static_cast<void>(OptionTable::from_json({{{"name", 3}}})), Error);
  EXPECT_THROW(static_cast<void>(OptionTable::from_json({{{"name", "x"}, {"type", "colour"}}})),
               Error);
}

}  // namespace
}  // namespace krepro
