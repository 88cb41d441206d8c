// Starting, watching and ending of a sched_ext scheduler.
#include "suite/settings/sched_ext.h"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

constexpr const char* folder = "/sys/kernel/sched_ext";
constexpr std::int64_t look_interval_ns = 20'000'000;
constexpr std::int64_t end_grace_ns = 10'000'000'000;

}  // namespace

SchedExt::SchedExt(HostFiles host, std::int64_t limit_ns)
    : host_(std::move(host)), limit_ns_(limit_ns) {}

SchedExt::State SchedExt::read() const {
  State state;
  state.enabled = host_.read_line(std::string(folder) + "/state").value_or("") == "enabled";
  if (state.enabled) state.name = host_.read_line(std::string(folder) + "/root/ops").value_or("");
  state.enable_count = host_.read_number(std::string(folder) + "/enable_seq");
  return state;
}

bool SchedExt::wait_until(bool enabled) {
  const std::int64_t deadline_ns = now_ns() + limit_ns_;
  for (;;) {
    if (read().enabled == enabled) return true;
    if (now_ns() >= deadline_ns) return false;
    if (enabled && child_ && child_->wait(0)) return false;
    sleep_until_ns(std::min(deadline_ns, now_ns() + look_interval_ns));
  }
}

void SchedExt::use(const std::string& command) {
  if (command == command_ && find_change().empty()) return;
  end();
  if (command == "none") {
    expected_ = read();
    if (expected_.enabled) {
      throw not_possible(fmt::format("sched_ext: scheduler {} is loaded already", expected_.name),
                         "end it first");
    }
    return;
  }
  if (!host_.exists(std::string(folder) + "/state")) {
    throw not_possible(fmt::format("sched_ext: this kernel has none ({} is absent)", folder),
                       "it needs CONFIG_SCHED_CLASS_EXT, from v6.12 on");
  }
  if (const State state = read(); state.enabled) {
    throw not_possible(fmt::format("sched_ext: scheduler {} is loaded already", state.name),
                       "end it first");
  }
  SpawnRequest request;
  request.argv = {"/bin/sh", "-c", command};
  request.pipe_stdin = false;
  request.pipe_stdout = false;
  child_ = Child::spawn(request);
  command_ = command;
  if (!wait_until(true)) {
    const std::optional<ChildEnd> ended = child_->wait(0);
    const std::string what = ended ? fmt::format("the program ended: {}", ended->describe())
                                   : fmt::format("not enabled within {}",
                                                 format_duration(static_cast<double>(limit_ns_)));
    end();
    throw not_possible(fmt::format("sched_ext: {}: {}", command, what),
                       "it needs root and a kernel that it was built for");
  }
  expected_ = read();
}

std::string SchedExt::find_change() const {
  const State now = read();
  if (now.enabled && !expected_.enabled) {
    return fmt::format("sched_ext: scheduler {} was loaded by somebody else", now.name);
  }
  if (!now.enabled && expected_.enabled) {
    return fmt::format(
        "sched_ext: scheduler {} was ejected or has ended: the kernel's own took "
        "over",
        expected_.name);
  }
  if (now.name != expected_.name) {
    return fmt::format("sched_ext: scheduler {} took the place of {}", now.name, expected_.name);
  }
  if (now.enable_count != expected_.enable_count) {
    return fmt::format("sched_ext: scheduler {} was ejected and loaded again", expected_.name);
  }
  return {};
}

void SchedExt::end() {
  command_ = "none";
  if (!child_) return;
  child_->signal(SIGINT);
  if (!child_->wait(end_grace_ns)) child_->close_and_kill();
  child_.reset();
  // The kernel takes a scheduler away with the program's last descriptor.
  if (!wait_until(false)) {
    throw Error(ExitCode::failed,
                "sched_ext: the scheduler's program ended, and it is still loaded");
  }
  expected_ = read();
}

std::string SchedExt::describe() const {
  const State state = read();
  if (!state.enabled) return "none";
  return state.enable_count ? fmt::format("{} (enable_seq {})", state.name, *state.enable_count)
                            : state.name;
}

}  // namespace krepro
