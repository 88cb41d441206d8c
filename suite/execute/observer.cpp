// Starting and ending of the tool that watches.
#include "suite/execute/observer.h"

#include <fmt/core.h>
#include <signal.h>

#include <fstream>
#include <utility>

#include "common/base/error.h"
#include "common/timing/clock.h"
#include "suite/plan/plan_command.h"

namespace krepro {
namespace {

constexpr const char* log_name = "observer.log";

}  // namespace

Observer::Observer(std::string command, std::filesystem::path directory, std::int64_t lead_ns)
    : command_(std::move(command)), directory_(std::move(directory)), lead_ns_(lead_ns) {}

void Observer::start() {
  SpawnRequest request;
  // The shell's braces make one command of it, whatever it is; the whole group gets the signal.
  request.argv = {
      "/bin/sh", "-c",
      fmt::format("{{ {}\n}} >{} 2>&1", command_, shell_quoted((directory_ / log_name).string()))};
  request.pipe_stdin = false;
  request.pipe_stdout = false;
  request.pipe_stderr = false;
  times_.started_ns = now_ns();
  child_ = Child::spawn(request);
  const std::optional<ChildEnd> end = child_->wait(lead_ns_);
  if (!end) return;
  const std::string last = last_line();
  throw Error(ExitCode::failed, fmt::format("the observer ended before the load began: {}{}{}",
                                            end->describe(), last.empty() ? "" : ": ", last));
}

void Observer::stop() {
  if (!child_) return;
  times_.stopped_ns = now_ns();
  child_->signal(SIGINT);
}

std::string Observer::finish(std::int64_t grace_ns) {
  if (!child_) return {};
  if (times_.stopped_ns == 0) stop();
  std::optional<ChildEnd> end = child_->wait(grace_ns);
  const bool killed = !end.has_value();
  if (killed) end = child_->close_and_kill();
  times_.ended_ns = now_ns();
  child_.reset();
  if (killed) return "the observer did not end after SIGINT and was killed";
  // Tools that do not catch it end by it; shells turn that into 130.
  const bool ended_well = end->exited() ? end->exit_code() == 0 || end->exit_code() == 128 + SIGINT
                                        : end->signal() == SIGINT;
  if (ended_well) return {};
  const std::string last = last_line();
  return fmt::format("the observer ended with {}{}{}", end->describe(), last.empty() ? "" : ": ",
                     last);
}

std::string Observer::last_line() const {
  std::ifstream log(directory_ / log_name);
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string fill_observer_command(const std::string& command,
                                  const std::filesystem::path& directory) {
  if (command.find_first_not_of(' ') == std::string::npos) {
    throw usage_error("--observe: the command is empty",
                      "for instance --observe 'perf sched record -o {dir}/sched.data'");
  }
  constexpr std::string_view name = "{dir}";
  std::string result = command;
  const std::string place = shell_quoted(directory.string());
  for (std::size_t at = 0; (at = result.find(name, at)) != std::string::npos; at += place.size()) {
    result.replace(at, name.size(), place);
  }
  return result;
}

}  // namespace krepro
