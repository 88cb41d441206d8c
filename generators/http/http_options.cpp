// The tables behind --describe; see http_options.h.
#include "generators/http/http_options.h"

#include "common/base/units.h"
#include "generators/http/details.h"

namespace krepro::http {

namespace {

constexpr double day_ns = 86400e9;

Option ours(std::string name, OptionType type, std::string default_text, std::string help) {
  Option made = make_option(std::move(name), {}, type, std::move(default_text), std::move(help));
  made.origin = Origin::ours;
  return made;
}

Option one_of(std::string name, std::vector<std::string> choices, std::string help) {
  Option made = ours(std::move(name), OptionType::choice, choices.front(), std::move(help));
  made.choices = std::move(choices);
  return made;
}

Option seconds(Option made) {
  made.unit = "ns";
  made.plain_unit_ns = one_second_ns;
  return ranged(std::move(made), 1e6, day_ns);
}

/// Names and defaults of wrk 4.1.
std::vector<Option> wrk_options() {
  using enum OptionType;
  Option script = make_option("script", {"s"}, text, "",
                              "Lua script: use --path, --method, --pipeline instead");
  script.origin = Origin::refused;
  return {
      meaning(
          ranged(make_option("connections", {"c"}, integer, "10", "connections kept open, in all"),
                 1, 1e6),
          Meaning::connections),
      meaning(seconds(make_option("duration", {"d"}, duration, "10s", "length of the trial")),
              Meaning::runtime),
      meaning(ranged(make_option("threads", {"t"}, integer, "2", "threads"), 1, 4096),
              Meaning::threads),
      make_option("header", {"H"}, list, "", "header to add to each request: \"Name: value\""),
      make_option("latency", {"L"}, flag, "", "print the distribution of latencies"),
      seconds(
          make_option("timeout", {"T"}, duration, "2s", "a request that takes longer has failed")),
      script,
      make_option("url", {}, text, "", "what to load; without it a server of our own is started"),
  };
}

std::vector<Option> load_options() {
  using enum OptionType;
  Option rate_option =
      ranged(ours("rate", rate, "", "open loop: requests a second over all threads, as wrk2's"),
             1e-3, 1e9);
  rate_option.aliases = {"R"};
  rate_option.unit = "1/s";
  Option body = ranged(ours("body-size", bytes, "0", "POST: bytes of the body"), 0, 1U << 30U);
  body.unit = "bytes";
  return {
      meaning(rate_option, Meaning::rate),
      one_of("arrivals", {"constant", "poisson"}, "with a rate: when requests are due"),
      one_of("pattern", {"wrk", "lean"},
             "wrk: its system calls; lean: each connection registered once"),
      ours("wrk-rounding", flag, "",
           "open as many connections as wrk: rounded down to a multiple of the threads"),
      one_of("method", {"GET", "HEAD", "POST"}, "request method"),
      body,
      ranged(ours("pipeline", integer, "1", "requests sent at once on a connection"), 1, 1024),
      ours("path", list, "", "path to request, WEIGHT:/PATH for a share; may be repeated"),
      one_of("tls-version", {"any", "1.2", "1.3"}, "https: version to speak"),
      one_of("tls-sessions", {"reuse", "off"}, "https: sessions of connections that are reopened"),
      ranged(ours("server-pid", integer, "",
                  "process of a running server, for its CPU time and switches per request"),
             1, 4194304),
  };
}

std::vector<Option> server_options() {
  using enum OptionType;
  return {
      ours("server", text, "auto",
           "nginx, embedded, auto (nginx where installed), or the URL of a running one"),
      one_of("listen", {"127.0.0.1", "::1", "unix"}, "server: where it listens"),
      ranged(ours("port", integer, "0", "server: TCP port; 0: any free one"), 0, 65535),
      ranged(ours("server-workers", integer, "0", "server: worker processes; 0: one per CPU"), 0,
             4096),
      ours("tls", flag, "", "server: https, with an RSA-4096 certificate made at set-up"),
      ours("access-log", flag, "", "server: write an access log, as nginx does by default"),
      one_of("accept", {"shared", "reuseport"}, "server: one listening socket, or one a worker"),
      ranged(ours("keepalive-requests", integer, "1000",
                  "server: requests of a connection before it is closed, as nginx has it"),
             1, 1e12),
      ours("file-size", list, "612", "server: size of a static file; may be repeated"),
  };
}

std::vector<MetricDescription> metrics() {
  return {
      {"requests/s", "1/s", true, true, "complete responses over the trial's duration"},
      {"bytes/s", "bytes/s", true, false, "bytes read, headers included (TLS: decrypted)"},
      {"user_time/request", "ns", false, false, "CPU time of the load's threads in user mode"},
      {"system_time/request", "ns", false, false, "CPU time of the load's threads in the kernel"},
      {"switches/request", "1", false, false, "context switches of the load's threads"},
      {"events/wait", "1", true, false, "events that one epoll_wait of the load returned"},
      {"server_user_time/request", "ns", false, false, "the same of the server's processes"},
      {"server_system_time/request", "ns", false, false, ""},
      {"server_switches/request", "1", false, false, "context switches of the server's processes"},
  };
}

FidelityRow row(std::size_t workers, std::size_t connections, std::size_t size, bool tls = false) {
  FidelityRow made;
  made.name = "workers=" + std::to_string(workers) + " c=" + std::to_string(connections) +
              " size=" + std::to_string(size);
  made.options = {{"threads", std::to_string(connections == 64 ? 1 : 2)},
                  {"connections", std::to_string(connections)},
                  // wrk opens its connections within its timed run: 50 ms for a thousand.
                  {"duration", connections == 1000 ? "8s" : "2s"}};
  made.serve = {{"server", "nginx"},
                {"server-workers", std::to_string(workers)},
                {"file-size", std::to_string(size)}};
  if (tls) {
    made.name += " tls";
    made.serve.emplace_back("tls", "");
    // wrk shakes hands within its timed run, and spins until the server has signed: a third of a
    // second for 64 connections. Here connections are open before; the row must be much longer, and
    // 200 connections would have it longer still.
    made.options.back().second = "20s";
  }
  return made;
}

Original original() {
  Original result;
  result.program = "wrk";
  result.package = "wrk";
  result.version_arguments = {"--version"};
  result.figures = {{"requests/s", "Requests/sec: +([0-9.]+)", 1},
                    {"operations", "([0-9]+) requests in", 1}};
  for (const std::size_t workers : {1U, 2U}) {
    for (const std::size_t connections : {64U, 200U, 1000U}) {
      for (const std::size_t size : {612U, 4096U}) {
        result.rows.push_back(row(workers, connections, size));
      }
    }
  }
  result.rows.push_back(row(1, 64, 612, true));
  result.rows.push_back(row(2, 64, 612, true));
  result.scaling_option = "duration";
  result.operation = "request";
  result.syscall_tolerance = 0.10;
  result.cpu_tolerance = 0.07;
  return result;
}

Description describe() {
  std::vector<Option> options = wrk_options();
  for (Option& each : load_options()) options.push_back(std::move(each));
  for (Option& each : server_options()) options.push_back(std::move(each));
  return {
      .name = "http",
      .summary =
          "Requests over keep-alive connections to a web server, as wrk makes them: nginx, "
          "or a server of krepro's own.",
      .details = details,
      .metrics = metrics(),
      .options = OptionTable(std::move(options)),
      .roles = {"load", "serve"},
      .example = {{"duration", "1s"},
                  {"connections", "16"},
                  {"threads", "1"},
                  {"server-workers", "1"}},
      .long_example = {{"duration", "60s"}},
      .original = original(),
      .positional = "url",
  };
}

}  // namespace

const Description& description() {
  static const Description result = describe();
  return result;
}

}  // namespace krepro::http
