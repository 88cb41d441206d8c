// The frame's event loop. It sleeps in poll() while the load runs: no timer, no wake-up, unless
// somebody asked for progress.
#include "common/generator/session.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "common/affinity/cpu_order.h"
#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/base/random.h"
#include "common/base/units.h"
#include "common/generator/signals.h"
#include "common/timing/clock.h"
#include "common/timing/record_cost.h"

namespace krepro {

namespace {

/// How long a load may take to end after it was told to.
constexpr std::int64_t stop_grace_ns = 10 * one_second_ns;

Error interrupted_error() { return {ExitCode::interrupted, "interrupted before the load started"}; }

bool readable(int descriptor) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

}  // namespace

Session::Session(Generator& generator, ControlChannel* channel, std::string_view source_hash)
    : generator_(&generator), channel_(channel), source_hash_(source_hash), seed_(fresh_seed()) {
  const HostFiles own;  // the program's own file, not a fixture's
  const std::optional<std::string> program = own.read_link("/proc/self/exe");
  if (program) directory_ = std::filesystem::path(*program).parent_path().string();
}

void Session::note(const std::string& text) { notes_.push_back(text); }

void Session::set_worker_cpus(const std::string& order) {
  worker_cpus_ = order.empty() ? std::vector<int>() : parse_cpu_order(order);
}

void Session::check_interrupted() {
  const std::optional<Ending> ending = look_at_events(0, false);
  if (ending) throw interrupted_error();
}

std::optional<Ending> Session::handle_command() {
  using Kind = ControlCommand::Kind;
  const std::optional<ControlCommand> command = channel_->read_command();
  if (!command) return std::nullopt;
  switch (command->kind) {
    case Kind::ping:
      channel_->send("pong", {{"monotonic_ns", now_ns()}});
      return std::nullopt;
    case Kind::stop:
      return Ending::stop;
    case Kind::end_of_file:
      return Ending::end_of_file;
    case Kind::configure:
    case Kind::go:
      break;
  }
  throw usage_error("control: configure or go at the wrong time");
}

std::optional<Ending> Session::look_at_events(int timeout_ms, bool wait_done) {
  if (channel_ != nullptr && channel_->buffered()) return handle_command();
  std::array<pollfd, 3> entries{{{end_signal_fd(), POLLIN, 0},
                                 {channel_ != nullptr ? channel_->in_fd() : -1, POLLIN, 0},
                                 {wait_done ? generator_->done_fd() : -1, POLLIN, 0}}};
  if (poll(entries.data(), entries.size(), timeout_ms) < 0 && errno != EINTR) {
    throw system_error("poll", errno, ExitCode::failed);
  }
  if (end_signal() != 0) return Ending::signal;
  if (entries[2].revents != 0) return Ending::done;
  if (entries[1].revents != 0) return handle_command();
  return std::nullopt;
}

void Session::configure(const Options& options) {
  options_ = options;
  for (const Option& option : options.table().options()) {
    if (option.means == Meaning::seed && options.given(option.name)) {
      set_seed(static_cast<std::uint64_t>(options.integer(option.name)));
    }
  }
  for (const std::string& text : options.notes()) note(text);
  frame_cost_ = {{"clock_cost_ns", clock_cost_ns()}, {"record_cost_ns", record_cost_ns()}};
  generator_->configure(*options_, *this);
}

void Session::prepare() { generator_->prepare(*this); }

void Session::start(std::int64_t delay_ns) {
  const std::int64_t start_ns = now_ns() + delay_ns;
  while (delay_ns > 0) {
    const std::int64_t left_ns = start_ns - now_ns();
    if (left_ns <= 0) break;
    if (left_ns < 2'000'000) {
      sleep_until_ns(start_ns);
      break;
    }
    if (look_at_events(static_cast<int>(left_ns / 1'000'000 - 1), false)) throw interrupted_error();
  }
  generator_->start();
}

Ending Session::wait_for_end(const std::function<void(const Progress&)>& on_tick) {
  std::int64_t next_tick_ns = now_ns() + one_second_ns;
  const int watch_ms = generator_->watch_interval_ms();
  for (;;) {
    int timeout_ms = watch_ms > 0 ? watch_ms : -1;
    if (on_tick) {
      const auto tick_ms =
          static_cast<int>(std::max<std::int64_t>(0, next_tick_ns - now_ns()) / 1'000'000);
      timeout_ms = timeout_ms < 0 ? tick_ms : std::min(timeout_ms, tick_ms);
    }
    if (const std::optional<Ending> ending = look_at_events(timeout_ms, true)) return *ending;
    if (watch_ms > 0) generator_->watch();
    if (on_tick && now_ns() >= next_tick_ns) {
      on_tick(generator_->progress());
      next_tick_ns += one_second_ns;
    }
  }
}

void Session::wait_for_done(std::int64_t grace_ns) {
  const std::int64_t deadline_ns = now_ns() + grace_ns;
  while (!readable(generator_->done_fd())) {
    const std::int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) {
      throw Error(ExitCode::failed,
                  fmt::format("the load did not end within {} of being told to stop",
                              format_duration(static_cast<double>(grace_ns))));
    }
    pollfd entry{generator_->done_fd(), POLLIN, 0};
    poll(&entry, 1, static_cast<int>(left_ns / 1'000'000 + 1));
  }
}

Sample Session::finish(Ending ending) {
  if (ending != Ending::done) {
    generator_->stop();
    wait_for_done(stop_grace_ns);
  }
  Sample sample = generator_->finish();
  // A server has no end of its own: being told to stop is its regular end.
  const bool regular = ending == Ending::done || (role_ == Role::serve && ending != Ending::signal);
  sample.truncated = sample.truncated || !regular;
  complete(sample);
  return sample;
}

Sample Session::never_started() const {
  Sample sample;
  sample.truncated = true;
  complete(sample);
  return sample;
}

void Session::complete(Sample& sample) const {
  sample.generator = generator_->description().name;
  sample.seed = seed_;
  if (options_) sample.options = options_->to_json();
  sample.notes.insert(sample.notes.begin(), notes_.begin(), notes_.end());
  sample.frame.update(frame_cost_);
  sample.extra["source_hash"] = source_hash_;
  sample.extra["binary_hash"] = binary_hash();
  // A load with operations but no result for its primary metric must never look like a good trial.
  if (sample.valid() && role_ == Role::load && sample.operations == 0) {
    sample.error = "no operation was measured";
  }
}

ExitCode Session::exit_code(const Sample& sample) const {
  if (sample.truncated) return ExitCode::interrupted;
  return sample.valid() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace krepro
