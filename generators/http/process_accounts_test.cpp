// CPU time and switches of real processes, and names of processes that outlive their pid's reuse.
#include "generators/http/process_accounts.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/timing/clock.h"

namespace krepro::http {
namespace {

/// Ends a process and what it forked, however the test ends.
struct Group {
  pid_t leader;
  ~Group() {
    kill(-leader, SIGKILL);
    waitpid(leader, nullptr, 0);
  }
};

TEST(ProcessAccounts, CountWhatAProcessAndItsChildrenUse) {
  const HostFiles host("/");
  int released[2];
  ASSERT_EQ(pipe(released), 0);
  const pid_t master = fork();
  if (master == 0) {
    setpgid(0, 0);
    if (fork() == 0) {
      char letter = 0;
      if (read(released[0], &letter, 1) != 1) _exit(1);
      const std::int64_t until_ns = now_ns() + 100'000'000;
      while (now_ns() < until_ns) {
      }
    }
    for (;;) pause();
  }
  setpgid(master, master);
  const Group group{master};
  std::optional<ProcessAccounts> before = read_accounts(master, host);
  while (before && before->processes.size() < 2) before = read_accounts(master, host);
  ASSERT_TRUE(before);
  ASSERT_EQ(write(released[1], "g", 1), 1);
  // The child computes for 100 ms and then sleeps: only then has it switched for certain.
  const std::int64_t deadline_ns = now_ns() + 20'000'000'000;
  const auto switches = [](const ProcessAccounts& sum) {
    return sum.voluntary_switches + sum.involuntary_switches;
  };
  std::optional<ProcessAccounts> after;
  do {
    usleep(20'000);
    after = read_accounts(master, host);
  } while (after && now_ns() < deadline_ns &&
           (after->run_ns - before->run_ns < 1e6 || switches(*after) <= switches(*before)));
  ASSERT_TRUE(after);
  EXPECT_GE(after->run_ns - before->run_ns, 1e6);
  EXPECT_GT(switches(*after), switches(*before));
  EXPECT_EQ(after->processes, before->processes);
  close(released[0]);
  close(released[1]);
}

TEST(ProcessAccounts, KnowNothingOfAProcessThatIsNotThere) {
  EXPECT_FALSE(read_accounts(4'194'303, HostFiles("/")));
}

TEST(ProcessName, FindsTheProcessAgain) {
  const HostFiles host("/");
  EXPECT_EQ(named_process(process_fragment(getpid(), host), host), getpid());
}

TEST(ProcessName, IsNotThatOfALaterProcessOrAnotherHost) {
  const HostFiles host("/");
  const std::uint64_t started = start_time(getpid(), host).value();
  EXPECT_FALSE(named_process(
      "process=" + std::to_string(getpid()) + "." + std::to_string(started + 1), host));
  EXPECT_FALSE(named_process("process=4194303.1", host));
  EXPECT_FALSE(named_process("", host));
  EXPECT_FALSE(named_process("process=x", host));
}

}  // namespace
}  // namespace krepro::http
