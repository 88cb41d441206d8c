// Nothing survives: leftovers, a killed caller, a killed keeper, keepers below keepers, zombies.
#include <fmt/format.h>
#include <sys/wait.h>

#include <fstream>

#include "common/base/error.h"
#include "common/process/child.h"
#include "common/process/child_test_support.h"
#include "common/process/descriptor.h"

namespace krepro {
namespace {

TEST_F(ChildTest, KillsAndCountsWhatTheProgramLeftBehind) {
  Child child = Child::spawn(
      shell("sleep 1000 & echo $!; setsid sh -c 'sleep 1000 & echo $!; exec sleep 1000' & echo $!; "
            "read line; exit 5"));
  const pid_t pids[] = {std::stoi(read_line(child.stdout_fd())),
                        std::stoi(read_line(child.stdout_fd())),
                        std::stoi(read_line(child.stdout_fd()))};
  child.close_stdin();
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code(), 5);
  EXPECT_EQ(end->leftover_processes, 3);
  for (const pid_t pid : pids) {
    EXPECT_TRUE(is_gone(pid));
  }
}

TEST_F(ChildTest, OrphansThatEndedInTimeAreReapedAndAreNotLeftovers) {
  Child child = Child::spawn(shell("sh -c 'sleep 0.01 & echo $!'; read line"));
  const pid_t orphan = std::stoi(read_line(child.stdout_fd()));
  EXPECT_TRUE(eventually([&] { return is_gone(orphan); }));
  child.close_stdin();
  EXPECT_EQ(child.wait(patience_ns)->leftover_processes, 0);
}

TEST_F(ChildTest, TheDestructorKills) {
  pid_t pid = -1;
  {
    const Child child = Child::spawn(shell("exec sleep 1000"));
    pid = child.pid();
    EXPECT_FALSE(is_gone(pid));
  }
  EXPECT_TRUE(is_gone(pid));
}

TEST_F(ChildTest, NothingSurvivesSigkillOfTheCaller) {
  const auto removed = folder_ / "removed";
  const Pipe names = make_pipe();
  const pid_t caller = fork();
  if (caller == 0) {
    std::filesystem::create_directories(removed / "deep" / "deeper");
    // A second generation in a session of its own, a third that is also orphaned, all deaf.
    SpawnRequest request = shell(
        "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP INT; (setsid sleep 1000 & echo "
        "$!); "
        "echo $$; exec sleep 1000' & echo $$; exec sleep 1000");
    request.remove_at_end = {removed};
    const Child child = Child::spawn(request);
    std::string text;
    for (int line = 0; line < 3; ++line) {
      text += read_line(child.stdout_fd()) + "\n";
    }
    if (write(names.write_end.get(), text.data(), text.size()) < 0) {
      _exit(1);
    }
    pause();
    _exit(0);
  }
  const pid_t pids[] = {std::stoi(read_line(names.read_end.get())),
                        std::stoi(read_line(names.read_end.get())),
                        std::stoi(read_line(names.read_end.get()))};
  for (const pid_t pid : pids) {
    EXPECT_FALSE(is_gone(pid));
  }
  kill(caller, SIGKILL);
  waitpid(caller, nullptr, 0);
  for (const pid_t pid : pids) {
    EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << pid;
  }
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(removed); }));
}

TEST_F(ChildTest, NothingOfALongChainSurvives) {
  // Each link is found only when the one above it has died, in the middle of the keeper's work.
  constexpr int links = 6;
  SpawnRequest request = shell("eval \"$LINK\"");
  request.environment = {fmt::format("LEFT={}", links),
                         "LINK=echo $$; LEFT=$((LEFT-1)); export LEFT; "
                         "[ $LEFT -gt 0 ] && setsid sh -c 'eval \"$LINK\"' & exec sleep 1000"};
  for (int round = 0; round < 3; ++round) {
    Child child = Child::spawn(request);
    std::vector<pid_t> pids;
    for (int link = 0; link < links; ++link) {
      pids.push_back(std::stoi(read_line(child.stdout_fd())));
    }
    child.close_and_kill();
    for (const pid_t pid : pids) {
      EXPECT_TRUE(is_gone(pid));
    }
  }
}

TEST_F(ChildTest, TwoChildrenEndIndependently) {
  Child first = Child::spawn(shell("exec cat"));
  Child second = Child::spawn(shell("exec cat"));
  // The second must not hold the first's pipes: its input ends when the caller closes it.
  first.close_stdin();
  EXPECT_TRUE(first.wait(patience_ns));
  EXPECT_FALSE(second.wait(0));
  Child third = Child::spawn(shell("exec sleep 1000"));
  EXPECT_EQ(second.close_and_kill().signal(), SIGKILL);
  EXPECT_FALSE(third.wait(0));
}

TEST_F(ChildTest, AKilledKeeperIsAnErrorAndTheProgramIsKilled) {
  Child child = Child::spawn(shell("exec sleep 1000"));
  kill(own_children().at(0), SIGKILL);
  EXPECT_THROW((void)child.wait(patience_ns), Error);
  EXPECT_TRUE(eventually([&] { return is_gone(child.pid()); }));
}

/// The test program itself as the program of a Child, for the test below.
constexpr const char* inner_variable = "KREPRO_TEST_INNER_FOLDER";

TEST(ChildInner, HasAChildOfItsOwn) {
  const char* const folder = std::getenv(inner_variable);
  if (folder == nullptr) {
    GTEST_SKIP() << "only run by AKeeperBelowAKeeperStillRemovesItsPaths";
  }
  SpawnRequest request = shell("exec sleep 1000");
  request.remove_at_end = {folder};
  const Child child = Child::spawn(request);
  fmt::print(stderr, "{}\n", child.pid());
  pause();
}

TEST_F(ChildTest, AKeeperBelowAKeeperStillRemovesItsPaths) {
  const auto removed = folder_ / "removed";
  std::filesystem::create_directory(removed);
  for (int file = 0; file < 200; ++file) {
    std::ofstream(removed / std::to_string(file)) << "content\n";
  }
  SpawnRequest request;
  request.argv = {HostFiles("/").read_link("/proc/self/exe").value(),
                  "--gtest_filter=ChildInner.HasAChildOfItsOwn"};
  request.environment = {std::string(inner_variable) + "=" + removed.string()};
  request.pipe_stdout = false;
  Child outer = Child::spawn(request);
  const pid_t inner_program = std::stoi(read_line(outer.stderr_fd()));
  EXPECT_FALSE(is_gone(inner_program));
  outer.close_and_kill();
  EXPECT_TRUE(is_gone(inner_program));
  EXPECT_FALSE(std::filesystem::exists(removed));
}

TEST_F(ChildTest, ManySpawnsLeaveNoZombieAndNoDescriptor) {
  const std::size_t before = HostFiles("/").list("/proc/self/fd").size();
  const std::int64_t before_ns = now_ns();
  for (int spawn = 0; spawn < 200; ++spawn) {
    SpawnRequest request;
    request.argv = {"/bin/true"};
    EXPECT_EQ(Child::spawn(request).wait(patience_ns)->exit_code(), 0);
    ASSERT_THAT(own_children(), testing::IsEmpty());
  }
  RecordProperty("ns_per_spawn", std::to_string((now_ns() - before_ns) / 200));
  EXPECT_EQ(HostFiles("/").list("/proc/self/fd").size(), before);
}

}  // namespace
}  // namespace krepro
