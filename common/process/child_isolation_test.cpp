// What a program starts with: settings, environment, descriptors, signals, and what its keeper
// holds.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>

#include "common/base/error.h"
#include "common/base/mount_table.h"
#include "common/process/child.h"
#include "common/process/child_test_support.h"
#include "common/process/descriptor.h"

namespace krepro {
namespace {

TEST_F(ChildTest, SettingsAreInForceBeforeTheFirstInstruction) {
  const int cpu = CpuSet::allowed().cpus().back();
  const Scheduling before = read_scheduling();
  SpawnRequest request = shell("grep Cpus_allowed_list: /proc/self/status; nice; pwd; cat");
  request.cpus = CpuSet({cpu});
  request.scheduling = Scheduling{.policy = SchedulingClass::batch, .nice = 7};
  request.working_directory = folder_;
  request.cgroup = folder_;
  std::ofstream(folder_ / "cgroup.procs").flush();
  Child child = Child::spawn(request);
  EXPECT_EQ(read_line(child.stdout_fd()), fmt::format("Cpus_allowed_list:\t{}", cpu));
  EXPECT_EQ(read_line(child.stdout_fd()), "7");
  EXPECT_EQ(read_line(child.stdout_fd()), folder_.string());
  EXPECT_EQ(read_scheduling(child.pid()), request.scheduling);
  EXPECT_EQ(HostFiles("/").read((folder_ / "cgroup.procs").string()), "0") << "itself";
  child.close_and_kill();
  EXPECT_EQ(read_scheduling(), before) << "the caller keeps its own";
}

/// A group in each hierarchy that is mounted here: version 2 has children born into a group,
/// version 1 has them move.
TEST_F(ChildTest, TheProgramIsInItsControlGroupOfEitherVersion) {
  int tried = 0;
  for (const MountEntry& mount :
       parse_mount_table(HostFiles("/").read("/proc/self/mountinfo").value_or(""))) {
    const bool version_2 = mount.type == "cgroup2";
    if (!version_2 &&
        (mount.type != "cgroup" || mount.super_options.find("freezer") == std::string::npos)) {
      continue;
    }
    const std::string name = fmt::format("krepro-child-test-{}", getpid());
    const std::filesystem::path group = std::filesystem::path(mount.point) / name;
    if (mkdir(group.c_str(), 0755) != 0) continue;
    SpawnRequest request = shell("cat /proc/self/cgroup");
    request.cgroup = group;
    const std::string groups = run_command(request, patience_ns).out;
    EXPECT_THAT(groups, testing::HasSubstr(fmt::format("{}:/", version_2 ? "0:" : "freezer")));
    EXPECT_THAT(groups, testing::HasSubstr("/" + name + "\n")) << mount.point;
    EXPECT_EQ(rmdir(group.c_str()), 0) << "nobody else is in it";
    ++tried;
  }
  if (tried == 0) GTEST_SKIP() << "no control group can be made here";
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
  // Asked when the shell is up: before that, the loader has libraries open.
  SpawnRequest request = shell("echo ready; read line");
  request.inherit = {wanted.get()};
  const Child child = Child::spawn(request);
  EXPECT_EQ(read_line(child.stdout_fd()), "ready");
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
    const Child child = Child::spawn(shell("echo ready; read line"));
    return read_line(child.stdout_fd()) == "ready" &&
                   HostFiles("/").list(fmt::format("/proc/{}/fd", child.pid())).size() == 3
               ? 0
               : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "seccomp filters are not possible here";
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace krepro
