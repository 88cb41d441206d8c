// Every version of /proc/schedstat on a machine of 96 CPUs: each column has a value of its own, so
// that one that is read in another's place shows.
#include "suite/counters/schedstat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/counters/counters_test_support.h"

namespace krepro {
namespace {

using nlohmann::json;
using test::schedstat_text;
using test::SchedstatShape;
using test::shape_of_version;
using ::testing::HasSubstr;

std::uint64_t zero(int, int, std::size_t) { return 0; }

/// 1 per CPU in column 0 of the first level, 2 in column 1 ...: sums are 96 times that.
std::uint64_t own_value(int, int level, std::size_t column) {
  return 1000 * static_cast<std::uint64_t>(level + 1) + column + 1;
}

json delta(const std::string& before, const std::string& after, std::string& problem) {
  return schedstat_delta(parse_schedstat(before), parse_schedstat(after), problem);
}

json delta_of(const SchedstatShape& shape) {
  std::string problem;
  json result = delta(schedstat_text(shape, zero), schedstat_text(shape, own_value), problem);
  EXPECT_EQ(problem, "");
  return result;
}

/// What own_value() comes to, summed over 96 CPUs.
std::uint64_t sum_of(int level, std::size_t column) { return 96 * own_value(0, level, column); }

TEST(Schedstat, TheColumnsOfACpuAreTheSameInAllVersions) {
  for (const int version : {15, 16, 17}) {
    const json cpu = delta_of(shape_of_version(version)).at("cpu");
    EXPECT_EQ(cpu.at("yields"), sum_of(-1, 0));
    EXPECT_EQ(cpu.at("schedule_calls"), sum_of(-1, 2));
    EXPECT_EQ(cpu.at("schedule_to_idle"), sum_of(-1, 3));
    EXPECT_EQ(cpu.at("wakeups"), sum_of(-1, 4));
    EXPECT_EQ(cpu.at("wakeups_local"), sum_of(-1, 5));
    EXPECT_EQ(cpu.at("run_ns"), sum_of(-1, 6));
    EXPECT_EQ(cpu.at("run_delay_ns"), sum_of(-1, 7));
    EXPECT_EQ(cpu.at("timeslices"), sum_of(-1, 8));
  }
}

TEST(Schedstat, Version15HasIdleBeforeBusy) {
  const json domains = delta_of(shape_of_version(15)).at("domains");
  ASSERT_EQ(domains.size(), 3U);
  const json& cache = domains.at("domain1");
  EXPECT_EQ(cache.at("cpus"), "8");
  EXPECT_EQ(cache.at("idle_attempts"), sum_of(1, 0));
  EXPECT_EQ(cache.at("idle_imbalance"), sum_of(1, 3));
  EXPECT_EQ(cache.at("idle_pulled"), sum_of(1, 4));
  EXPECT_EQ(cache.at("busy_attempts"), sum_of(1, 8));
  EXPECT_EQ(cache.at("newidle_attempts"), sum_of(1, 16));
  EXPECT_EQ(cache.at("newidle_failed"), sum_of(1, 18));
  EXPECT_EQ(cache.at("newidle_pulled"), sum_of(1, 20));
  EXPECT_EQ(cache.at("active_balance_attempts"), sum_of(1, 24));
  EXPECT_EQ(cache.at("wakeups_remote"), sum_of(1, 33));
  EXPECT_EQ(cache.at("wakeups_moved_balance"), sum_of(1, 35));
}

TEST(Schedstat, Version16HasBusyBeforeIdle) {
  const json cache = delta_of(shape_of_version(16)).at("domains").at("domain1");
  EXPECT_EQ(cache.at("busy_attempts"), sum_of(1, 0));
  EXPECT_EQ(cache.at("idle_attempts"), sum_of(1, 8));
  EXPECT_EQ(cache.at("newidle_pulled"), sum_of(1, 20));
}

TEST(Schedstat, Version17HasNamesAndFourKindsOfImbalance) {
  const json result = delta_of(shape_of_version(17));
  EXPECT_EQ(result.at("version"), 17);
  EXPECT_FALSE(result.contains("layout"));
  const json& cache = result.at("domains").at("domain1-MC");
  EXPECT_EQ(cache.at("cpus"), "8");
  EXPECT_EQ(result.at("domains").at("domain0-SMT").at("cpus"), "2");
  EXPECT_EQ(result.at("domains").at("domain2-PKG").at("cpus"), "96");
  EXPECT_EQ(cache.at("busy_attempts"), sum_of(1, 0));
  EXPECT_EQ(cache.at("idle_attempts"), sum_of(1, 11));
  EXPECT_EQ(cache.at("newidle_attempts"), sum_of(1, 22));
  EXPECT_EQ(cache.at("newidle_imbalance_misfit"), sum_of(1, 28));
  EXPECT_EQ(cache.at("newidle_pulled"), sum_of(1, 29));
  EXPECT_EQ(cache.at("active_balance_attempts"), sum_of(1, 33));
  EXPECT_EQ(cache.at("exec_balance_attempts"), sum_of(1, 36));
  EXPECT_EQ(cache.at("fork_balance_attempts"), sum_of(1, 39));
  EXPECT_EQ(cache.at("wakeups_remote"), sum_of(1, 42));
}

TEST(Schedstat, TheLayoutOf17UnderTheNumber16IsTold) {
  SchedstatShape shape = shape_of_version(17);
  shape.version = 16;
  const json result = delta_of(shape);
  EXPECT_EQ(result.at("version"), 16);
  EXPECT_EQ(result.at("layout"), 17);
  EXPECT_EQ(result.at("domains").at("domain1-MC").at("newidle_attempts"), sum_of(1, 22));
}

TEST(Schedstat, AnUnknownVersionKeepsItsColumnsWithoutNames) {
  SchedstatShape shape = shape_of_version(17);
  shape.version = 18;
  shape.columns = 47;
  std::string problem;
  const json result = delta(schedstat_text(shape, zero), schedstat_text(shape, own_value), problem);
  EXPECT_EQ(problem, "version 18 is not known: not interpreted");
  EXPECT_FALSE(result.contains("cpu"));
  EXPECT_FALSE(result.contains("domains"));
  ASSERT_EQ(result.at("columns").at("domain1-MC").size(), 47U);
  EXPECT_EQ(result.at("columns").at("domain1-MC")[46], sum_of(1, 46));
  EXPECT_EQ(result.at("columns").at("cpu")[4], sum_of(-1, 4));
}

TEST(Schedstat, AVersionWithColumnsThatItShouldNotHaveIsNotInterpreted) {
  const auto problem_of = [](SchedstatShape shape) {
    return parse_schedstat(schedstat_text(shape, zero)).problem;
  };
  SchedstatShape shape = shape_of_version(15);
  shape.columns = 45;
  EXPECT_THAT(problem_of(shape), HasSubstr("version 15 with 45 columns of a domain"));
  shape = shape_of_version(17);
  shape.columns = 36;
  EXPECT_THAT(problem_of(shape), HasSubstr("version 17 with 36 columns of a named domain"));
  shape = shape_of_version(17);
  shape.cpu_columns = 12;
  EXPECT_THAT(problem_of(shape), HasSubstr("12 columns of a CPU"));
  shape = shape_of_version(14);
  EXPECT_THAT(problem_of(shape), HasSubstr("version 14 is not known"));
}

TEST(Schedstat, ATextTornAnywhereGivesNothing) {
  SchedstatShape shape = shape_of_version(17);
  shape.cpus = 2;
  const std::string whole = schedstat_text(shape, own_value);
  ASSERT_EQ(parse_schedstat(whole).problem, "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::string problem;
    const json result = delta(whole, whole.substr(0, length), problem);
    // Between two lines it looks like a machine with fewer domains or CPUs.
    EXPECT_TRUE(result.is_null()) << length;
    EXPECT_NE(problem, "") << length;
  }
}

TEST(Schedstat, GarbageIsTornAndNotMore) {
  for (const char* text : {"", "\n", "version\n", "version x\n", "hello\n", "domain0 3 1 2\n",
                           "version 17\ncpu0 1 2 three\n", "version 17\ncpu0 1 2\ncpu1 1\n"}) {
    EXPECT_THAT(parse_schedstat(text).problem, ::testing::StartsWith("torn")) << text;
  }
}

TEST(Schedstat, CpusThatCameOrWentDiscardTheDelta) {
  SchedstatShape fewer = shape_of_version(17);
  fewer.cpus = 95;
  std::string problem;
  EXPECT_TRUE(
      delta(schedstat_text(shape_of_version(17), zero), schedstat_text(fewer, own_value), problem)
          .is_null());
  EXPECT_EQ(problem, "CPUs went on- or offline during the trial");
}

TEST(Schedstat, ADomainWithAnotherSpanDiscardsTheDelta) {
  const std::string before = schedstat_text(shape_of_version(17), zero);
  std::string after = before;
  const std::string mask = test::mask_of(test::cache_of(0));
  after.replace(after.find(mask), mask.size(), test::mask_of(test::cache_of(4)));
  std::string problem;
  EXPECT_TRUE(delta(before, after, problem).is_null());
  EXPECT_EQ(problem, "the scheduler's domains were rebuilt during the trial");
}

TEST(Schedstat, ColumnsOf32BitsMayWrapAndThatIsNoReset) {
  const auto high = [](int, int level, std::size_t) -> std::uint64_t {
    return level < 0 ? 0 : 0xffffffffU;
  };
  const auto wrapped = [](int, int level, std::size_t) -> std::uint64_t {
    return level < 0 ? 0 : 4;
  };
  std::string problem;
  const json result = delta(schedstat_text(shape_of_version(17), high),
                            schedstat_text(shape_of_version(17), wrapped), problem);
  EXPECT_EQ(result.at("domains").at("domain0-SMT").at("busy_attempts"), 96 * 5);
  // Back to zero from a small value is a reset.
  EXPECT_TRUE(delta(schedstat_text(shape_of_version(17), own_value),
                    schedstat_text(shape_of_version(17), zero), problem)
                  .is_null());
}

TEST(Schedstat, WakeupsFromAnotherCpuAreTheRest) {
  const auto wakeups = [](int cpu, int level, std::size_t column) -> std::uint64_t {
    if (level >= 0 || cpu != 7) return 0;
    return column == 4 ? 100 : column == 5 ? 30 : 0;
  };
  std::string problem;
  const json cpu = delta(schedstat_text(shape_of_version(17), zero),
                         schedstat_text(shape_of_version(17), wakeups), problem)
                       .at("cpu");
  EXPECT_EQ(cpu, json({{"wakeups", 100}, {"wakeups_local", 30}, {"wakeups_remote", 70}}));
}

}  // namespace
}  // namespace krepro
