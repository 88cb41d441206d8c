// nginx in a private instance: a configuration, a prefix and a port of its own, nothing of the
// system's nginx is read or touched.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

#include "common/affinity/cpu_order.h"
#include "common/affinity/cpu_set.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/process/child.h"
#include "common/process/process_tree.h"
#include "common/process/program.h"
#include "common/timing/clock.h"
#include "generators/http/address.h"
#include "generators/http/ask_once.h"
#include "generators/http/process_accounts.h"
#include "generators/http/server.h"
#include "generators/http/server_folder.h"

namespace krepro::http {

namespace {

constexpr std::int64_t start_limit_ns = 20'000'000'000;
constexpr std::int64_t stop_grace_ns = 5'000'000'000;
constexpr int port_attempts = 8;

struct Place {
  std::string listen;    ///< As nginx's `listen` has it.
  std::string endpoint;  ///< Without the process.
};

/// A TCP port that was free a moment ago.
std::uint16_t free_port(bool ipv6) {
  const Descriptor probe(socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage name{};
  socklen_t size = 0;
  if (ipv6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&name);
    address->sin6_family = AF_INET6;
    address->sin6_addr = in6addr_loopback;
    size = sizeof *address;
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&name);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof *address;
  }
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (!probe.valid() || bind(probe.get(), generic, size) != 0 ||
      getsockname(probe.get(), generic, &size) != 0) {
    throw system_error(ipv6 ? "a port on ::1" : "a port on 127.0.0.1", errno);
  }
  return ntohs(ipv6 ? reinterpret_cast<sockaddr_in6*>(&name)->sin6_port
                    : reinterpret_cast<sockaddr_in*>(&name)->sin_port);
}

Place choose_place(const ServerSettings& settings, const std::filesystem::path& folder) {
  const std::string scheme = settings.tls ? "https" : "http";
  if (settings.listen == Listen::unix_socket) {
    const std::string path = (folder / "socket").string();
    return {"unix:" + path, fmt::format("{}://unix:{}:", scheme, path)};
  }
  const bool ipv6 = settings.listen == Listen::ipv6;
  const std::uint16_t port = settings.port != 0 ? settings.port : free_port(ipv6);
  const std::string address = fmt::format("{}:{}", ipv6 ? "[::1]" : "127.0.0.1", port);
  return {address, fmt::format("{}://{}", scheme, address)};
}

std::string tls_lines(const ServerSettings& settings) {
  if (!settings.tls) return "";
  return "    ssl_certificate certificate.pem;\n"
         "    ssl_certificate_key key.pem;\n"
         "    ssl_protocols TLSv1.2 TLSv1.3;\n";
}

/// As root, nginx's workers become another user, who could not reach the files below a folder that
/// is closed to others (a TMPDIR in root's home, the top of some containers): then they stay root.
bool workers_stay_root(const ServerFolder& folder) {
  return geteuid() == 0 && !folder.open_to_all();
}

std::string configuration(const ServerSettings& settings, const Place& place, bool as_root) {
  const std::string workers = settings.workers == 0 ? "auto" : fmt::format("{}", settings.workers);
  return fmt::format(
      "{user}daemon off;\n"
      "worker_processes {workers};\n"
      "pid nginx.pid;\n"
      "error_log error.log;\n"
      "events {{ worker_connections 65536; }}\n"
      "worker_rlimit_nofile 131072;\n"
      "http {{\n"
      "  access_log {log};\n"
      "  default_type text/html;\n"
      "  keepalive_requests {keepalive};\n"
      "  client_body_temp_path body;\n"
      "  proxy_temp_path proxy;\n"
      "  fastcgi_temp_path fastcgi;\n"
      "  uwsgi_temp_path uwsgi;\n"
      "  scgi_temp_path scgi;\n"
      "  server {{\n"
      "    listen {listen}{ssl}{reuseport};\n"
      "    root files;\n"
      // Static files answer POST too, of any size.
      "    error_page 405 =200 $uri;\n"
      "    client_max_body_size 0;\n"
      "{tls}"
      "  }}\n"
      "}}\n",
      fmt::arg("user", as_root ? "user root;\n" : ""), fmt::arg("workers", workers),
      fmt::arg("log", settings.access_log ? "access.log" : "off"),
      fmt::arg("keepalive", settings.keepalive_requests), fmt::arg("listen", place.listen),
      fmt::arg("ssl", settings.tls ? " ssl" : ""),
      fmt::arg("reuseport", settings.reuseport ? " reuseport" : ""),
      fmt::arg("tls", tls_lines(settings)));
}

/// The line that says why: nginx repeats itself after it.
std::string reason_in(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("[emerg]") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

class Nginx : public Server {
 public:
  Nginx(const ServerSettings& settings, const std::filesystem::path& program, Frame& frame)
      : settings_(settings), program_(program) {
    write_static_files(folder_.files(), settings_);
    if (settings_.tls) make_certificate(folder_.path(), frame);
    for (int attempt = 1;; ++attempt) {
      const std::string problem = try_start(frame);
      if (problem.empty()) break;
      const bool taken = problem.find("Address already in use") != std::string::npos;
      if (!taken || settings_.port != 0 || attempt == port_attempts) {
        throw usage_error("nginx did not start: " + problem,
                          taken ? "choose another --port, or none for any free one" : "");
      }
    }
    bind_workers(frame.worker_cpus());
    endpoint_ = place_.endpoint + "#" + process_fragment(child_->pid(), HostFiles::system());
  }

  [[nodiscard]] std::string endpoint() const override { return endpoint_; }
  [[nodiscard]] const char* name() const override { return "nginx"; }
  [[nodiscard]] int done_fd() const override { return child_->end_fd(); }
  void stop() override {
    // What its threads counted is gone with them.
    if (threads_.empty()) {
      threads_ = read_thread_groups(child_->pid(), "server worker", HostFiles::system());
    }
    child_->signal(SIGTERM);
  }

  void finish(Sample& sample) override {
    const ChildEnd end = child_->terminate(stop_grace_ns);
    sample.threads = threads_;
    sample.extra["configuration"] = configuration(settings_, place_, workers_stay_root_);
    sample.extra["version"] = version();
    if (workers_stay_root_) {
      sample.notes.push_back("nginx's workers ran as root: others may not enter a folder above " +
                             folder_.path().string());
    }
    if (!end.exited() || end.exit_code() != 0) {
      sample.error = fmt::format("nginx: {} ({})", end.describe(), last_error());
    }
  }

 private:
  /// Starts it and waits until it accepts; why it does not, else "".
  std::string try_start(Frame& frame) {
    place_ = choose_place(settings_, folder_.path());
    const std::filesystem::path file = folder_.path() / "nginx.conf";
    std::ofstream(file) << configuration(settings_, place_, workers_stay_root_);
    std::error_code ignored;
    std::filesystem::remove(folder_.path() / "error.log", ignored);
    SpawnRequest request;
    request.argv = {
        program_.string(), "-p", folder_.path().string() + "/", "-c", file.string(), "-e",
        "error.log"};
    request.pipe_stdin = request.pipe_stdout = false;
    request.remove_at_end = {folder_.path()};
    child_.emplace(Child::spawn(request));
    return wait_until_it_accepts(frame);
  }

  std::string wait_until_it_accepts(Frame& frame) {
    const Url url = parse_url(place_.endpoint + file_path(settings_.file_sizes, 0));
    const std::int64_t deadline_ns = now_ns() + start_limit_ns;
    while (now_ns() < deadline_ns) {
      frame.check_interrupted();
      pollfd ended{child_->end_fd(), POLLIN, 0};
      if (poll(&ended, 1, 20) > 0) return last_error();
      // Before that, a connection would be taken and wait for a worker.
      if (!std::filesystem::exists(folder_.path() / "nginx.pid")) continue;
      try {
        const int status =
            ask_once(url, deadline_ns - now_ns(), [&frame] { frame.check_interrupted(); });
        if (status == 200 && all_workers_live()) return "";
        if (status != 0 && status != 200) return refusal(status);
      } catch (const Error& error) {
        if (error.code() == ExitCode::interrupted) throw;
      }
    }
    return "it does not answer";
  }

  /// The first one answers while nginx still forks the others. Where the kernel tells no children,
  /// the first must do.
  bool all_workers_live() const {
    const std::size_t live = children_of(child_->pid(), HostFiles::system()).size();
    const auto asked = settings_.workers != 0
                           ? settings_.workers
                           : static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
    return live == 0 || live >= asked;
  }

  void bind_workers(const std::vector<int>& order) {
    if (order.empty()) return;
    const std::vector<pid_t> workers = children_of(child_->pid(), HostFiles::system());
    for (std::size_t i = 0; i < workers.size(); ++i) {
      CpuSet(std::vector<int>{cpu_of_worker(order, i)}).apply(workers[i]);
    }
  }

  std::string refusal(int status) const {
    return fmt::format(
        "it answers {}: can its workers, which as root run as another user, read {}?", status,
        folder_.path().string());
  }

  std::string last_error() const {
    std::ifstream log(folder_.path() / "error.log");
    std::ostringstream text;
    text << log.rdbuf();
    std::string line = reason_in(text.str());
    if (line.empty()) {
      char buffer[2048];
      const ssize_t size = read(child_->stderr_fd(), buffer, sizeof buffer);
      if (size > 0) line = reason_in(std::string(buffer, static_cast<std::size_t>(size)));
    }
    return line.empty() ? "no reason given" : line;
  }

  std::string version() const {
    SpawnRequest request;
    request.argv = {program_.string(), "-v"};
    request.pipe_stdin = false;
    return reason_in(run_command(request, stop_grace_ns).err);
  }

  ServerSettings settings_;
  std::filesystem::path program_;
  ServerFolder folder_;
  const bool workers_stay_root_ = workers_stay_root(folder_);
  Place place_;
  std::string endpoint_;
  std::optional<Child> child_;
  std::vector<ThreadGroup> threads_;  ///< As they were when it was told to stop.
};

}  // namespace

std::filesystem::path find_nginx() {
  return find_program("nginx", default_search_path() + ":/usr/local/sbin:/usr/sbin:/sbin")
      .value_or("");
}

std::unique_ptr<Server> start_nginx(const ServerSettings& settings, Frame& frame) {
  const std::filesystem::path program = find_nginx();
  if (program.empty()) {
    throw not_possible("nginx is not installed",
                       "apt-get install --no-install-recommends nginx-light, or --server=embedded");
  }
  return std::make_unique<Nginx>(settings, program, frame);
}

}  // namespace krepro::http
