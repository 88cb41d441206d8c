// The caller's side of child processes: see child.h. What happens after the fork is keeper.cpp's.
#include "common/process/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/descriptor.h"
#include "common/process/keeper.h"
#include "common/process/program.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

/// Time between SIGTERM and SIGKILL for a command that runs out of time.
constexpr std::int64_t command_grace_ns = 500'000'000;

/// poll(2) until `deadline_ns` (-1: for ever), going on after signals. False: the time ran out.
bool poll_until(pollfd* poll_fds, nfds_t count, std::int64_t deadline_ns) {
  for (;;) {
    timespec left = {};
    if (deadline_ns >= 0) {
      const std::int64_t left_ns = std::max<std::int64_t>(deadline_ns - now_ns(), 0);
      left = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    }
    const int ready = ppoll(poll_fds, count, deadline_ns < 0 ? nullptr : &left, nullptr);
    if (ready >= 0) {
      return ready > 0;
    }
    KREPRO_CHECK(errno == EINTR);
  }
}

/// As many bytes as there are until the end of the file, at most `size`.
std::size_t read_fully(int fd, void* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = read(fd, static_cast<char*>(to) + done, size - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  return done;
}

void reap(pid_t pid) {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// Fork with threads around would copy locks that nobody can open any more.
bool single_threaded() {
  if (__libc_single_threaded != 0) {
    return true;
  }
#if defined(__SANITIZE_THREAD__)
  constexpr std::size_t own_threads = 2;  // The sanitizer has one in the background.
#else
  constexpr std::size_t own_threads = 1;
#endif
  // A thread that was joined may stay in the kernel's list for an instant.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (HostFiles("/").list("/proc/self/task").size() <= own_threads) {
      return true;
    }
    usleep(1000);
  }
  return false;
}

/// Blocks all signals, so that no handler of the caller runs in a forked process.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

std::string_view variable_name(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

/// The caller's environment with the request's in place.
std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  std::vector<std::string> merged;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const bool replaced =
        std::any_of(additions.begin(), additions.end(), [&](const std::string& addition) {
          return variable_name(addition) == variable_name(*variable);
        });
    if (!replaced) {
      merged.emplace_back(*variable);
    }
  }
  merged.insert(merged.end(), additions.begin(), additions.end());
  return merged;
}

std::string search_path(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment) {
    if (variable_name(variable) == "PATH") {
      return variable.substr(std::strlen("PATH="));
    }
  }
  return default_search_path();
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) {
    result.push_back(string.data());
  }
  result.push_back(nullptr);
  return result;
}

/// The pipes of one child, both sides.
struct Plumbing {
  Pipe standard_input;
  Pipe standard_output;
  Pipe standard_error;
  Pipe life = make_pipe();
  Pipe end = make_pipe();
  Pipe start = make_pipe();
  Descriptor null = open_null();

  explicit Plumbing(const SpawnRequest& request) {
    if (request.pipe_stdin) {
      standard_input = make_pipe();
    }
    if (request.pipe_stdout) {
      standard_output = make_pipe();
    }
    if (request.pipe_stderr) {
      standard_error = make_pipe();
    }
  }
};

keeper::Job make_job(const SpawnRequest& request, const Plumbing& plumbing) {
  keeper::Job job;
  job.request = &request;
  job.streams[0] =
      request.pipe_stdin ? plumbing.standard_input.read_end.get() : plumbing.null.get();
  job.streams[1] =
      request.pipe_stdout ? plumbing.standard_output.write_end.get() : plumbing.null.get();
  // A caller with stderr closed must not give its number to the first file that the program opens.
  const bool has_stderr = fcntl(STDERR_FILENO, F_GETFD) >= 0;
  job.streams[2] = request.pipe_stderr ? plumbing.standard_error.write_end.get()
                   : has_stderr        ? -1
                                       : plumbing.null.get();
  job.life_read = plumbing.life.read_end.get();
  job.end_write = plumbing.end.write_end.get();
  job.start_write = plumbing.start.write_end.get();
  for (const auto& path : request.remove_at_end) {
    job.remove_at_end.push_back(std::filesystem::absolute(path));
  }
  return job;
}

pid_t fork_keeper(const keeper::Job& job) {
  const SignalsBlocked blocked;
  const pid_t pid = fork();
  if (pid == 0) {
    keeper::run(job);
  }
  if (pid < 0) {
    throw system_error(fmt::format("start {}: fork", job.path), errno, ExitCode::not_possible);
  }
  return pid;
}

/// Waits until the program runs. Throws what stood in the way.
keeper::StartReport read_start(int fd, const std::string& name) {
  keeper::StartReport report;
  bool started = false;
  keeper::StartReport next;
  while (read_fully(fd, &next, sizeof next) == sizeof next) {
    report = next;
    started = true;
  }
  if (!started) {
    throw Error(ExitCode::failed, fmt::format("{}: was killed while it was started", name));
  }
  if (report.failed) {
    throw Error(static_cast<ExitCode>(report.exit_code), report.message, report.remedy);
  }
  return report;
}

}  // namespace

bool ChildEnd::exited() const { return WIFEXITED(wait_status); }

int ChildEnd::exit_code() const {
  KREPRO_CHECK(exited());
  return WEXITSTATUS(wait_status);
}

int ChildEnd::signal() const {
  KREPRO_CHECK(!exited());
  return WTERMSIG(wait_status);
}

std::string ChildEnd::describe() const {
  if (exited()) {
    return fmt::format("exit status {}", exit_code());
  }
  return fmt::format("killed by signal {} ({})", signal(), strsignal(signal()));
}

Child Child::spawn(const SpawnRequest& request) {
  KREPRO_CHECK(!request.argv.empty());
  KREPRO_CHECK(single_threaded());
  for (const int number : request.inherit) {
    KREPRO_CHECK(number > STDERR_FILENO && fcntl(number, F_GETFD) >= 0);
  }
  const std::string path =
      require_program(request.argv[0], search_path(request.environment)).string();
  std::vector<std::string> argv = request.argv;
  std::vector<std::string> environment = merged_environment(request.environment);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> environment_pointers = pointers(environment);
  Plumbing plumbing(request);
  keeper::Job job = make_job(request, plumbing);
  job.path = path.c_str();
  job.argv = argv_pointers.data();
  job.environment = environment_pointers.data();

  Child child;
  child.name_ = request.argv[0];
  child.keeper_ = fork_keeper(job);
  child.life_ = plumbing.life.write_end.release();
  child.end_ = plumbing.end.read_end.release();
  plumbing.end.write_end.reset();
  plumbing.start.write_end.reset();
  const keeper::StartReport report = read_start(plumbing.start.read_end.get(), child.name_);
  child.pid_ = report.pid;
  child.exec_at_ns_ = report.exec_at_ns;
  child.stdin_ = plumbing.standard_input.write_end.release();
  child.stdout_ = plumbing.standard_output.read_end.release();
  child.stderr_ = plumbing.standard_error.read_end.release();
  return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  // Swapped: what this one had ends with `other`.
  std::swap(pid_, other.pid_);
  std::swap(keeper_, other.keeper_);
  std::swap(stdin_, other.stdin_);
  std::swap(stdout_, other.stdout_);
  std::swap(stderr_, other.stderr_);
  std::swap(end_, other.end_);
  std::swap(life_, other.life_);
  std::swap(exec_at_ns_, other.exec_at_ns_);
  std::swap(name_, other.name_);
  std::swap(result_, other.result_);
  return *this;
}

Child::~Child() {
  if (keeper_ >= 0) {
    try {
      close_and_kill();
    } catch (const Error&) {
      // The keeper was killed: whoever did that knows.
    }
  }
  for (const int fd : {stdin_, stdout_, stderr_, end_, life_}) {
    Descriptor{fd}.reset();
  }
}

void Child::close_stdin() { Descriptor{std::exchange(stdin_, -1)}.reset(); }

void Child::signal(int signal_number) const {
  pollfd poll_fd = {end_, POLLIN, 0};
  // While the keeper has not reported the end it holds the program's pid, at least as a zombie.
  if (end_ >= 0 && poll(&poll_fd, 1, 0) == 0) {
    kill(-pid_, signal_number);
  }
}

std::optional<ChildEnd> Child::wait(std::int64_t timeout_ns) {
  if (result_) {
    return result_;
  }
  KREPRO_CHECK(end_ >= 0);
  pollfd poll_fd = {end_, POLLIN, 0};
  if (!poll_until(&poll_fd, 1, timeout_ns < 0 ? -1 : now_ns() + timeout_ns)) {
    return std::nullopt;
  }
  keeper::EndReport report;
  const bool complete = read_fully(end_, &report, sizeof report) == sizeof report;
  Descriptor{std::exchange(end_, -1)}.reset();
  Descriptor{std::exchange(life_, -1)}.reset();
  reap(std::exchange(keeper_, -1));
  if (!complete) {
    if (pid_ > 0) {
      kill(-pid_, SIGKILL);
    }
    throw Error(ExitCode::failed, fmt::format("{}: its keeper process was killed", name_),
                "processes that it had started may still run");
  }
  result_.emplace();
  result_->wait_status = report.wait_status;
  result_->usage = report.usage;
  result_->elapsed_ns = report.ended_at_ns - exec_at_ns_;
  result_->leftover_processes = report.leftover_processes;
  return result_;
}

ChildEnd Child::terminate(std::int64_t grace_ns) {
  signal(SIGTERM);
  if (const auto end = wait(grace_ns)) {
    return *end;
  }
  return close_and_kill();
}

ChildEnd Child::close_and_kill() {
  Descriptor{std::exchange(life_, -1)}.reset();
  return *wait();
}

namespace {

/// Reads what is there of one stream; closes nothing. False at its end.
bool take_output(int fd, std::size_t max_bytes, std::string& text, bool& truncated) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(fd, buffer.data(), buffer.size());
  if (count <= 0) {
    return count < 0 && errno == EINTR;
  }
  const std::size_t room = max_bytes - std::min(max_bytes, text.size());
  const auto bytes = static_cast<std::size_t>(count);
  text.append(buffer.data(), std::min(room, bytes));
  truncated = truncated || bytes > room;
  return true;
}

}  // namespace

CommandOutput run_command(const SpawnRequest& request, std::int64_t timeout_ns,
                          std::size_t max_bytes) {
  Child child = Child::spawn(request);
  child.close_stdin();
  CommandOutput output;
  std::int64_t deadline_ns = timeout_ns < 0 ? -1 : now_ns() + timeout_ns;
  pollfd poll_fds[2] = {{child.stdout_fd(), POLLIN, 0}, {child.stderr_fd(), POLLIN, 0}};
  std::string* const texts[2] = {&output.out, &output.err};
  // Every stream ends once the program and its descendants are gone: the keeper sees to that.
  while (poll_fds[0].fd >= 0 || poll_fds[1].fd >= 0) {
    if (!poll_until(poll_fds, 2, deadline_ns)) {
      output.timed_out = true;
      break;
    }
    for (int stream = 0; stream < 2; ++stream) {
      if (poll_fds[stream].revents != 0 &&
          !take_output(poll_fds[stream].fd, max_bytes, *texts[stream], output.truncated)) {
        poll_fds[stream].fd = -1;
      }
    }
  }
  // It may have closed its streams and go on running.
  const std::int64_t left_ns =
      deadline_ns < 0 ? -1 : std::max<std::int64_t>(deadline_ns - now_ns(), 0);
  if (const auto end = output.timed_out ? std::nullopt : child.wait(left_ns)) {
    output.end = *end;
    return output;
  }
  output.timed_out = true;
  output.end = child.terminate(command_grace_ns);
  for (int stream = 0; stream < 2; ++stream) {
    while (poll_fds[stream].fd >= 0 &&
           take_output(poll_fds[stream].fd, max_bytes, *texts[stream], output.truncated)) {
    }
  }
  return output;
}

}  // namespace krepro
