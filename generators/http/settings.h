// What a trial does, resolved from its options and checked: the requests as bytes, the shape of the
// load, the server. Opens nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/generator/options.h"
#include "common/timing/pacer.h"
#include "generators/http/url.h"

namespace krepro::http {

enum class Pattern : std::uint8_t { wrk, lean };
enum class Method : std::uint8_t { get, head, post };
enum class TlsVersion : std::uint8_t { any, only_1_2, only_1_3 };

struct WeightedPath {
  std::string path;
  std::uint64_t weight = 1;
};

struct LoadSettings {
  std::size_t threads = 0;
  std::size_t connections = 0;        ///< Over all threads, as opened.
  std::size_t asked_connections = 0;  ///< Before wrk's rounding.
  std::size_t asked_threads = 0;
  std::int64_t duration_ns = 0;
  std::int64_t timeout_ns = 0;
  Pattern pattern = Pattern::wrk;
  double rate = 0;  ///< Requests a second over all threads; 0: a closed loop.
  Arrivals arrivals = Arrivals::closed;
  Method method = Method::get;
  std::size_t pipeline = 1;
  std::size_t body_bytes = 0;
  std::vector<std::string> headers;
  std::vector<WeightedPath> paths;  ///< Empty: the URL's.
  TlsVersion tls_version = TlsVersion::any;
  bool tls_sessions = true;
  bool show_latency = false;
  std::int64_t server_pid = 0;  ///< 0: unknown, or named by the endpoint.

  [[nodiscard]] bool open_loop() const { return rate > 0; }
};

enum class ServerKind : std::uint8_t { automatic, nginx, embedded };
enum class Listen : std::uint8_t { ipv4, ipv6, unix_socket };

struct ServerSettings {
  ServerKind kind = ServerKind::automatic;
  Listen listen = Listen::ipv4;
  std::uint16_t port = 0;   ///< 0: any free one.
  std::size_t workers = 0;  ///< 0: nginx's auto.
  bool tls = false;
  bool access_log = false;
  bool reuseport = false;
  std::uint64_t keepalive_requests = 0;
  std::vector<std::uint64_t> file_sizes;
};

/// Throws usage_error where options contradict each other.
[[nodiscard]] LoadSettings load_settings(const Options& options);
[[nodiscard]] ServerSettings server_settings(const Options& options);
/// For a load with a URL. Throws usage_error where options of a server of our own are given, which
/// would do nothing.
void refuse_server_options(const Options& options);

/// "server" names an endpoint and not a kind.
[[nodiscard]] bool is_endpoint(const std::string& server);

/// "/test.html" where there is one size, else "/SIZE.html".
[[nodiscard]] std::string file_path(const std::vector<std::uint64_t>& sizes, std::size_t index);

/// One request as it is written to the wire; a pipelined one is this several times.
[[nodiscard]] std::string request_text(const LoadSettings& load, const Url& url,
                                       const std::string& path);

/// The paths that are requested: the options', else the URL's, else those of our own server.
[[nodiscard]] std::vector<WeightedPath> requested_paths(const LoadSettings& load, const Url& url,
                                                        bool own_server,
                                                        const ServerSettings& server);

[[nodiscard]] const char* to_string(Pattern pattern);
[[nodiscard]] const char* to_string(Method method);

}  // namespace krepro::http
