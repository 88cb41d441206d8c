// From options to a trial's settings; see settings.h.
#include "generators/http/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro::http {

namespace {

constexpr std::size_t weight_limit = 1'000'000;

/// "/a" or "3:/a".
WeightedPath parse_path(const std::string& text) {
  WeightedPath path;
  const std::size_t slash = text.find('/');
  if (slash != 0) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon + 1 != slash) {
      throw usage_error(fmt::format("path: \"{}\" is not /PATH or WEIGHT:/PATH", text));
    }
    path.weight = parse_count(text.substr(0, colon));
    if (path.weight == 0 || path.weight > weight_limit) {
      throw usage_error(fmt::format("path: the weight of \"{}\" must be 1 to 1M", text));
    }
  }
  path.path = text.substr(slash);
  if (path.path.find_first_of(" \t\r\n#") != std::string::npos) {
    throw usage_error(fmt::format("path: \"{}\" has a character that must be escaped", text));
  }
  return path;
}

void check_header(const std::string& header) {
  const std::size_t colon = header.find(':');
  if (colon == 0 || colon == std::string::npos ||
      header.find_first_of("\r\n") != std::string::npos) {
    throw usage_error(fmt::format("header: \"{}\" is not \"Name: value\"", header));
  }
}

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + ('a' - 'A'));
  }
  return text;
}

bool has_header(const std::vector<std::string>& headers, const std::string& lower_name) {
  return std::any_of(headers.begin(), headers.end(), [&](const std::string& header) {
    return lower(header.substr(0, header.find(':'))) == lower_name;
  });
}

void settle_rate(const Options& options, LoadSettings& load) {
  const bool pattern_given = options.given("pattern");
  load.pattern = options.text("pattern") == "lean" ? Pattern::lean : Pattern::wrk;
  if (!options.has("rate")) {
    if (options.given("arrivals")) throw usage_error("arrivals: only with a rate");
    return;
  }
  load.rate = options.number("rate");
  load.arrivals = options.text("arrivals") == "poisson" ? Arrivals::poisson : Arrivals::constant;
  if (load.pipeline > 1) {
    throw usage_error("rate and pipeline exclude each other: each request has its own start",
                      "use more connections");
  }
  if (pattern_given && load.pattern == Pattern::wrk) {
    throw usage_error("pattern: wrk's is a closed loop; with a rate it is lean");
  }
  load.pattern = Pattern::lean;
}

void settle_counts(const Options& options, LoadSettings& load) {
  load.asked_threads = static_cast<std::size_t>(options.integer("threads"));
  load.asked_connections = static_cast<std::size_t>(options.integer("connections"));
  load.threads = std::min(load.asked_threads, load.asked_connections);
  load.connections = load.asked_connections;
  if (options.flag("wrk-rounding")) {
    load.connections = load.asked_connections / load.threads * load.threads;
  }
}

TlsVersion tls_version_of(const std::string& text) {
  if (text == "1.2") return TlsVersion::only_1_2;
  return text == "1.3" ? TlsVersion::only_1_3 : TlsVersion::any;
}

Method method_of(const std::string& text) {
  if (text == "HEAD") return Method::head;
  return text == "POST" ? Method::post : Method::get;
}

}  // namespace

const char* to_string(Pattern pattern) { return pattern == Pattern::lean ? "lean" : "wrk"; }

const char* to_string(Method method) {
  switch (method) {
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    default:
      return "GET";
  }
}

bool is_endpoint(const std::string& server) { return server.find("://") != std::string::npos; }

LoadSettings load_settings(const Options& options) {
  LoadSettings load;
  settle_counts(options, load);
  load.duration_ns = options.integer("duration");
  load.timeout_ns = options.integer("timeout");
  load.pipeline = static_cast<std::size_t>(options.integer("pipeline"));
  settle_rate(options, load);
  load.method = method_of(options.text("method"));
  load.body_bytes = static_cast<std::size_t>(options.integer("body-size"));
  if (load.body_bytes > 0 && load.method != Method::post) {
    throw usage_error("body-size: only POST has a body", "add --method=POST");
  }
  if (options.has("header")) load.headers = options.list("header");
  for (const std::string& header : load.headers) check_header(header);
  if (options.has("path")) {
    for (const std::string& text : options.list("path")) load.paths.push_back(parse_path(text));
  }
  load.tls_version = tls_version_of(options.text("tls-version"));
  load.tls_sessions = options.text("tls-sessions") == "reuse";
  load.show_latency = options.flag("latency");
  load.server_pid = options.has("server-pid") ? options.integer("server-pid") : 0;
  return load;
}

ServerSettings server_settings(const Options& options) {
  ServerSettings server;
  const std::string& kind = options.text("server");
  if (kind == "nginx") {
    server.kind = ServerKind::nginx;
  } else if (kind == "embedded") {
    server.kind = ServerKind::embedded;
  } else if (kind != "auto" && !is_endpoint(kind)) {
    throw usage_error(fmt::format("server: \"{}\" is not known", kind),
                      "expected nginx, embedded, auto, or the URL of one that runs");
  }
  const std::string& listen = options.text("listen");
  if (listen == "unix") server.listen = Listen::unix_socket;
  if (listen == "::1") server.listen = Listen::ipv6;
  server.port = static_cast<std::uint16_t>(options.integer("port"));
  const bool on_unix_socket = server.listen == Listen::unix_socket;
  if (on_unix_socket && server.port != 0) throw usage_error("port: a unix socket has none");
  server.workers = static_cast<std::size_t>(options.integer("server-workers"));
  server.tls = options.flag("tls");
  server.access_log = options.flag("access-log");
  server.reuseport = options.text("accept") == "reuseport";
  if (on_unix_socket && server.reuseport) {
    throw usage_error("accept: a unix socket cannot be shared out by SO_REUSEPORT");
  }
  server.keepalive_requests = static_cast<std::uint64_t>(options.integer("keepalive-requests"));
  for (const std::string& text : options.list("file-size")) {
    server.file_sizes.push_back(parse_bytes(text));
    if (server.file_sizes.back() > (1ULL << 30U)) throw usage_error("file-size: at most 1g");
  }
  std::vector<std::uint64_t> sorted = server.file_sizes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw usage_error("file-size: a size is given twice",
                      "weights are given by --path=3:/4096.html");
  }
  return server;
}

void refuse_server_options(const Options& options) {
  for (const char* name : {"listen", "port", "server-workers", "tls", "access-log", "accept",
                           "keepalive-requests", "file-size"}) {
    if (options.given(name)) {
      throw usage_error(fmt::format("{}: an option of a server that krepro starts, and a URL names "
                                    "one that runs",
                                    name),
                        "leave one of them out");
    }
  }
  // Under the suite, `server` is where the profile's own server was started.
  if (options.given("server") && !is_endpoint(options.text("server"))) {
    throw usage_error("url and server name a server each", "leave one of them out");
  }
}

std::string file_path(const std::vector<std::uint64_t>& sizes, std::size_t index) {
  return sizes.size() == 1 ? "/test.html" : fmt::format("/{}.html", sizes[index]);
}

std::string request_text(const LoadSettings& load, const Url& url, const std::string& path) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", to_string(load.method), path);
  if (!has_header(load.headers, "host")) text += fmt::format("Host: {}\r\n", url.host_header);
  for (const std::string& header : load.headers) text += header + "\r\n";
  if (load.method == Method::post) text += fmt::format("Content-Length: {}\r\n", load.body_bytes);
  text += "\r\n";
  if (load.method == Method::post) text.append(load.body_bytes, 'x');
  return text;
}

std::vector<WeightedPath> requested_paths(const LoadSettings& load, const Url& url, bool own_server,
                                          const ServerSettings& server) {
  if (!load.paths.empty()) return load.paths;
  if (!own_server) return {{url.path, 1}};
  std::vector<WeightedPath> paths;
  for (std::size_t i = 0; i < server.file_sizes.size(); ++i) {
    paths.push_back({file_path(server.file_sizes, i), 1});
  }
  return paths;
}

}  // namespace krepro::http
