// Tests' conversation with krepro-hackbench, bounded in time; see running_hackbench.h.
#include "generators/hackbench/test_support/running_hackbench.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "common/timing/clock.h"

namespace krepro::hackbench {

namespace {

// A machine under load is slow; a test that hangs ends nevertheless.
constexpr std::int64_t patience_ns = 60'000'000'000;

SpawnRequest control_request() {
  SpawnRequest request;
  request.argv = {KREPRO_HACKBENCH, "--control"};
  request.pipe_stderr = false;
  return request;
}

}  // namespace

CommandOutput run_hackbench(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& prefix) {
  SpawnRequest request;
  request.argv = prefix;
  request.argv.emplace_back(KREPRO_HACKBENCH);
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.pipe_stdin = false;
  return run_command(request, patience_ns);
}

bool gone_soon(const std::vector<pid_t>& pids) {
  const std::int64_t deadline_ns = now_ns() + 10'000'000'000;
  const auto gone = [](pid_t pid) { return kill(pid, 0) != 0; };
  while (!std::all_of(pids.begin(), pids.end(), gone)) {
    if (now_ns() > deadline_ns) {
      return false;
    }
    usleep(10'000);
  }
  return true;
}

RunningHackbench::RunningHackbench(const nlohmann::json& options)
    : child_(Child::spawn(control_request())) {
  say({{"cmd", "configure"}, {"options", options}});
  const nlohmann::json ready = hear("ready");
  if (ready.is_null()) {
    throw Error(ExitCode::failed, "krepro-hackbench did not become ready");
  }
  load_pid_ = ready.at("load_pid").get<pid_t>();
}

void RunningHackbench::go() { say({{"cmd", "go"}, {"delay_ns", 0}}); }

void RunningHackbench::say(const nlohmann::json& command) {
  const std::string line = command.dump() + "\n";
  [[maybe_unused]] const ssize_t written = write(child_.stdin_fd(), line.data(), line.size());
}

nlohmann::json RunningHackbench::hear(const std::string& event) {
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  while (now_ns() < deadline_ns) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      nlohmann::json heard = nlohmann::json::parse(unread_.substr(0, end));
      unread_.erase(0, end + 1);
      if (heard.value("event", "") == event) {
        return heard;
      }
      continue;
    }
    pollfd output{child_.stdout_fd(), POLLIN, 0};
    if (poll(&output, 1, 1000) == 0) {
      continue;
    }
    std::array<char, 65536> chunk{};
    const ssize_t got = read(child_.stdout_fd(), chunk.data(), chunk.size());
    if (got <= 0) {
      break;
    }
    unread_.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return nullptr;
}

int RunningHackbench::exit_status() {
  const std::optional<ChildEnd> end = child_.wait(patience_ns);
  return end && end->exited() ? end->exit_code() : -1;
}

}  // namespace krepro::hackbench
