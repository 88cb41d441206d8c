// Sums over threads; see http_sample.h.
#include "generators/http/http_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/affinity/cpu_set.h"
#include "common/base/units.h"

namespace krepro::http {

namespace {

struct Sums {
  std::uint64_t started = 0;
  std::uint64_t in_time = 0;
  std::uint64_t bytes_in_time = 0;
  std::uint64_t opened = 0;
  std::uint64_t reopened = 0;
  std::uint64_t retried = 0;
  std::uint64_t repeated = 0;
  std::uint64_t dropped = 0;
  std::uint64_t resumed = 0;
  std::uint64_t waits = 0;
  std::uint64_t events = 0;
  std::uint64_t unsent = 0;
  std::uint64_t in_flight = 0;
  std::int64_t oldest_ns = 0;
  std::int64_t last_ns = 0;
  std::array<std::uint64_t, 6> statuses{};
};

Sums sums_of(const std::vector<const LoadResult*>& results, bool open_loop) {
  Sums sums;
  for (const LoadResult* result : results) {
    sums.started += result->started;
    sums.in_time += open_loop ? result->in_time : result->operations;
    sums.bytes_in_time += open_loop ? result->bytes_in_time : result->bytes;
    sums.opened += result->opened;
    sums.reopened += result->reopened;
    sums.retried += result->retried;
    sums.repeated += result->repeated;
    sums.dropped += result->dropped;
    sums.resumed += result->resumed;
    sums.waits += result->waits;
    sums.events += result->events;
    sums.unsent += result->unsent;
    sums.in_flight += result->in_flight;
    sums.oldest_ns = std::max(sums.oldest_ns, result->oldest_ns);
    sums.last_ns = std::max(sums.last_ns, result->last_ns);
    for (std::size_t i = 0; i < sums.statuses.size(); ++i) {
      sums.statuses[i] += result->statuses[i];
    }
  }
  return sums;
}

double per(double amount, std::uint64_t operations) {
  return operations == 0 ? 0 : amount / static_cast<double>(operations);
}

void fill_latencies(Sample& sample, const LoadPlan& plan,
                    const std::vector<const LoadResult*>& results) {
  for (const LoadResult* result : results) {
    sample.latency["service"].merge(result->service);
    if (plan.settings.open_loop()) sample.latency["response"].merge(result->response);
    sample.latency["connect"].merge(result->connect);
    if (plan.tls != nullptr) sample.latency["tls_handshake"].merge(result->handshake);
    if (result->failed.count() > 0) sample.latency["service_of_errors"].merge(result->failed);
    if (result->refused.count() > 0) sample.latency["response_of_errors"].merge(result->refused);
  }
}

void fill_series(Sample& sample, const std::vector<const LoadResult*>& results) {
  std::size_t seconds = 0;
  for (const LoadResult* result : results) seconds = std::max(seconds, result->series.length());
  sample.series.assign(seconds, 0);
  for (const LoadResult* result : results) {
    for (std::size_t i = 0; i < result->series.length(); ++i) {
      sample.series[i] += result->series.slots()[i];
    }
  }
}

void note_rate(Sample& sample, const LoadPlan& plan, const Sums& sums) {
  const double asked = plan.settings.rate;
  const double achieved = sample.metrics.at("requests/s").value;
  // Poisson arrivals differ from their mean by the square root of their number.
  const double expected = asked * static_cast<double>(plan.settings.duration_ns) / 1e9;
  const double tolerance =
      plan.settings.arrivals == Arrivals::poisson ? 3 / std::sqrt(std::max(1.0, expected)) : 0;
  const bool met = achieved >= asked * (1 - std::max(0.02, tolerance));
  sample.asked["rate"] = asked;
  sample.achieved["rate"] = achieved;
  sample.achieved["rate_met"] = met;
  sample.extra["unsent"] = sums.unsent;
  sample.extra["last_response_ns"] = sums.last_ns;
  if (!met) {
    sample.notes.push_back(fmt::format("the rate was not met: {} of {} requests/s",
                                       format_count(achieved), format_count(asked)));
  }
  if (sums.unsent > 0) {
    sample.notes.push_back(
        fmt::format("{} requests that were due were never sent: no connection was free for them",
                    format_grouped(sums.unsent)));
  }
}

std::string latency_line(const Sample& sample, const char* name, double share) {
  return fmt::format("{:>7.4g}% {:>10}\n", share * 100,
                     format_percentile(sample.latency.at(name), share));
}

std::string error_lines(const Sample& sample) {
  std::string text;
  for (const auto& [kind, count] : sample.errors) {
    if (kind == "status") {
      text += fmt::format("  Non-2xx or 3xx responses: {}\n", count);
    } else {
      text += fmt::format("  errors, {}: {}\n", kind, format_grouped(count));
    }
  }
  return text;
}

/// "user 0.9 us, system 7.2 us, 0.01 switches a request".
std::string cost_line(const Sample& sample, const std::string& prefix) {
  const auto value = [&](const char* name) { return sample.metrics.at(prefix + name).value; };
  return fmt::format("user {}, system {}, {:.4f} switches a request\n",
                     format_duration(value("user_time/request")),
                     format_duration(value("system_time/request")), value("switches/request"));
}

}  // namespace

void fill_sample(Sample& sample, const LoadPlan& plan,
                 const std::vector<const LoadResult*>& results) {
  const Sums sums = sums_of(results, plan.settings.open_loop());
  for (const LoadResult* result : results) {
    sample.operations += result->operations;
    sample.duration_ns = std::max(sample.duration_ns, result->end_ns);
    for (std::size_t i = 0; i < failure_count; ++i) {
      if (result->failures[i] > 0) sample.errors[failure_names[i]] += result->failures[i];
    }
  }
  const double seconds = static_cast<double>(std::max<std::int64_t>(1, sample.duration_ns)) / 1e9;
  sample.metrics["requests/s"] = {static_cast<double>(sums.in_time) / seconds, "1/s", true, true};
  sample.metrics["bytes/s"] = {static_cast<double>(sums.bytes_in_time) / seconds, "bytes/s", true,
                               false};
  sample.metrics["events/wait"] = {per(static_cast<double>(sums.events), sums.waits), "1", true,
                                   false};
  fill_latencies(sample, plan, results);
  fill_series(sample, results);
  sample.asked["connections"] = plan.settings.asked_connections;
  sample.achieved["connections"] = sums.opened;
  sample.asked["threads"] = plan.settings.asked_threads;
  sample.achieved["threads"] = results.size();
  sample.extra["pattern"] = to_string(plan.settings.pattern);
  sample.extra["requests"] = {{"started", sums.started},
                              {"done", sample.operations},
                              {"dropped", sums.dropped},
                              {"in_flight_at_the_end", sums.in_flight},
                              {"oldest_in_flight_ns", sums.oldest_ns},
                              {"repeated", sums.repeated}};
  sample.extra["connections"] = {{"opened", sums.opened},
                                 {"reopened", sums.reopened},
                                 {"retried", sums.retried},
                                 {"tls_sessions_resumed", sums.resumed}};
  if (sums.retried > 0) {
    sample.notes.push_back(
        fmt::format("{} connections were opened again late, by 100 ms or more: the queue of the "
                    "server's unix socket was full",
                    format_grouped(sums.retried)));
  }
  for (std::size_t i = 1; i < sums.statuses.size(); ++i) {
    if (sums.statuses[i] > 0) sample.extra["statuses"][fmt::format("{}xx", i)] = sums.statuses[i];
  }
  sample.extra["sequence"] = plan.sequence_digest();
  if (plan.settings.open_loop()) note_rate(sample, plan, sums);
}

void fill_cpu_metrics(Sample& sample, const WorkerPool::Usage& usage) {
  const auto switches = static_cast<double>(usage.voluntary_switches + usage.involuntary_switches);
  sample.metrics["user_time/request"] = {per(usage.user_ns, sample.operations), "ns", false, false};
  sample.metrics["system_time/request"] = {per(usage.system_ns, sample.operations), "ns", false,
                                           false};
  sample.metrics["switches/request"] = {per(switches, sample.operations), "1", false, false};
  const double cpu_share = (usage.user_ns + usage.system_ns) /
                           static_cast<double>(std::max<std::int64_t>(1, sample.duration_ns));
  sample.extra["load_cpus_used"] = cpu_share;
  const auto threads = sample.achieved.value("threads", std::uint64_t{1});
  const auto cpus = static_cast<std::uint64_t>(CpuSet::allowed().size());
  if (cpu_share > 0.95 * static_cast<double>(std::min(threads, cpus))) {
    sample.notes.emplace_back(
        "the load's threads were busy all the time: they, and not the server, "
        "may be the limit");
  }
}

void fill_server_metrics(Sample& sample, const ProcessAccounts& before,
                         const ProcessAccounts& after) {
  if (after.processes != before.processes) {
    sample.notes.emplace_back(
        "processes of the server came or went during the load: its CPU time and switches are not "
        "told");
    return;
  }
  const auto switches = [](const ProcessAccounts& accounts) {
    return static_cast<double>(accounts.voluntary_switches + accounts.involuntary_switches);
  };
  const std::uint64_t operations = sample.operations;
  sample.metrics["server_user_time/request"] = {per(after.user_ns - before.user_ns, operations),
                                                "ns", false, false};
  sample.metrics["server_system_time/request"] = {
      per(after.system_ns - before.system_ns, operations), "ns", false, false};
  sample.metrics["server_switches/request"] = {per(switches(after) - switches(before), operations),
                                               "1", false, false};
  sample.extra["server_processes"] = {
      {"processes", after.processes.size()},
      {"run_time_ns", after.run_ns - before.run_ns},
      {"voluntary_switches", after.voluntary_switches - before.voluntary_switches},
      {"involuntary_switches", after.involuntary_switches - before.involuntary_switches}};
}

std::string result_text(const Sample& sample, const LoadPlan& plan, const std::string& url) {
  std::string text =
      fmt::format("Running {} test @ {}\n  {} threads and {} connections\n",
                  format_duration(static_cast<double>(plan.settings.duration_ns)), url,
                  plan.settings.threads, sample.achieved.value("connections", std::uint64_t{0}));
  const char* main = plan.settings.open_loop() ? "response" : "service";
  if (plan.settings.show_latency && sample.latency.contains(main)) {
    text += fmt::format("  Latency Distribution ({} time)\n", main);
    for (const double share : {0.5, 0.75, 0.9, 0.99, 0.999}) {
      text += latency_line(sample, main, share);
    }
  }
  const auto metric = sample.metrics.find("requests/s");
  if (metric == sample.metrics.end()) {
    return text + fmt::format("No measurement: {}\n",
                              sample.truncated ? "stopped before its end" : "the load failed");
  }
  const double bytes = sample.metrics.at("bytes/s").value;
  const double seconds = static_cast<double>(sample.duration_ns) / 1e9;
  text += fmt::format("  {} requests in {:.2f}s, {} read{}\n", sample.operations, seconds,
                      format_bytes(bytes * seconds), sample.truncated ? ", truncated" : "");
  text += error_lines(sample);
  text += fmt::format("Requests/sec: {:9.2f}\nTransfer/sec: {:>10}\n\n", metric->second.value,
                      format_bytes(bytes));
  text += "  load      " + cost_line(sample, "");
  if (sample.metrics.contains("server_switches/request")) {
    text += "  server    " + cost_line(sample, "server_");
  }
  if (const auto reopened = sample.extra.at("connections").at("reopened"); reopened != 0) {
    text += fmt::format("  reopened  {} connections\n", reopened.get<std::uint64_t>());
  }
  for (const std::string& note : sample.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

}  // namespace krepro::http
