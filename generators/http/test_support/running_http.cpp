// Processes that the tests run; see running_http.h.
#include "generators/http/test_support/running_http.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "common/base/host_files.h"
#include "common/process/descriptor.h"
#include "common/process/process_tree.h"
#include "common/timing/clock.h"

namespace krepro::http {

namespace {

constexpr std::int64_t patience_ns = 60'000'000'000;

std::vector<std::string> command_of(const std::vector<std::string>& arguments,
                                    const std::vector<std::string>& prefix) {
  std::vector<std::string> argv = prefix;
  argv.emplace_back(KREPRO_HTTP);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  argv.emplace_back("--json=-");
  return argv;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

HttpRun run_of(const ChildEnd& end, const std::string& out, const std::string& err) {
  HttpRun run;
  run.exit_code = end.exited() ? end.exit_code() : -end.signal();
  run.sample = nlohmann::json::parse(out, nullptr, false);
  if (run.sample.is_discarded()) run.sample = nullptr;
  run.err = err;
  run.elapsed_s = static_cast<double>(end.elapsed_ns) / 1e9;
  run.cpu_s = seconds(end.usage.ru_utime) + seconds(end.usage.ru_stime);
  return run;
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (ssize_t size = 0; (size = read(descriptor, chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(size));
  }
  return text;
}

SpawnRequest serve_request() {
  SpawnRequest request;
  request.argv = {KREPRO_HTTP, "--role", "serve", "--control"};
  return request;
}

}  // namespace

int bound_socket(int& port) {
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof name;
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (bind(made, generic, size) != 0 || getsockname(made, generic, &size) != 0) return -1;
  port = ntohs(name.sin_port);
  return made;
}

std::uint64_t HttpRun::errors(const std::string& kind) const {
  return sample.is_object() ? sample.at("errors").value(kind, std::uint64_t{0}) : 0;
}

std::uint64_t HttpRun::errors() const {
  std::uint64_t sum = 0;
  if (!sample.is_object()) return sum;
  for (const auto& [kind, count] : sample.at("errors").items()) sum += count.get<std::uint64_t>();
  return sum;
}

HttpRun run_http(const std::vector<std::string>& arguments,
                 const std::vector<std::string>& prefix) {
  SpawnRequest request;
  request.argv = command_of(arguments, prefix);
  request.pipe_stdin = false;
  const CommandOutput output = run_command(request, patience_ns);
  return run_of(output.end, output.out, output.err);
}

Child start_http(const std::vector<std::string>& arguments) {
  SpawnRequest request;
  request.argv = command_of(arguments, {});
  request.pipe_stdin = false;
  return Child::spawn(request);
}

HttpRun finish_http(Child& child) {
  const std::string out = read_to_end(child.stdout_fd());
  const std::string err = read_to_end(child.stderr_fd());
  return run_of(child.terminate(patience_ns), out, err);
}

RunningServer::RunningServer(const nlohmann::json& options)
    : child_(Child::spawn(serve_request())) {
  const std::string line = nlohmann::json{{"cmd", "configure"}, {"options", options}}.dump() + "\n";
  if (write(child_.stdin_fd(), line.data(), line.size()) < 0) return;
  const nlohmann::json ready = hear("ready");
  if (!ready.is_null()) endpoint_ = ready.at("endpoint");
}

RunningServer::~RunningServer() {
  // Not killed at once: it would leave its folder.
  child_.close_stdin();
  if (!child_.wait(patience_ns)) child_.close_and_kill();
}

nlohmann::json RunningServer::hear(const std::string& event) {
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  while (now_ns() < deadline_ns) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      const nlohmann::json heard = nlohmann::json::parse(buffer_.substr(0, end));
      buffer_.erase(0, end + 1);
      if (heard.value("event", "") == event) return heard;
      if (heard.value("event", "") == "error") problem_ = heard.value("message", "");
      continue;
    }
    pollfd entry{child_.stdout_fd(), POLLIN, 0};
    if (poll(&entry, 1, 1000) == 0) continue;
    std::array<char, 65536> chunk{};
    const ssize_t got = read(child_.stdout_fd(), chunk.data(), chunk.size());
    if (got <= 0) break;
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return {};
}

std::string RunningServer::url(const std::string& path) const {
  return endpoint_.substr(0, endpoint_.find('#')) + path;
}

pid_t RunningServer::master() const {
  return std::stoi(endpoint_.substr(endpoint_.find("process=") + 8));
}

std::vector<pid_t> RunningServer::workers() const { return children_of(master(), HostFiles("/")); }

nlohmann::json RunningServer::stop() {
  const std::string lines = "{\"cmd\":\"go\",\"delay_ns\":0}\n{\"cmd\":\"stop\"}\n";
  if (write(child_.stdin_fd(), lines.data(), lines.size()) < 0) return {};
  const nlohmann::json event = hear("sample");
  return event.is_null() ? event : event.at("sample");
}

bool read_request(int socket) {
  std::string text;
  char letter = 0;
  while (!text.ends_with("\r\n\r\n")) {
    if (read(socket, &letter, 1) != 1) return false;
    text += letter;
  }
  return true;
}

bool write_all(int socket, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t size = write(socket, text.data() + written, text.size() - written);
    if (size <= 0) return false;
    written += static_cast<std::size_t>(size);
  }
  return true;
}

int unused_port() {
  int port = 0;
  const Descriptor probe(bound_socket(port));
  return port;
}

}  // namespace krepro::http
