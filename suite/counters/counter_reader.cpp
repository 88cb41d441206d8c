// The readings and their deltas.
#include "suite/counters/counter_reader.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "common/base/kernel_text.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

using nlohmann::json;

constexpr const char* schedstat_path = "/proc/schedstat";

std::string schedstat_absence(int error_number) {
  return std::string(schedstat_path) + ": " + reason_text(error_number) +
         (error_number == ENOENT ? " (the kernel has no CONFIG_SCHEDSTATS)" : "");
}

/// A group, or null with its reason in `absent`.
json group_delta(const CounterGroup& before, const CounterGroup& after, const std::string& name,
                 json& absent) {
  const std::string& problem = before.problem.empty() ? after.problem : before.problem;
  if (problem.empty() || !after.values.empty()) return moved_values(before.values, after.values);
  absent[name] = problem;
  return nullptr;
}

/// {"C1": {"entries": 5, "time_ns": 1000}}
json nested(const json& flat) {
  if (!flat.is_object()) return flat;
  json result = json::object();
  for (const auto& [name, value] : flat.items()) {
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos) result[name.substr(0, dot)][name.substr(dot + 1)] = value;
  }
  return result;
}

json perf_delta(const PerfReading& before, const PerfReading& after, const std::string& problem,
                const std::string& name, json& absent) {
  if (!problem.empty()) {
    absent[name] = problem;
    return nullptr;
  }
  json result = json::object();
  for (const auto& [counter, value] : after.values) {
    const auto earlier = before.values.find(counter);
    const double moved = earlier == before.values.end() ? 0 : value - earlier->second;
    if (moved > 0) result[counter] = static_cast<std::int64_t>(std::llround(moved));
  }
  if (after.running_share < 0.999) result["running_share"] = after.running_share;
  return result;
}

/// Busy share of each last-level cache's CPUs; of CPUs that were online all the time.
json cache_use(const std::map<int, std::string>& caches, const HostCounters& before,
               const HostCounters& after) {
  std::map<std::string, CpuTicks> sums;
  for (const auto& [cpu, cache] : caches) {
    const auto earlier = before.cpus.find(cpu);
    const auto later = after.cpus.find(cpu);
    if (earlier == before.cpus.end() || later == after.cpus.end()) continue;
    if (later->second.total < earlier->second.total || later->second.busy < earlier->second.busy) {
      continue;
    }
    sums[cache].busy += later->second.busy - earlier->second.busy;
    sums[cache].total += later->second.total - earlier->second.total;
  }
  json shares = json::object();
  for (const auto& [cache, ticks] : sums) {
    if (ticks.total == 0) continue;
    const double share = static_cast<double>(ticks.busy) / static_cast<double>(ticks.total);
    shares[cache] = std::round(share * 1e4) / 1e4;
  }
  return shares;
}

}  // namespace

CounterReader::CounterReader(const HostFiles& host)
    : host_(host),
      caches_(last_level_caches(host)),
      idle_states_(find_idle_states(host)),
      disks_(whole_disks(host)) {
  if (host.real("/") != "/") {
    perf_problem_ = "the files are not those of this machine";
    return;
  }
  std::vector<int> cpus;
  for (const auto& [cpu, ticks] : read_host_counters(host).cpus) cpus.push_back(cpu);
  perf_ = HostPerf::open(cpus, host);
}

void CounterReader::read_slow(CounterReading& reading) const {
  reading.interrupts = read_interrupts(host_);
  reading.idle = read_idle_states(host_, idle_states_);
  reading.disks = read_disks(host_, disks_);
  reading.network = read_network(host_);
  reading.vmstat = read_vmstat(host_);
  reading.softirqs = read_softirqs(host_);
}

void CounterReader::read_fast(CounterReading& reading) const {
  int error_number = 0;
  reading.schedstat = host_.read(schedstat_path, &error_number).value_or("");
  if (error_number != 0) reading.schedstat_problem = schedstat_absence(error_number);
  reading.software = perf_.read_software();
  reading.hardware = perf_.read_hardware();
  reading.host = read_host_counters(host_);
}

CounterReading CounterReader::read_before() const {
  CounterReading reading;
  read_slow(reading);
  read_fast(reading);
  reading.at_ns = now_ns();
  return reading;
}

CounterReading CounterReader::read_after() const {
  CounterReading reading;
  reading.at_ns = now_ns();
  read_fast(reading);
  read_slow(reading);
  return reading;
}

json CounterReader::deltas(const CounterReading& before, const CounterReading& after) const {
  json absent = json::object();
  json result = {{"window_ns", after.at_ns - before.at_ns},
                 {"host", moved_values(before.host.values, after.host.values)}};
  if (!after.host.pressure_problem.empty()) absent["pressure"] = after.host.pressure_problem;
  std::string problem = after.schedstat_problem;
  result["schedstat"] = problem.empty() ? schedstat_delta(parse_schedstat(before.schedstat),
                                                          parse_schedstat(after.schedstat), problem)
                                        : json();
  if (!problem.empty()) absent["schedstat"] = problem;
  result["vmstat"] = group_delta(before.vmstat, after.vmstat, "vmstat", absent);
  result["softirqs"] = group_delta(before.softirqs, after.softirqs, "softirqs", absent);
  result["interrupts"] = group_delta(before.interrupts, after.interrupts, "interrupts", absent);
  result["network"] = group_delta(before.network, after.network, "network", absent);
  result["idle"] = nested(group_delta(before.idle, after.idle, "idle", absent));
  result["disks"] = json::object();
  for (const auto& [name, disk] : after.disks) {
    const auto earlier = before.disks.find(name);
    if (earlier == before.disks.end()) continue;
    json moved = moved_values(earlier->second.values, disk.values);
    if (!moved.empty()) result["disks"][name] = std::move(moved);
  }
  result["llc_busy"] = cache_use(caches_, before.host, after.host);
  if (caches_.empty()) {
    result["llc_busy"] = nullptr;
    absent["llc_busy"] = "/sys/devices/system/cpu/cpu*/cache: absent";
  }
  const bool foreign = !perf_problem_.empty();
  result["software"] =
      perf_delta(before.software, after.software,
                 foreign ? perf_problem_ : perf_.software_problem(), "software", absent);
  result["hardware"] =
      perf_delta(before.hardware, after.hardware,
                 foreign ? perf_problem_ : perf_.hardware_problem(), "hardware", absent);
  if (!absent.empty()) result["absent"] = std::move(absent);
  return result;
}

std::string CounterReader::unknown_schedstat() const {
  std::string text = host_.read(schedstat_path).value_or("");
  const Schedstat parsed = parse_schedstat(text);
  const bool unknown = !parsed.problem.empty() && !parsed.cpus.empty();
  return unknown ? text : std::string();
}

}  // namespace krepro
