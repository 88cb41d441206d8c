// A generator that lies costs a trial, never a mean.
#include "suite/execute/sample_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace krepro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::int64_t second_ns = 1'000'000'000;

GeneratorInfo hackbench() {
  GeneratorInfo info;
  info.name = "hackbench";
  info.metrics = {{"seconds", "s", false, true, ""}, {"messages", "1/s", true, false, ""}};
  return info;
}

json good_sample() {
  return {{"generator", "hackbench"},
          {"valid", true},
          {"truncated", false},
          {"error", ""},
          {"operations", 100U},
          {"duration_ns", second_ns},
          {"errors", {{"timeout", 0}}},
          {"metrics",
           {{"seconds", {{"value", 1.0}, {"unit", "s"}, {"better", "lower"}, {"primary", true}}}}}};
}

std::string problem(const json& sample) {
  return find_sample_problem(sample, hackbench(), 2 * second_ns);
}

TEST(SampleCheckTest, AGoodSampleAndFieldsThatAreNotKnownPass) {
  EXPECT_EQ(problem(good_sample()), "");
  json sample = good_sample();
  sample["weather"] = "fine";
  sample["metrics"]["weather"] = {{"value", 3}};
  EXPECT_EQ(problem(sample), "");
  EXPECT_EQ(find_declared_failure(sample), "");
}

TEST(SampleCheckTest, WhatIsMissingIsNamed) {
  for (const char* field : {"operations", "duration_ns", "metrics", "generator"}) {
    json sample = good_sample();
    sample.erase(field);
    EXPECT_NE(problem(sample), "") << field;
  }
  json sample = good_sample();
  sample["metrics"].erase("seconds");
  EXPECT_THAT(problem(sample), HasSubstr("seconds"));
  EXPECT_NE(problem(json()), "");
  EXPECT_NE(problem(json::array()), "");
}

TEST(SampleCheckTest, NumbersThatAreNoneAreFound) {
  for (const json& value : {json(), json("1.0"), json(std::numeric_limits<double>::quiet_NaN()),
                            json(std::numeric_limits<double>::infinity()), json(-1.0)}) {
    json sample = good_sample();
    sample["metrics"]["seconds"]["value"] = value;
    EXPECT_THAT(problem(sample), HasSubstr("seconds")) << value;
  }
  json sample = good_sample();
  sample["operations"] = -1;
  EXPECT_THAT(problem(sample), HasSubstr("operations"));
}

TEST(SampleCheckTest, AnotherUnitThanDescribedIsFound) {
  json sample = good_sample();
  sample["metrics"]["seconds"]["unit"] = "ms";
  EXPECT_THAT(problem(sample), HasSubstr("not in s"));
}

TEST(SampleCheckTest, NoSampleCanHaveRunForLongerThanTheSuiteWaited) {
  json sample = good_sample();
  sample["duration_ns"] = 60 * second_ns;
  EXPECT_THAT(problem(sample), HasSubstr("only 2 s went by"));
}

TEST(SampleCheckTest, AnotherGeneratorsSampleIsRefused) {
  json sample = good_sample();
  sample["generator"] = "http";
  EXPECT_NE(problem(sample), "");
}

TEST(SampleCheckTest, ATruncatedSampleNeedsNoResult) {
  json sample = good_sample();
  sample["truncated"] = true;
  sample["valid"] = false;
  sample["metrics"] = json::object();
  EXPECT_EQ(problem(sample), "");
  EXPECT_EQ(find_declared_failure(sample), "");
}

TEST(SampleCheckTest, DeclaredFailuresAreTheReason) {
  json sample = good_sample();
  sample["errors"] = {{"timeout", 3}, {"reset", 0}};
  EXPECT_EQ(find_declared_failure(sample), "errors: 3 timeout");
  sample = good_sample();
  sample["error"] = "a worker was killed";
  EXPECT_EQ(find_declared_failure(sample), "a worker was killed");
  sample = good_sample();
  sample["valid"] = false;
  EXPECT_NE(find_declared_failure(sample), "");
}

// What was asked for against what the threads had, by the kernel's word ------------------------

json placed_sample(const std::string& cpus, const std::string& memory = "default") {
  json sample = good_sample();
  sample["threads"] = {
      {{"role", "sender"}, {"policy", "other"}, {"cpus", cpus}, {"count", 2}, {"memory", memory}}};
  return sample;
}

std::string placement_problem(const json& sample, const Benchmark& benchmark) {
  return find_placement_problem(sample, benchmark, "load");
}

TEST(PlacementCheckTest, WhereNothingWasAskedForAllIsWell) {
  EXPECT_EQ(placement_problem(placed_sample("0-95"), {}), "");
  EXPECT_EQ(placement_problem(good_sample(), {}), "");
  EXPECT_EQ(placement_problem(json(), {}), "");
}

TEST(PlacementCheckTest, ThreadsOutsideTheirCpusFailTheTrial) {
  Benchmark benchmark;
  benchmark.cpus["load"] = "0-3";
  EXPECT_EQ(placement_problem(placed_sample("0-3"), benchmark), "");
  EXPECT_EQ(placement_problem(placed_sample("1-2"), benchmark), "");
  EXPECT_THAT(placement_problem(placed_sample("0-4"), benchmark),
              HasSubstr("sender threads were allowed on CPUs 0-4 instead of 0-3"));
  EXPECT_EQ(find_placement_problem(placed_sample("0-4"), benchmark, "serve"), "");
}

TEST(PlacementCheckTest, PinnedWorkersMustHaveOneCpuEach) {
  Benchmark benchmark;
  benchmark.worker_cpus["load"] = "0,2,1,3";
  EXPECT_EQ(placement_problem(placed_sample("2"), benchmark), "");
  EXPECT_THAT(placement_problem(placed_sample("0-3"), benchmark), HasSubstr("one each"));
  json server = placed_sample("0-3");
  server["threads"][0]["role"] = "main";
  EXPECT_EQ(placement_problem(server, benchmark), "");
}

TEST(PlacementCheckTest, MemoryFromElsewhereFailsTheTrial) {
  Benchmark benchmark;
  benchmark.memory_policy["load"] = "bind:1";
  EXPECT_EQ(placement_problem(placed_sample("0", "bind:1"), benchmark), "");
  EXPECT_THAT(placement_problem(placed_sample("0", "default"), benchmark),
              HasSubstr("memory policy default instead of bind:1"));
}

}  // namespace
}  // namespace krepro
