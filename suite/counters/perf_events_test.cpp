// Counts of tracepoints over real child processes; skipped where the machine does not let us count.
#include "suite/counters/perf_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/base/error.h"
#include "common/base/made_up_root.h"

namespace krepro {
namespace {

/// Runs a shell command below a process of its own, as the suite's children run below a keeper.
void run_below_a_keeper(const char* command) {
  const pid_t keeper = fork();
  if (keeper == 0) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command, nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
    _exit(0);
  }
  waitpid(keeper, nullptr, 0);
}

class TracepointCountersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto problem = tracepoint_problem()) GTEST_SKIP() << *problem;
  }
};

TEST_F(TracepointCountersTest, CountsTheCommandAndItsChildren) {
  auto counters = TracepointCounters::open({system_call_tracepoint(SYS_chdir)});
  run_below_a_keeper("cd /; cd /tmp; (cd /; cd /tmp; cd /); exit 0");
  EXPECT_THAT(counters.read(), ::testing::ElementsAre(5U));
}

TEST_F(TracepointCountersTest, CountsNothingOfTheCallerItself) {
  auto counters = TracepointCounters::open({system_call_tracepoint(SYS_chdir)});
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(here);
  EXPECT_THAT(counters.read(), ::testing::ElementsAre(0U));
}

TEST_F(TracepointCountersTest, ACallsOwnTracepointCountsTheSame) {
  const Tracepoint light = light_system_call_tracepoint({SYS_chdir, "chdir"});
  EXPECT_TRUE(!light.filter.empty() || light.name == "syscalls:sys_enter_chdir") << light.name;
  auto counters = TracepointCounters::open({light, system_call_tracepoint(SYS_chdir)});
  run_below_a_keeper("cd /; cd /tmp; (cd /; cd /tmp; cd /); exit 0");
  EXPECT_THAT(counters.read(), ::testing::ElementsAre(5U, 5U));
}

TEST(SystemCallTracepoint, WithoutOneOfItsOwnACallIsFiltered) {
  const test::MadeUpRoot root;
  root.put("/sys/kernel/tracing/events/syscalls/sys_enter_read/id", "7\n");
  EXPECT_EQ(light_system_call_tracepoint({0, "read"}, root.host()).name, "syscalls:sys_enter_read");
  const Tracepoint filtered = light_system_call_tracepoint({5, "fstat"}, root.host());
  EXPECT_EQ(filtered.name, "raw_syscalls:sys_enter");
  EXPECT_EQ(filtered.filter, "id == 5");
}

TEST_F(TracepointCountersTest, AllCallsTogetherAreAtLeastThoseByName) {
  auto counters = TracepointCounters::open(
      {{"raw_syscalls:sys_enter", ""}, system_call_tracepoint(SYS_exit_group)});
  run_below_a_keeper("exit 0");
  const auto counts = counters.read();
  EXPECT_EQ(counts[1], 1U);
  EXPECT_GT(counts[0], 5U);
}

TEST_F(TracepointCountersTest, AnUnknownTracepointIsNamed) {
  try {
    (void)TracepointCounters::open({{"sched:no_such_thing", ""}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::not_possible);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("sched:no_such_thing"));
  }
}

TEST_F(TracepointCountersTest, AFilterThatTheKernelDoesNotUnderstandIsSaid) {
  EXPECT_THROW((void)TracepointCounters::open({{"raw_syscalls:sys_enter", "no_such_field == 1"}}),
               Error);
}

TEST(TracepointCounters, SystemCallsAreKnownByName) {
  const auto number_of = [](const std::string& wanted) {
    for (const SystemCallName& call : system_call_names()) {
      if (call.name == wanted) return call.number;
    }
    return -1L;
  };
  EXPECT_EQ(number_of("read"), SYS_read);
  EXPECT_EQ(number_of("futex"), SYS_futex);
  EXPECT_EQ(number_of("no_such_call"), -1);
}

TEST(TracepointCounters, WithoutTracefsTheReasonAndTheRemedyAreSaid) {
  char directory[] = "/tmp/krepro-tracefs-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const auto problem = tracepoint_problem(HostFiles(directory));
  ASSERT_TRUE(problem.has_value());
  EXPECT_THAT(*problem, ::testing::AnyOf(::testing::HasSubstr("mount -t tracefs"),
                                         ::testing::HasSubstr("run it as root")));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace krepro
