// What the tests of the program share: running krepro-http, servers under the control protocol, and
// servers that a test scripts itself.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/process/child.h"

namespace krepro::http {

struct HttpRun {
  int exit_code = -1;
  nlohmann::json sample;  ///< Null where it printed none.
  std::string err;
  double elapsed_s = 0;
  double cpu_s = 0;

  [[nodiscard]] std::uint64_t errors(const std::string& kind) const;
  /// Of all kinds.
  [[nodiscard]] std::uint64_t errors() const;
};

/// Runs it to its end, at most a minute, with --json=-; `prefix` stands before it.
[[nodiscard]] HttpRun run_http(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& prefix = {});
/// Starts it, with --json=-.
[[nodiscard]] Child start_http(const std::vector<std::string>& arguments);
/// Waits for one that was started, and reads its sample.
[[nodiscard]] HttpRun finish_http(Child& child);

/// krepro-http --role serve, ready. Check endpoint() before use: empty where it did not start.
class RunningServer {
 public:
  explicit RunningServer(const nlohmann::json& options);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The endpoint as a user would write it.
  [[nodiscard]] std::string url(const std::string& path = "/test.html") const;
  /// The server's first process.
  [[nodiscard]] pid_t master() const;
  /// The master's children.
  [[nodiscard]] std::vector<pid_t> workers() const;
  /// Ends it and gives its sample.
  [[nodiscard]] nlohmann::json stop();

 private:
  [[nodiscard]] nlohmann::json hear(const std::string& event);
  Child child_;
  std::string buffer_;
  std::string endpoint_;
  std::string problem_;
};

/// A server on 127.0.0.1 whose every connection is answered by a function, in a process of its own
/// (starting programs needs a single-threaded caller).
class ScriptedServer {
 public:
  using Script = std::function<void(int socket)>;
  /// `backlog`: of its listening socket; `pause_us`: before each accept.
  explicit ScriptedServer(const Script& script, int backlog = 128, unsigned pause_us = 0);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  [[nodiscard]] std::string url() const;

 private:
  pid_t process_ = -1;
  int port_ = 0;
};

/// Reads one request, up to its empty line; false at the end.
[[nodiscard]] bool read_request(int socket);
/// Writes all of it; false where the peer is gone.
bool write_all(int socket, const std::string& text);

/// A socket that is bound to a free port of 127.0.0.1.
[[nodiscard]] int bound_socket(int& port);
/// A port of 127.0.0.1 where nothing listens.
[[nodiscard]] int unused_port();

}  // namespace krepro::http
