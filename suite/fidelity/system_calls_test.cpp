// Differences of counts, the summary of strace, scaled rows.
#include "suite/fidelity/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace krepro::fidelity {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

OriginalProgram original_with(const std::string& scaling_option) {
  return OriginalProgram::from_description(
      {{"name", "fake"},
       {"metrics", nlohmann::json::array()},
       {"options",
        {{{"name", "loops"}, {"aliases", {"l"}}, {"type", "integer"}, {"default", "100"}},
         {{"name", "runtime"}, {"type", "duration"}, {"plain_unit_ns", 1'000'000'000}},
         {{"name", "pipe"}, {"type", "flag"}}}},
       {"original",
        {{"program", "fake"},
         {"figures", nlohmann::json::array()},
         {"scaling_option", scaling_option}}}});
}

TEST(SystemCalls, SetUpCancelsInTheDifference) {
  const CallCounts shorter{{"read", 1040}, {"mmap", 12}};
  const CallCounts longer{{"read", 2040}, {"mmap", 12}};
  EXPECT_THAT(calls_per_operation(shorter, longer, 1000),
              ElementsAre(Pair("mmap", 0.0), Pair("read", 1.0)));
}

TEST(SystemCalls, ACallThatOnlyOneRepetitionMadeCountsAsNoneInTheOthers) {
  const CallSpreads spreads = spread_of({{{"read", 1}, {"brk", 3}}, {{"read", 2}}, {{"read", 4}}});
  EXPECT_EQ(spreads.at("read").median, 2);
  EXPECT_EQ(spreads.at("read").high, 4);
  EXPECT_EQ(spreads.at("brk").median, 0);
  EXPECT_EQ(spreads.at("brk").high, 3);
}

TEST(SystemCalls, TheSummaryOfStraceIsReadWithAndWithoutErrors) {
  const char* text =
      "% time     seconds  usecs/call     calls    errors syscall\n"
      "------ ----------- ----------- --------- --------- ----------------\n"
      " 60.00    0.600000          15     40000           read\n"
      " 39.00    0.390000           9     40001        12 write\n"
      "  1.00    0.010000          10         3         1 access\n"
      "------ ----------- ----------- --------- --------- ----------------\n"
      "100.00    1.000000          12     80004        13 total\n";
  EXPECT_THAT(parse_strace_summary(text),
              ElementsAre(Pair("access", 3.0), Pair("read", 40000.0), Pair("write", 40001.0)));
}

TEST(SystemCalls, ARowIsScaledByItsOption) {
  const OriginalProgram original = original_with("loops");
  const FidelityRow row{"r", {{"pipe", ""}, {"l", "1k"}}, 400000, {}};
  EXPECT_EQ(scale_of(original, row), 1000);
  const ScaledRow scaled = scale_row(original, row, 250);
  EXPECT_THAT(scaled.arguments, ElementsAre("--pipe", "--loops", "250"));
  EXPECT_EQ(scaled.operations, 100000);
}

TEST(SystemCalls, WithoutTheOptionARowIsScaledFromItsDefault) {
  const OriginalProgram original = original_with("loops");
  EXPECT_EQ(scale_of(original, {"r", {{"pipe", ""}}, 0, {}}), 100);
}

TEST(SystemCalls, ADurationScalesToo) {
  const OriginalProgram original = original_with("runtime");
  const FidelityRow row{"r", {{"runtime", "4s"}}, 0, {}};
  EXPECT_EQ(scale_of(original, row), 4'000'000'000);
  EXPECT_THAT(scale_row(original, row, 2'000'000'000).arguments, ElementsAre("--runtime", "2"));
}

TEST(SystemCalls, AnOriginalWithoutSuchAnOptionSaysSo) {
  EXPECT_FALSE(scale_of(original_with(""), {"r", {}, 0, {}}).has_value());
}

}  // namespace
}  // namespace krepro::fidelity
