// Child processes with real programs: ends, signals, streams, settings, and that nothing survives.
#include "common/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/descriptor.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

using testing::HasSubstr;

constexpr std::int64_t second_ns = 1'000'000'000;
/// Long enough for a slow machine, short enough for a test that hangs.
constexpr std::int64_t patience_ns = 20 * second_ns;

SpawnRequest shell(const std::string& script) {
  SpawnRequest request;
  request.argv = {"/bin/sh", "-c", script};
  return request;
}

std::string read_line(int fd) {
  std::string line;
  char letter = 0;
  while (read(fd, &letter, 1) == 1 && letter != '\n') {
    line += letter;
  }
  return line;
}

template <typename Condition>
bool eventually(Condition condition) {
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  while (!condition()) {
    if (now_ns() > deadline_ns) {
      return false;
    }
    usleep(2000);
  }
  return true;
}

/// Neither running nor a zombie.
bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

std::vector<pid_t> own_children() {
  std::istringstream text(HostFiles("/").read("/proc/thread-self/children").value_or(""));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; text >> pid;) {
    pids.push_back(pid);
  }
  return pids;
}

/// Runs `spawn` and gives the error that it throws.
Error error_of(const SpawnRequest& request) {
  try {
    const Child child = Child::spawn(request);
  } catch (const Error& error) {
    return error;
  }
  return Error(ExitCode::ok, "no error");
}

class ChildTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/krepro-child-test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    EXPECT_THAT(own_children(), testing::IsEmpty()) << "a keeper or a zombie is left";
  }

  std::filesystem::path folder_;
};

TEST_F(ChildTest, ReportsTheExitStatus) {
  Child child = Child::spawn(shell("exit 3"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->exited());
  EXPECT_EQ(end->exit_code(), 3);
  EXPECT_EQ(end->describe(), "exit status 3");
  EXPECT_EQ(end->leftover_processes, 0);
  EXPECT_GT(end->elapsed_ns, 0);
  EXPECT_EQ(child.wait(0)->exit_code(), 3) << "asking again gives the same answer";
}

TEST_F(ChildTest, ReportsTheSignalThatKilledIt) {
  Child child = Child::spawn(shell("kill -SEGV $$"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->exited());
  EXPECT_EQ(end->signal(), SIGSEGV);
  EXPECT_EQ(end->describe(), "killed by signal 11 (Segmentation fault)");
}

TEST_F(ChildTest, CountsTheResourcesOfItAndWhatItWaitedFor) {
  Child child = Child::spawn(shell("sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'"));
  const auto end = child.wait(patience_ns);
  ASSERT_TRUE(end);
  const std::int64_t used_us = end->usage.ru_utime.tv_sec * 1'000'000 +
                               end->usage.ru_utime.tv_usec +
                               end->usage.ru_stime.tv_sec * 1'000'000 + end->usage.ru_stime.tv_usec;
  EXPECT_GT(used_us, 1000);
  EXPECT_LE(used_us * 1000, end->elapsed_ns + second_ns);
}

TEST_F(ChildTest, CarriesStandardInputToStandardOutput) {
  SpawnRequest request;
  request.argv = {"cat"};
  Child child = Child::spawn(request);
  ASSERT_EQ(write(child.stdin_fd(), "hello\n", 6), 6);
  EXPECT_EQ(read_line(child.stdout_fd()), "hello");
  EXPECT_FALSE(child.wait(0)) << "it still runs";
  child.close_stdin();
  EXPECT_EQ(child.stdin_fd(), -1);
  EXPECT_EQ(child.wait(patience_ns)->exit_code(), 0);
}

TEST_F(ChildTest, TheEndDescriptorBecomesReadableAtTheEnd) {
  Child child = Child::spawn(shell("read line"));
  pollfd poll_fd = {child.end_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&poll_fd, 1, 50), 0);
  child.close_stdin();
  EXPECT_EQ(poll(&poll_fd, 1, 20'000), 1);
  EXPECT_TRUE(child.wait(0));
}

TEST_F(ChildTest, WaitReturnsNothingWhenTheTimeRunsOut) {
  Child child = Child::spawn(shell("sleep 100"));
  const std::int64_t before_ns = now_ns();
  EXPECT_FALSE(child.wait(30'000'000));
  EXPECT_GE(now_ns() - before_ns, 30'000'000);
}

TEST_F(ChildTest, TerminateKillsWhatIgnoresSigterm) {
  Child child = Child::spawn(shell("trap '' TERM; echo ready; while :; do sleep 100; done"));
  ASSERT_EQ(read_line(child.stdout_fd()), "ready");
  const ChildEnd end = child.terminate(50'000'000);
  ASSERT_FALSE(end.exited());
  EXPECT_EQ(end.signal(), SIGKILL);
  EXPECT_TRUE(is_gone(child.pid()));
}

TEST_F(ChildTest, TerminateLetsAProgramEndInItsOwnWay) {
  Child child = Child::spawn(shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"));
  ASSERT_EQ(read_line(child.stdout_fd()), "ready");
  const ChildEnd end = child.terminate(patience_ns);
  ASSERT_TRUE(end.exited());
  EXPECT_EQ(end.exit_code(), 7);
}

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

TEST_F(ChildTest, AMissingProgramIsNamed) {
  SpawnRequest request;
  request.argv = {"no-such-program-here"};
  const Error error = error_of(request);
  EXPECT_EQ(error.code(), ExitCode::not_possible);
  EXPECT_THAT(error.what(), HasSubstr("no-such-program-here: no such program in PATH"));
  request.argv = {(folder_ / "absent").string()};
  EXPECT_THAT(error_of(request).what(), HasSubstr("absent: cannot be executed: no such file"));
}

TEST_F(ChildTest, AFileThatIsNoProgramIsNamed) {
  const std::string path = (folder_ / "data").string();
  std::ofstream(path) << "not a program\n";
  SpawnRequest request;
  request.argv = {path};
  EXPECT_THAT(error_of(request).what(), HasSubstr("cannot be executed: not executable"));
  chmod(path.c_str(), 0755);
  const Error error = error_of(request);
  EXPECT_EQ(error.code(), ExitCode::not_possible);
  EXPECT_THAT(error.what(), HasSubstr("cannot be executed: Exec format error"));
}

TEST_F(ChildTest, SettingsThatFailAreReportedAndNothingRuns) {
  SpawnRequest request = shell("echo ran > " + (folder_ / "ran").string());
  request.cpus = CpuSet({99999});
  const Error no_cpu = error_of(request);
  EXPECT_EQ(no_cpu.code(), ExitCode::usage);
  EXPECT_THAT(no_cpu.what(), HasSubstr("cpus 99999: not on this machine"));
  request.cpus.reset();
  request.working_directory = folder_ / "absent";
  EXPECT_THAT(error_of(request).what(), HasSubstr("enter the working directory"));
  request.working_directory.clear();
  request.cgroup_procs = {folder_ / "absent" / "cgroup.procs"};
  EXPECT_THAT(error_of(request).what(), HasSubstr("join the cgroup of"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(ChildTest, SettingsAreInForceBeforeTheFirstInstruction) {
  const int cpu = CpuSet::allowed().cpus().back();
  SpawnRequest request = shell("grep Cpus_allowed_list: /proc/self/status; nice; pwd; cat");
  request.cpus = CpuSet({cpu});
  request.scheduling = Scheduling{.policy = SchedulingClass::batch, .nice = 7};
  request.working_directory = folder_;
  request.cgroup_procs = {folder_ / "cgroup.procs"};
  std::ofstream(folder_ / "cgroup.procs").flush();
  Child child = Child::spawn(request);
  EXPECT_EQ(read_line(child.stdout_fd()), fmt::format("Cpus_allowed_list:\t{}", cpu));
  EXPECT_EQ(read_line(child.stdout_fd()), "7");
  EXPECT_EQ(read_line(child.stdout_fd()), folder_.string());
  EXPECT_EQ(read_scheduling(child.pid()), request.scheduling);
  EXPECT_EQ(HostFiles("/").read((folder_ / "cgroup.procs").string()), std::to_string(child.pid()));
  child.close_and_kill();
  EXPECT_EQ(read_scheduling(0), Scheduling{}) << "the caller keeps its own";
}

TEST_F(ChildTest, TheProgramLeadsItsOwnProcessGroupInTheCallersSession) {
  Child child = Child::spawn(shell("read line"));
  EXPECT_EQ(getpgid(child.pid()), child.pid());
  EXPECT_EQ(getsid(child.pid()), getsid(0)) << "a session is a scheduling group under autogroup";
  child.close_stdin();
  child.wait();
}

TEST_F(ChildTest, VariablesAreAddedAndReplaced) {
  setenv("KREPRO_TEST_KEPT", "kept", 1);
  setenv("KREPRO_TEST_REPLACED", "before", 1);
  SpawnRequest request = shell("env | grep ^KREPRO_TEST | sort");
  request.environment = {"KREPRO_TEST_REPLACED=after", "KREPRO_TEST_ADDED=added"};
  EXPECT_EQ(run_command(request, patience_ns).out,
            "KREPRO_TEST_ADDED=added\nKREPRO_TEST_KEPT=kept\nKREPRO_TEST_REPLACED=after\n");
}

TEST_F(ChildTest, ProgramsAreSearchedInTheRequestsPath) {
  const std::string path = (folder_ / "greet").string();
  std::ofstream(path) << "#!/bin/sh\necho from $0\n";
  chmod(path.c_str(), 0755);
  SpawnRequest request;
  request.argv = {"greet"};
  request.environment = {"PATH=/nowhere:" + folder_.string()};
  EXPECT_EQ(run_command(request, patience_ns).out, "from " + path + "\n");
}

TEST_F(ChildTest, NoDescriptorLeaksIntoTheProgram) {
  const Descriptor leaky(open("/dev/null", O_RDONLY));  // Not close-on-exec.
  const Descriptor wanted(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  const Child neighbour = Child::spawn(shell("exec sleep 1000"));
  SpawnRequest request;
  request.argv = {"sleep", "1000"};
  request.inherit = {wanted.get()};
  const Child child = Child::spawn(request);
  const std::string folder = fmt::format("/proc/{}/fd", child.pid());
  EXPECT_THAT(HostFiles("/").list(folder),
              testing::UnorderedElementsAre("0", "1", "2", std::to_string(wanted.get())));
  EXPECT_EQ(HostFiles("/").read_link(fmt::format("{}/{}", folder, wanted.get())), "/etc/passwd");
}

TEST_F(ChildTest, TheKeeperHoldsNothingOfTheCaller) {
  const Descriptor held(open("/etc/passwd", O_RDONLY));
  const Child child = Child::spawn(shell("exec sleep 1000"));
  const std::vector<pid_t> keepers = own_children();
  ASSERT_EQ(keepers.size(), 1U);
  const std::string proc = fmt::format("/proc/{}", keepers[0]);
  EXPECT_EQ(HostFiles("/").read_line(proc + "/comm"), "krepro-keeper");
  // /dev/null three times, the two pipes and the signals.
  EXPECT_TRUE(eventually([&] { return HostFiles("/").list(proc + "/fd").size() == 6; }));
  for (const std::string& name : HostFiles("/").list(proc + "/fd")) {
    EXPECT_NE(HostFiles("/").read_link(proc + "/fd/" + name), "/etc/passwd");
  }
  EXPECT_TRUE(eventually([&] { return HostFiles("/").read_link(proc + "/cwd") == "/"; }));
}

TEST_F(ChildTest, StandardStreamsThatAreNotPipedAreNullOrTheCallers) {
  SpawnRequest request;
  request.argv = {"sleep", "1000"};
  request.pipe_stdin = request.pipe_stdout = request.pipe_stderr = false;
  const Child child = Child::spawn(request);
  EXPECT_EQ(child.stdin_fd(), -1);
  EXPECT_EQ(child.stdout_fd(), -1);
  EXPECT_EQ(child.stderr_fd(), -1);
  const std::string folder = fmt::format("/proc/{}/fd", child.pid());
  EXPECT_EQ(HostFiles("/").read_link(folder + "/0"), "/dev/null");
  EXPECT_EQ(HostFiles("/").read_link(folder + "/1"), "/dev/null");
  EXPECT_EQ(HostFiles("/").read_link(folder + "/2"), HostFiles("/").read_link("/proc/self/fd/2"));
}

TEST_F(ChildTest, WorksWithTheCallersStandardStreamsClosed) {
  const pid_t caller = fork();
  if (caller == 0) {
    close(0);
    close(1);
    close(2);
    SpawnRequest request = shell("echo out; echo err >&2");
    const CommandOutput output = run_command(request, patience_ns);
    request.pipe_stderr = false;
    const CommandOutput without = run_command(request, patience_ns);
    _exit(output.out == "out\n" && output.err == "err\n" && without.out == "out\n" ? 0 : 1);
  }
  int status = -1;
  waitpid(caller, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(ChildTest, TheProgramStartsWithDefaultSignals) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN);
  const std::string status =
      run_command(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status"), patience_ns).out;
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
  EXPECT_EQ(status, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(ChildTest, ATerminalsInterruptDoesNotReachTheKeeper) {
  Child child = Child::spawn(shell("read line; exit 4"));
  const pid_t keeper = own_children().at(0);
  EXPECT_NE(getpgid(keeper), getpgid(0));
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    kill(keeper, number);
  }
  child.close_stdin();
  EXPECT_EQ(child.wait(patience_ns)->exit_code(), 4);
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

/// Makes the kernel answer system call `number`, where its first argument is `least` or more, with
/// `action` (SECCOMP_RET_...), in this process and all that it starts. False: not possible here.
bool filter_call(std::uint32_t number, std::uint32_t least, std::uint32_t action) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

/// Exit status of a forked process that runs `action` (77: not possible here).
int status_of(const std::function<int()>& action) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(action());
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ChildTest, DescriptorsAreNotClosedNumberByNumber) {
  // A limit near 1e9 would make such a loop take minutes. Here whoever tries one is killed.
  const int status = status_of([] {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (!filter_call(SYS_close, 500, SECCOMP_RET_KILL)) {
      return 77;
    }
    const CommandOutput output = run_command(shell("echo fine"), patience_ns);
    return output.out == "fine\n" && output.end.exit_code() == 0 ? 0 : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "seccomp filters are not possible here";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(ChildTest, DescriptorsAreClosedOnKernelsWithoutCloseRangeToo) {
  const int status = status_of([] {
    if (!filter_call(SYS_close_range, 0, SECCOMP_RET_ERRNO | ENOSYS)) {
      return 77;
    }
    const Descriptor leaky(open("/dev/null", O_RDONLY));
    SpawnRequest request;
    request.argv = {"sleep", "1000"};
    const Child child = Child::spawn(request);
    return HostFiles("/").list(fmt::format("/proc/{}/fd", child.pid())).size() == 3 ? 0 : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "seccomp filters are not possible here";
  }
  EXPECT_EQ(status, 0);
}

TEST(RunCommand, ReturnsBothStreamsWholeWhenTheyAreLargerThanAPipe) {
  const CommandOutput output = run_command(
      shell("head -c 300000 /dev/zero | tr '\\0' o; head -c 300000 /dev/zero | tr '\\0' e >&2"),
      patience_ns);
  EXPECT_EQ(output.out, std::string(300'000, 'o'));
  EXPECT_EQ(output.err, std::string(300'000, 'e'));
  EXPECT_FALSE(output.truncated);
  EXPECT_EQ(output.end.exit_code(), 0);
}

TEST(RunCommand, DropsWhatIsMoreThanAskedForAndSaysSo) {
  const CommandOutput output = run_command(shell("head -c 300000 /dev/zero"), patience_ns, 1000);
  EXPECT_EQ(output.out.size(), 1000U);
  EXPECT_TRUE(output.truncated);
  EXPECT_EQ(output.end.exit_code(), 0) << "it was not stuck on a full pipe";
}

TEST(RunCommand, EndsAProgramThatRunsTooLong) {
  const CommandOutput output = run_command(shell("echo begun; exec sleep 1000"), 200'000'000);
  EXPECT_TRUE(output.timed_out);
  EXPECT_EQ(output.out, "begun\n");
  EXPECT_EQ(output.end.signal(), SIGTERM);
}

TEST(RunCommand, EndsAProgramThatClosedItsStreamsAndRunsOn) {
  const CommandOutput output =
      run_command(shell("exec >/dev/null 2>&1; exec sleep 1000"), 200'000'000);
  EXPECT_TRUE(output.timed_out);
}

TEST(RunCommand, GivesTheProgramNoInput) {
  EXPECT_EQ(run_command(shell("cat; echo end"), patience_ns).out, "end\n");
}

TEST(ChildDeathTest, SpawningWithThreadsAroundIsAProgrammersError) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        std::thread idle([] { pause(); });
        (void)Child::spawn(shell("exit 0"));
      },
      "single_threaded");
}

TEST(ChildDeathTest, SpawningAfterThreadsWereJoinedWorks) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::thread([] {}).join();
        std::exit(Child::spawn(shell("exit 6")).wait()->exit_code());
      },
      testing::ExitedWithCode(6), "");
}

}  // namespace
}  // namespace krepro
