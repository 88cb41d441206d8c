// poll() over the pipes of a trial's processes.
#include "suite/execute/watched_process.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <vector>

#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::size_t most_processes_named = 4;

int timeout_ms_until(std::int64_t deadline_ns) {
  const std::int64_t left_ns = std::max<std::int64_t>(0, deadline_ns - now_ns());
  // Rounded up, or the last millisecond would be a busy loop.
  return static_cast<int>(std::min<std::int64_t>(left_ns / ns_per_ms + 1, 3'600'000));
}

}  // namespace

/// The descriptors of all processes of one call, and whose they are.
class ProcessPoll {
 public:
  explicit ProcessPoll(std::span<WatchedProcess* const> processes) : processes_(processes) {
    for (WatchedProcess* process : processes_) {
      add(process->output_.ended() ? -1 : process->child_.stdout_fd());
      add(process->errors_.ended() ? -1 : process->child_.stderr_fd());
      add(process->ended_ ? -1 : process->child_.end_fd());
    }
  }

  void add(int descriptor) { entries_.push_back({descriptor, POLLIN, 0}); }
  [[nodiscard]] int wait(int timeout_ms) {
    return poll(entries_.data(), entries_.size(), timeout_ms);
  }
  [[nodiscard]] bool ready(std::size_t index) const { return entries_[index].revents != 0; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  void read() {
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      WatchedProcess& process = *processes_[i];
      if (ready(3 * i)) process.output_.read_from(process.child_.stdout_fd());
      if (ready(3 * i + 1)) process.errors_.read_from(process.child_.stderr_fd());
      if (ready(3 * i + 2)) process.ended_ = true;
    }
  }

 private:
  std::span<WatchedProcess* const> processes_;
  std::vector<pollfd> entries_;
};

WatchedProcess::WatchedProcess(std::string name, const SpawnRequest& request)
    : name_(std::move(name)), child_(Child::spawn(request)) {
  for (const int descriptor : {child_.stdin_fd(), child_.stdout_fd(), child_.stderr_fd()}) {
    if (descriptor >= 0) set_nonblocking(descriptor);
  }
}

bool WatchedProcess::send(const nlohmann::json& line) {
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(child_.stdin_fd(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

ChildEnd WatchedProcess::finish(std::int64_t grace_ns) {
  child_.close_stdin();
  const std::int64_t deadline_ns = now_ns() + grace_ns;
  const std::array<WatchedProcess*, 1> self = {this};
  while (!ended_ && now_ns() < deadline_ns) {
    wait_for_activity(self, nullptr, deadline_ns);
    while (output_.take()) {
      // What comes after the sample is not looked at; the buffers must stay small.
    }
  }
  if (ended_) {
    if (std::optional<ChildEnd> end = child_.wait(0)) return *end;
  }
  ChildEnd end = child_.close_and_kill();
  ended_ = true;
  return end;
}

Wake wait_for_activity(std::span<WatchedProcess* const> processes, const Interruption* interruption,
                       std::int64_t deadline_ns) {
  ProcessPoll poll_set(processes);
  poll_set.add(interruption == nullptr ? -1 : interruption->fd());
  const int count = poll_set.wait(timeout_ms_until(deadline_ns));
  if (count < 0 && errno != EINTR) throw system_error("poll", errno, ExitCode::failed);
  if (count > 0) poll_set.read();
  if (interruption != nullptr && interruption->requested()) return Wake::interrupted;
  // Whatever came: who prints without end must not outlast its time.
  return now_ns() >= deadline_ns ? Wake::timeout : Wake::activity;
}

std::string describe_process_group(pid_t group) {
  const HostFiles& host = HostFiles::system();
  std::string text;
  std::size_t found = 0;
  for (const std::string& name : host.list("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::optional<std::string> stat = host.read("/proc/" + name + "/stat");
    // "PID (NAME) STATE PPID PGRP ...", where NAME may hold anything.
    const std::size_t open = stat ? stat->find('(') : std::string::npos;
    const std::size_t close = stat ? stat->rfind(") ") : std::string::npos;
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream fields(stat->substr(close + 2));
    char state = '?';
    pid_t parent = 0;
    pid_t process_group = 0;
    if (!(fields >> state >> parent >> process_group) || process_group != group) continue;
    if (++found > most_processes_named) continue;
    const std::string wchan = host.read_line("/proc/" + name + "/wchan").value_or("");
    text += fmt::format("{}{} {} in state {}{}", text.empty() ? "" : ", ",
                        stat->substr(open + 1, close - open - 1), name, state,
                        wchan.empty() || wchan == "0" ? "" : " (" + wchan + ")");
  }
  if (found > most_processes_named) {
    text += fmt::format(" and {} more", found - most_processes_named);
  }
  return text;
}

}  // namespace krepro
