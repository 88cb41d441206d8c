// The keeper process and the first steps of the program's process: see keeper.h and child.h.
#include "common/process/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/descriptor.h"
#include "common/process/process_tree.h"
#include "common/timing/clock.h"

namespace krepro::keeper {
namespace {

constexpr const char* keeper_name = "krepro-keeper";
/// How long a keeper whose caller was killed may take to clean up before it is killed itself.
constexpr std::int64_t nested_keeper_grace_ns = 5'000'000'000;
/// How often remaining descendants are looked for while they die.
constexpr int kill_interval_ms = 20;

/// The machine's own /proc, never a fixture's: these are pids to kill.
const HostFiles& own_proc() {
  static const HostFiles files("/");
  return files;
}

void copy_text(char* to, std::size_t size, const std::string& text) {
  const std::size_t length = std::min(size - 1, text.size());
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

void report_failure(int start_write, const Error& error) {
  StartReport report;
  report.failed = true;
  report.exit_code = static_cast<int>(error.code());
  copy_text(report.message, sizeof report.message, error.what());
  copy_text(report.remedy, sizeof report.remedy, error.remedy());
  [[maybe_unused]] const ssize_t ignored = write(start_write, &report, sizeof report);
}

// ---------------------------------------------------------------- the program's process, until
// exec

/// Moves a process into a control group by a write, as long as it has one thread. A move of a whole
/// process takes the lock that every fork and exit on the machine needs, and thereby waits for an
/// RCU grace period: 10 ms a trial. Only a thread that moves itself alone ("0" in version 1's
/// "tasks", since Linux 5.5) goes without; in version 2, see fork_into.
void join_cgroup(const std::filesystem::path& folder) {
  int file = open((folder / "tasks").c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    file = open((folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  }
  const Descriptor descriptor(file);
  if (file < 0 || write(file, "0", 1) != 1) {
    throw system_error(fmt::format("join the control group {}", folder.string()), errno,
                       ExitCode::not_possible);
  }
}

/// A fork whose child is born in a control group of version 2, which needs no lock and no grace
/// period as a move does. -1: not possible (version 1, Linux before 5.7, a seccomp filter).
pid_t fork_into(const std::filesystem::path& folder) {
  const Descriptor group(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!group.valid()) {
    return -1;
  }
  clone_args arguments = {};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(group.get());
  return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

void apply_settings(const SpawnRequest& request, bool in_cgroup) {
  if (!request.cgroup.empty() && !in_cgroup) {
    join_cgroup(request.cgroup);
  }
  // After the cgroup: joining a cpuset replaces the affinity mask.
  if (request.cpus) {
    request.cpus->apply();
  }
  if (request.memory) {
    apply_memory_policy(*request.memory);
  }
  if (request.scheduling) {
    apply_scheduling(*request.scheduling);
  }
  if (!request.working_directory.empty() && chdir(request.working_directory.c_str()) != 0) {
    throw system_error(
        fmt::format("enter the working directory {}", request.working_directory.string()), errno);
  }
}

void arrange_descriptors(const Job& job) {
  std::vector<int> kept = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, job.start_write};
  for (int stream = 0; stream < 3; ++stream) {
    if (job.streams[stream] >= 0 && dup2(job.streams[stream], stream) < 0) {
      throw system_error("redirect a standard stream", errno);
    }
  }
  for (const int number : job.request->inherit) {
    fcntl(number, F_SETFD, 0);
    kept.push_back(number);
  }
  close_all_except(std::move(kept));
}

[[noreturn]] void become_program(const Job& job, bool in_cgroup) {
  try {
    setpgid(0, 0);
    apply_settings(*job.request, in_cgroup);
    arrange_descriptors(job);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    StartReport report;
    report.pid = getpid();
    report.exec_at_ns = now_ns();
    if (write(job.start_write, &report, sizeof report) == sizeof report) {
      execve(job.path, job.argv, job.environment);
    }
    throw system_error(fmt::format("{}: cannot be executed", job.path), errno,
                       ExitCode::not_possible);
  } catch (const Error& error) {
    report_failure(job.start_write, error);
  } catch (const std::exception& error) {
    report_failure(job.start_write, Error(ExitCode::usage, error.what()));
  }
  _exit(127);
}

// ------------------------------------------------------------------------------------- the keeper

/// Handlers of the caller must not run in the keeper, and an ignored SIGCHLD would let the kernel
/// reap before wait4 has the program's usage. The program inherits these defaults.
void reset_signal_handlers() {
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    sigaction(number, &by_default, nullptr);  // Fails for KILL, STOP and libc's own: no matter.
  }
}

/// Zombies too. Reliable here although proc(5) warns: only the keeper itself takes entries off this
/// list, by reaping.
std::vector<pid_t> own_children() { return children_of(getpid(), own_proc()); }

/// Kills and reaps all that descends from the keeper, and keeps the books of it.
class Descendants {
 public:
  Descendants(pid_t program, int signal_fd) : program_(program), signal_fd_(signal_fd) {}

  /// Reaps orphans that ended by themselves; true once the program has ended (it stays a zombie,
  /// which keeps its pid, and its process group's number, from being used again).
  bool program_ended() {
    for (;;) {
      siginfo_t info = {};
      const int rc = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
      if (rc != 0 || info.si_pid == 0) {
        return rc != 0 && errno == ECHILD;
      }
      if (info.si_pid == program_) {
        report_.ended_at_ns = report_.ended_at_ns != 0 ? report_.ended_at_ns : now_ns();
        return true;
      }
      waitpid(info.si_pid, nullptr, 0);
    }
  }

  /// Returns when nothing is left but the program's zombie, then reaps that.
  const EndReport& end_all() {
    const std::int64_t since = now_ns();
    kill(-program_, SIGKILL);
    kill(program_, SIGKILL);  // It may have left its group.
    while (kill_round(now_ns() - since > nested_keeper_grace_ns)) {
      if (report_.ended_at_ns == 0 && is_zombie(program_)) {
        report_.ended_at_ns = now_ns();
      }
      wait_for_signal();
    }
    while (wait4(program_, &report_.wait_status, 0, &report_.usage) < 0 && errno == EINTR) {
    }
    report_.ended_at_ns = report_.ended_at_ns != 0 ? report_.ended_at_ns : now_ns();
    return report_;
  }

 private:
  /// Kills and reaps the children of this moment; those of a child that dies become the keeper's
  /// (it is their subreaper) and are found next time. False only where nothing but the program's
  /// zombie was there: whatever ends during a round may have left children after the look at them.
  bool kill_round(bool keepers_too) {
    bool left = !is_zombie(program_);
    for (const pid_t pid : own_children()) {
      if (pid == program_) {
        continue;
      }
      int status = 0;
      bool cannot_kill = false;
      if (keepers_too || !is_keeper(pid)) {
        cannot_kill = kill(pid, SIGKILL) != 0 && errno == EPERM;
      }
      const bool reaped = waitpid(pid, &status, WNOHANG) == pid;
      if (reaped && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        ++report_.leftover_processes;
      }
      // One that became another user's can only be left to itself: waiting would be for ever.
      left = left || reaped || !cannot_kill;
    }
    return left;
  }

  static bool is_zombie(pid_t pid) {
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
  }

  /// The keeper of a Child that a descendant had: its caller is dead, so it is cleaning up, and
  /// only it knows the paths to remove.
  static bool is_keeper(pid_t pid) {
    return own_proc().read_line(fmt::format("/proc/{}/comm", pid)) == keeper_name;
  }

  void wait_for_signal() const {
    pollfd poll_fd = {signal_fd_, POLLIN, 0};
    poll(&poll_fd, 1, kill_interval_ms);
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof info) == sizeof info) {
    }
  }

  pid_t program_;
  int signal_fd_;
  EndReport report_;
};

/// Until the program has ended or the caller is gone.
void watch(Descendants& descendants, int life_read, int signal_fd) {
  for (;;) {
    if (descendants.program_ended()) {
      return;
    }
    pollfd poll_fds[2] = {{life_read, POLLIN, 0}, {signal_fd, POLLIN, 0}};
    if (poll(poll_fds, 2, -1) < 0 && errno != EINTR) {
      return;
    }
    if (poll_fds[0].revents != 0) {
      return;
    }
    signalfd_siginfo info;
    while (read(signal_fd, &info, sizeof info) == sizeof info) {
    }
  }
}

/// Drops what belongs to the caller: descriptors, standard streams, the working directory.
void detach(const Job& job, int signal_fd) {
  close_all_except({job.life_read, job.end_write, signal_fd});
  const int null = open("/dev/null", O_RDWR);  // The lowest number: 0.
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  [[maybe_unused]] const int ignored = chdir("/");
}

}  // namespace

void run(const Job& job) {
  reset_signal_handlers();
  // A process group of its own, so that a terminal's Ctrl-C does not hit it, but not a session:
  // each session is a scheduling group of its own under autogroup, which would change the load.
  setpgid(0, 0);
  prctl(PR_SET_NAME, keeper_name);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  const Descriptor signals =
      above_standard_streams(signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK));
  pid_t program = -1;
  if (signals.valid() && !job.request->cgroup.empty()) {
    program = fork_into(job.request->cgroup);
    if (program == 0) {
      become_program(job, true);
    }
  }
  if (signals.valid() && program < 0) {
    // vfork and not fork: the caller may be large, and a second copy of its page tables would
    // double the cost of a spawn. Until exec the new process works on the keeper's memory while the
    // keeper waits; descriptors, signals and folders are its own. No posix_spawn: it knows no
    // cgroup and no affinity.
    program = vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (program == 0) {
      become_program(job, false);
    }
  }
  if (program < 0) {
    report_failure(job.start_write, system_error(fmt::format("start {}: fork", job.path), errno,
                                                 ExitCode::not_possible));
    _exit(1);
  }
  detach(job, signals.get());

  Descendants descendants(program, signals.get());
  watch(descendants, job.life_read, signals.get());
  const EndReport report = descendants.end_all();
  for (const auto& path : job.remove_at_end) {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  // Nobody reads it where the caller is gone; SIGPIPE is blocked.
  [[maybe_unused]] const ssize_t ignored = write(job.end_write, &report, sizeof report);
  _exit(0);
}

}  // namespace krepro::keeper
