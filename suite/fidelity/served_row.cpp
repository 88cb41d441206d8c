// Starting and ending a row's server by the control protocol; see served_row.h.
#include "suite/fidelity/served_row.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/timing/clock.h"
#include "suite/counters/task_counters.h"

namespace krepro::fidelity {

namespace {

constexpr std::int64_t ready_timeout_ns = 120'000'000'000;
constexpr std::int64_t stop_grace_ns = 5'000'000'000;

nlohmann::json configure_command(const FidelityRow& row) {
  nlohmann::json options = nlohmann::json::object();
  for (const auto& [name, text] : row.serve) {
    options[name] = text.empty() ? nlohmann::json(true) : nlohmann::json(text);
  }
  return {{"cmd", "configure"}, {"options", std::move(options)}};
}

void send(int descriptor, const nlohmann::json& command) {
  const std::string line = command.dump() + "\n";
  [[maybe_unused]] const ssize_t wrote = write(descriptor, line.data(), line.size());
}

}  // namespace

ServedRow::ServedRow(const Programs& programs, const FidelityRow& row, const CpuSet& cpus)
    : row_(row) {
  if (row.serve.empty()) return;
  SpawnRequest request;
  request.argv = {programs.ours().string(), "--role", "serve", "--control"};
  request.cpus = cpus;
  request.pipe_stderr = false;
  server_.emplace(Child::spawn(request));
  send(server_->stdin_fd(), configure_command(row));
  wait_until_ready(programs.original().positional());
  send(server_->stdin_fd(), {{"cmd", "go"}, {"delay_ns", 0}});
}

ServedRow::~ServedRow() {
  if (!server_) return;
  server_->close_stdin();
  if (!server_->wait(stop_grace_ns)) server_->terminate(stop_grace_ns);
}

void ServedRow::wait_until_ready(const std::string& positional) {
  std::string text;
  const std::int64_t deadline_ns = now_ns() + ready_timeout_ns;
  while (text.find('\n') == std::string::npos && now_ns() < deadline_ns) {
    pollfd entry{server_->stdout_fd(), POLLIN, 0};
    if (poll(&entry, 1, 1000) == 0) continue;
    std::array<char, 65536> chunk{};
    const ssize_t size = read(server_->stdout_fd(), chunk.data(), chunk.size());
    if (size <= 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  const nlohmann::json event =
      nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (!event.is_object() || event.value("event", "") != "ready" || !event.contains("url")) {
    const bool told = event.is_object() && event.contains("message");
    throw Error(told && event.value("kind", "") == "not_possible" ? ExitCode::not_possible
                                                                  : ExitCode::usage,
                fmt::format("the server of row \"{}\" did not start{}", row_.name,
                            told ? ": " + event.value("message", "") : ""),
                told ? event.value("remedy", "") : "");
  }
  row_.options.emplace_back(positional, event.at("url").get<std::string>());
}

std::optional<std::uint64_t> ServedRow::switches() const {
  if (!server_) return std::nullopt;
  std::uint64_t sum = 0;
  for (const auto& [tid, task] : read_task_tree(server_->pid(), HostFiles::system())) {
    sum += task.voluntary_switches + task.involuntary_switches;
  }
  return sum;
}

}  // namespace krepro::fidelity
