// Starting, reading and stopping hackbench-load, and the words of its lines. See load_process.h.
#include "generators/hackbench/load_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "common/base/error.h"

namespace krepro::hackbench {

namespace {

constexpr int check_interval_ms = 50;
// The load has nothing to do after its last line; what still lives then is killed.
constexpr std::int64_t end_timeout_ns = 5'000'000'000;

/// The words of one line, taken from its front.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), rest_(line) {}

  std::string_view word() {
    const std::size_t length = std::min(rest_.find(' '), rest_.size());
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
    return result;
  }
  template <typename Number>
  Number number() {
    const std::string_view text = word();
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw not_understood();
    }
    return value;
  }
  std::string_view rest() const { return rest_; }
  bool empty() const { return rest_.empty(); }
  Error not_understood() const {
    return Error(ExitCode::failed, fmt::format("hackbench-load said \"{}\"", line_),
                 "krepro-hackbench and hackbench-load are not of one build: install both anew");
  }

 private:
  std::string_view line_;
  std::string_view rest_;
};

Usage read_usage(Words& words) {
  Usage usage;
  usage.voluntary_switches = words.number<std::uint64_t>();
  usage.involuntary_switches = words.number<std::uint64_t>();
  usage.user_us = words.number<std::uint64_t>();
  usage.system_us = words.number<std::uint64_t>();
  return usage;
}

SpawnRequest request_for(const std::string& program, const std::vector<std::string>& arguments) {
  if (access(program.c_str(), X_OK) != 0) {
    throw system_error(fmt::format("{}, a part of krepro-hackbench, cannot be run", program),
                       errno);
  }
  SpawnRequest request;
  request.argv = {program};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.pipe_stderr = false;
  return request;
}

}  // namespace

void LoadReport::add_line(std::string_view line) {
  Words words(line);
  const std::string_view kind = words.word();
  if (kind == "reaped") {
    const auto id = words.number<pid_t>();
    reaped.emplace_back(id, read_usage(words));
  } else if (kind == "receivers" || kind == "senders") {
    const bool sender = kind == "senders";
    const std::uint64_t group = workers.empty() ? 0
                                : !sender       ? workers.back().group + 1
                                                : workers.back().group;
    while (!words.empty()) {
      workers.push_back({words.number<pid_t>(), sender, group});
    }
  } else if (kind == "hackbench-load") {
    if (words.number<int>() != 1) {
      throw words.not_understood();
    }
  } else if (kind == "channels") {
    words.word();
    words.word();
    capacity_min_bytes = words.number<std::int64_t>();
    words.word();
    capacity_max_bytes = words.number<std::int64_t>();
  } else if (kind == "stack") {
    stack_bytes = words.number<std::int64_t>();
  } else if (kind == "ready") {
    ready = true;
  } else if (kind == "elapsed_ns") {
    elapsed_ns = words.number<std::int64_t>();
  } else if (kind == "process") {
    process = read_usage(words);
  } else if (kind == "end") {
    ended = true;
  } else if (kind == "failed") {
    worker_failure = WorkerFailure{words.number<pid_t>(), words.number<int>()};
  } else if (kind == "error") {
    const int error_number = words.number<int>();
    failure = LoadFailure{error_number, std::string(words.rest())};
  } else {
    throw words.not_understood();
  }
}

LoadProcess::LoadProcess(const std::string& program, const std::vector<std::string>& arguments)
    : child_(Child::spawn(request_for(program, arguments))) {}

/// Reads what is there, waiting at most `timeout_ms` (-1: for ever) for something. False at the
/// end.
bool LoadProcess::read_some(int timeout_ms) {
  pollfd output{child_.stdout_fd(), POLLIN, 0};
  if (poll(&output, 1, timeout_ms) <= 0) {
    return true;
  }
  std::array<char, 65536> buffer{};
  const ssize_t got = read(child_.stdout_fd(), buffer.data(), buffer.size());
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) {
      return true;
    }
    throw system_error("reading from hackbench-load", errno);
  }
  unread_.append(buffer.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    report_.add_line(std::string_view(unread_).substr(begin, end - begin));
  }
  unread_.erase(0, begin);
  return got > 0;
}

void LoadProcess::wait_until_ready(const std::function<void()>& check) {
  bool open = true;
  while (open && !report_.ready) {
    check();
    open = read_some(check_interval_ms);
  }
  if (report_.ready) {
    return;
  }
  const ChildEnd end = read_to_end();
  if (report_.failure) {
    throw set_up_error(*report_.failure);
  }
  if (report_.worker_failure) {
    throw usage_error("a worker ended before the start");
  }
  throw usage_error(fmt::format("hackbench-load ended before the start: {}", end.describe()));
}

void LoadProcess::go() {
  // Where the load is gone already, done_fd() says so and finish() tells why.
  while (write(child_.stdin_fd(), "g", 1) < 0 && errno == EINTR) {
  }
}

void LoadProcess::stop() { child_.signal(SIGTERM); }

ChildEnd LoadProcess::read_to_end() {
  while (read_some(-1)) {
  }
  if (const auto end = child_.wait(end_timeout_ns)) {
    return *end;
  }
  return child_.close_and_kill();
}

Error set_up_error(const LoadFailure& failure) {
  const Error plain =
      system_error(fmt::format("setting up the load: {}", failure.what), failure.error_number);
  const auto limit_hit = [&plain](const std::string& remedy) {
    return Error(ExitCode::not_possible, plain.what(), remedy);
  };
  switch (failure.error_number) {
    case EPERM:
      return limit_hit(
          "--fifo needs CAP_SYS_NICE or an RLIMIT_RTPRIO of at least 1; see docs/limits.md");
    case EAGAIN:
    case ENOMEM:
      return limit_hit(
          "tasks or memory ran out although the limits seen here allow it (a limit of an outer "
          "container?): lower --groups; see docs/limits.md");
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
      return limit_hit(
          "lower --groups, or raise fs.file-max (pipes: fs.pipe-user-pages-hard); see "
          "docs/limits.md");
    case EADDRINUSE:
    case EADDRNOTAVAIL:
      return limit_hit(
          "no TCP port is left: widen net.ipv4.ip_local_port_range, or wait a minute until the "
          "connections of earlier runs have timed out; see docs/limits.md");
    default:
      return plain;
  }
}

}  // namespace krepro::hackbench
