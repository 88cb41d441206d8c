// /proc/stat, /proc/pressure and /proc/vmstat as deltas.
#include "suite/counters/host_counters.h"

#include <unistd.h>

#include <array>
#include <sstream>
#include <string_view>

namespace krepro {
namespace {

/// "cpu" fields of /proc/stat in their order, in clock ticks (proc(5)).
constexpr std::array<const char*, 10> cpu_fields = {
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};
constexpr std::array<std::string_view, 5> vmstat_names = {"pgmajfault", "pswpin", "pswpout",
                                                          "numa_pages_migrated", "compact_stall"};

void read_stat(const HostFiles& host, HostCounters& counters) {
  std::istringstream text(host.read("/proc/stat").value_or(""));
  const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t value = 0;
    words >> name;
    if (name == "cpu") {
      for (const char* field : cpu_fields) {
        if (words >> value) {
          counters.values[std::string("cpu_") + field + "_ns"] = value * ns_per_tick;
        }
      }
    } else if (name == "ctxt" && words >> value) {
      counters.values["context_switches"] = value;
    } else if (name == "processes" && words >> value) {
      counters.values["forks"] = value;
    } else if (name == "intr" && words >> value) {
      counters.values["interrupts"] = value;
    }
  }
}

void read_pressure(const HostFiles& host, HostCounters& counters) {
  for (const char* resource : {"cpu", "io", "memory"}) {
    std::istringstream text(host.read(std::string("/proc/pressure/") + resource).value_or(""));
    for (std::string line; std::getline(text, line);) {
      const std::size_t total = line.find("total=");
      std::int64_t microseconds = 0;
      if (total == std::string::npos ||
          !(std::istringstream(line.substr(total + 6)) >> microseconds)) {
        continue;
      }
      const std::string kind = line.substr(0, line.find(' '));
      counters.values["pressure_" + std::string(resource) + "_" + kind + "_ns"] =
          microseconds * 1000;
    }
  }
}

void read_vmstat(const HostFiles& host, HostCounters& counters) {
  std::istringstream text(host.read("/proc/vmstat").value_or(""));
  std::string name;
  std::int64_t value = 0;
  while (text >> name >> value) {
    for (const std::string_view wanted : vmstat_names) {
      if (name == wanted) counters.values[name] = value;
    }
  }
}

}  // namespace

HostCounters read_host_counters(const HostFiles& host) {
  HostCounters counters;
  read_stat(host, counters);
  read_pressure(host, counters);
  read_vmstat(host, counters);
  return counters;
}

nlohmann::json counter_deltas(const HostCounters& before, const HostCounters& after) {
  nlohmann::json deltas = nlohmann::json::object();
  for (const auto& [name, value] : after.values) {
    const auto earlier = before.values.find(name);
    if (earlier != before.values.end()) deltas[name] = value - earlier->second;
  }
  return {{"host", std::move(deltas)}};
}

}  // namespace krepro
