// Scheduling attributes: the text form, and every class that this machine allows, read back.
#include "common/affinity/scheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <thread>

#include "common/affinity/cpu_set.h"
#include "common/base/error.h"

namespace krepro {
namespace {

using testing::HasSubstr;

/// Runs `action` in a thread of its own, which may change its scheduling: the test's stays. Empty,
/// or the error that says why this machine cannot.
std::string in_thread(const std::function<void()>& action) {
  std::string refusal;
  std::thread([&] {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::not_possible);
      refusal = error.what();
    }
  }).join();
  return refusal;
}

class EachScheduling : public testing::TestWithParam<const char*> {};

TEST_P(EachScheduling, TextRoundTrips) {
  EXPECT_EQ(to_string(parse_scheduling(GetParam())), GetParam());
}

TEST_P(EachScheduling, IsReadBackAsAsked) {
  const Scheduling asked = parse_scheduling(GetParam());
  const Scheduling before = read_scheduling();
  const std::string refusal = in_thread([&] {
    apply_scheduling(asked);
    EXPECT_EQ(read_scheduling(), asked) << to_string(read_scheduling());
    EXPECT_EQ(read_scheduling(static_cast<pid_t>(syscall(SYS_gettid))), asked);
  });
  EXPECT_EQ(read_scheduling(), before) << "only the one thread changes";
  if (!refusal.empty()) {
    EXPECT_THAT(refusal, HasSubstr("scheduling"));
    GTEST_SKIP() << refusal;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, EachScheduling,
                         testing::Values("other", "other,nice:5", "other,nice:-5",
                                         "other,slice:3500us", "batch", "batch,nice:19",
                                         "batch,slice:100ms", "batch,nice:-20,slice:100us", "idle",
                                         "fifo:1", "fifo:99", "rr:10", "deadline:2ms/10ms/10ms",
                                         "deadline:2ms/8ms/16ms", "deadline:1500us/20ms/1s", "ext",
                                         "ext,nice:3", "other,uclamp:128-512", "other,uclamp:128-",
                                         "batch,uclamp:-512", "fifo:5,uclamp:-700",
                                         "other,cookie"));

TEST(SchedulingText, ReadsOtherSpellings) {
  EXPECT_EQ(parse_scheduling("SCHED_FIFO:10"), parse_scheduling("fifo:10"));
  EXPECT_EQ(parse_scheduling("SCHED_BATCH"), parse_scheduling("batch"));
  EXPECT_EQ(parse_scheduling("normal"), Scheduling{});
  EXPECT_EQ(parse_scheduling("deadline:2ms/10ms"), parse_scheduling("deadline:2ms/10ms/10ms"));
  EXPECT_EQ(parse_scheduling("other,slice:3ms,nice:1"), parse_scheduling("other,nice:1,slice:3ms"));
  const Scheduling deadline = parse_scheduling("deadline:2ms/8ms/16ms");
  EXPECT_EQ(deadline.deadline_runtime_ns, 2'000'000);
  EXPECT_EQ(deadline.deadline_deadline_ns, 8'000'000);
  EXPECT_EQ(deadline.deadline_period_ns, 16'000'000);
}

TEST(SchedulingText, RejectsEverythingElseAndShowsTheText) {
  for (const char* text : {"",
                           "othr",
                           "fifo",
                           "fifo:",
                           "fifo:0",
                           "fifo:100",
                           "fifo:-1",
                           "fifo:1x",
                           "rr",
                           "rr:1.5",
                           "batch:1",
                           "idle:0",
                           "ext:1",
                           "idle,nice:5",
                           "fifo:1,nice:5",
                           "other,nice",
                           "other,nice:20",
                           "other,nice:-21",
                           "other,nice:",
                           "other,nice:1,nice:2",
                           "idle,slice:3ms",
                           "other,slice:3",
                           "other,slice:99us",
                           "other,slice:101ms",
                           "other,slice:",
                           "deadline",
                           "deadline:2ms",
                           "deadline:2ms/1ms",
                           "deadline:2ms/10ms/9ms",
                           "deadline:1us/10ms/10ms",
                           "deadline:2/10/10",
                           "deadline:2ms/10ms/10ms/10ms",
                           "other,uclamp:",
                           "other,uclamp:-",
                           "other,uclamp:5",
                           "other,uclamp:600-500",
                           "other,uclamp:0-1025",
                           "other,uclamp:a-b",
                           "other,cookie:1",
                           "other,",
                           ",other",
                           "other,,cookie",
                           "other,cookie,cookie",
                           "other, nice:1",
                           "other,noce:1"}) {
    try {
      (void)parse_scheduling(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(std::string("\"") + text + "\" is not a scheduling"));
      EXPECT_THAT(error.remedy(), HasSubstr("fifo:10"));
    }
  }
}

TEST(SchedulingText, SuggestsTheNearestClass) {
  try {
    (void)parse_scheduling("deadlin:2ms/10ms");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"deadline\""));
  }
}

TEST(Scheduling, HasTheKernelsNames) {
  EXPECT_STREQ(kernel_name(SchedulingClass::other), "SCHED_OTHER");
  EXPECT_STREQ(kernel_name(SchedulingClass::ext), "SCHED_EXT");
}

TEST(Scheduling, ReadsWhatOtherCallsHaveSet) {
  const std::string refusal = in_thread([] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 9);
    EXPECT_EQ(to_string(read_scheduling()), "other,nice:9");
    const sched_param none = {};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    EXPECT_EQ(to_string(read_scheduling()), "batch,nice:9");
    ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &none), 0);
    EXPECT_EQ(to_string(read_scheduling()), "idle");
  });
  EXPECT_EQ(refusal, "");
}

TEST(Scheduling, AppliesToAnotherThread) {
  std::promise<pid_t> tid;
  std::promise<void> done;
  std::thread other([&] {
    tid.set_value(static_cast<pid_t>(syscall(SYS_gettid)));
    done.get_future().wait();
  });
  const pid_t other_tid = tid.get_future().get();
  const Scheduling before = read_scheduling();
  apply_scheduling(parse_scheduling("batch,nice:3"), other_tid);
  EXPECT_EQ(to_string(read_scheduling(other_tid)), "batch,nice:3");
  EXPECT_EQ(read_scheduling(), before);
  done.set_value();
  other.join();
}

TEST(Scheduling, AThreadThatIsGoneIsAnError) {
  EXPECT_THROW(apply_scheduling(Scheduling{}, 0x3fffffff), Error);
  EXPECT_THROW((void)read_scheduling(0x3fffffff), Error);
}

/// The error that an ordinary user gets for `text`, in a forked process that gives up root.
std::string refusal_without_privilege(const char* text) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    std::string answer = "no error";
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_RTPRIO, &none);
    setrlimit(RLIMIT_NICE, &none);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
      answer = "cannot give up root";
    }
    try {
      apply_scheduling(parse_scheduling(text));
    } catch (const Error& error) {
      answer = std::string(error.what()) + "; " + error.remedy();
    }
    [[maybe_unused]] const ssize_t ignored = write(pipe_ends[1], answer.data(), answer.size());
    _exit(0);
  }
  close(pipe_ends[1]);
  char buffer[1024];
  const ssize_t size = read(pipe_ends[0], buffer, sizeof buffer);
  close(pipe_ends[0]);
  waitpid(pid, nullptr, 0);
  return {buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

TEST(Scheduling, AMissingPrivilegeIsNamedWithItsRemedy) {
  EXPECT_THAT(refusal_without_privilege("fifo:10"),
              HasSubstr("scheduling fifo:10: this needs CAP_SYS_NICE or RLIMIT_RTPRIO of at least "
                        "10 (now 0); run as root"));
  EXPECT_THAT(refusal_without_privilege("other,nice:-5"),
              HasSubstr("this needs CAP_SYS_NICE or RLIMIT_NICE of at least 25 (now 0)"));
  EXPECT_THAT(refusal_without_privilege("deadline:2ms/10ms/10ms"),
              HasSubstr("this needs CAP_SYS_NICE; run as root"));
  EXPECT_EQ(refusal_without_privilege("batch,nice:5"), "no error");
  EXPECT_EQ(refusal_without_privilege("idle"), "no error");
}

TEST(Scheduling, DeadlineOnABoundThreadIsExplained) {
  if (geteuid() != 0 || CpuSet::allowed().size() < 2) {
    GTEST_SKIP() << "needs root and two CPUs";
  }
  const std::string refusal = in_thread([] {
    CpuSet({CpuSet::allowed().cpus()[0]}).apply();
    apply_scheduling(parse_scheduling("deadline:2ms/10ms/10ms"));
  });
  EXPECT_THAT(refusal, HasSubstr("the thread may not run on all CPUs"));
}

}  // namespace
}  // namespace krepro
