// The suite's side of the control protocol, for one server on this machine.
#include "common/generator/served_load.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/base/error.h"
#include "common/timing/clock.h"

namespace krepro {

namespace {

constexpr std::int64_t ready_timeout_ns = 120'000'000'000;
constexpr std::int64_t stop_timeout_ns = 15'000'000'000;

SpawnRequest serve_request(const CommandLine& line) {
  SpawnRequest request;
  request.argv = {"/proc/self/exe", "--role", "serve", "--control"};
  request.pipe_stderr = false;
  if (!line.server_cpus.empty()) request.cpus = CpuSet::parse(line.server_cpus);
  return request;
}

/// Only what was given: defaults are the server's own business.
nlohmann::json given_options(const Options& options) {
  nlohmann::json all = options.to_json();
  nlohmann::json given = nlohmann::json::object();
  for (const auto& [name, value] : all.items()) {
    const Option* option = options.table().find(name);
    if (!options.given(name)) continue;
    // Durations were resolved to nanoseconds; as text they keep their unit.
    given[name] = option->type == OptionType::duration
                      ? nlohmann::json(fmt::format("{}ns", value.get<std::int64_t>()))
                      : value;
  }
  return given;
}

}  // namespace

bool needs_own_server(const Description& description, const CommandLine& line) {
  if (description.roles.size() < 2) return false;
  if (line.role) return *line.role == RoleChoice::both;
  if (!line.server.empty()) return false;
  return description.positional.empty() || !line.options.given(description.positional);
}

ServedLoad::ServedLoad(const CommandLine& line, Frame& frame)
    : child_(Child::spawn(serve_request(line))) {
  nlohmann::json options = given_options(line.options);
  if (!line.server_worker_cpus.empty()) options["worker-cpus"] = line.server_worker_cpus;
  send({{"cmd", "configure"}, {"options", std::move(options)}});
  const std::int64_t deadline_ns = now_ns() + ready_timeout_ns;
  while (endpoint_.empty()) {
    const nlohmann::json event = next_event(&frame);
    const std::string name = event.value("event", "");
    if (name == "ready") {
      endpoint_ = event.value("endpoint", "");
      if (endpoint_.empty()) throw usage_error("the server named no endpoint");
    } else if (name == "error") {
      const ExitCode code =
          event.value("kind", "") == "not_possible" ? ExitCode::not_possible : ExitCode::usage;
      throw Error(code, "server: " + event.value("message", ""), event.value("remedy", ""));
    } else if (event.is_null() || now_ns() > deadline_ns) {
      throw usage_error("the server ended or hung before it was ready");
    }
  }
}

void ServedLoad::send(const nlohmann::json& command) {
  const std::string line = command.dump() + "\n";
  [[maybe_unused]] const ssize_t wrote = write(child_.stdin_fd(), line.data(), line.size());
}

void ServedLoad::go() { send({{"cmd", "go"}, {"delay_ns", 0}}); }

nlohmann::json ServedLoad::next_event(Frame* frame) {
  for (;;) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      nlohmann::json event = nlohmann::json::parse(buffer_.substr(0, end), nullptr, false);
      buffer_.erase(0, end + 1);
      return event.is_object() ? event : nlohmann::json::object();
    }
    pollfd entry{child_.stdout_fd(), POLLIN, 0};
    const int got = poll(&entry, 1, 100);
    if (frame != nullptr) frame->check_interrupted();
    if (got == 0) return nlohmann::json::object();
    std::array<char, 65536> chunk{};
    const ssize_t size = read(child_.stdout_fd(), chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    buffer_.append(chunk.data(), static_cast<std::size_t>(size));
  }
}

nlohmann::json ServedLoad::stop() {
  send({{"cmd", "stop"}});
  const std::int64_t deadline_ns = now_ns() + stop_timeout_ns;
  while (now_ns() < deadline_ns) {
    const nlohmann::json event = next_event(nullptr);
    if (event.is_null()) break;
    if (event.value("event", "") == "sample") {
      child_.wait(stop_timeout_ns);
      return event.value("sample", nlohmann::json());
    }
  }
  child_.terminate(1'000'000'000);
  return {};
}

}  // namespace krepro
