// /proc/stat and /proc/pressure.
#include "suite/counters/host_counters.h"

#include <unistd.h>

#include <array>
#include <string_view>

#include "common/base/error.h"
#include "common/base/kernel_text.h"

namespace krepro {
namespace {

/// "cpu" fields of /proc/stat in their order, in clock ticks (proc(5)).
constexpr std::array<const char*, 10> cpu_fields = {
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};
constexpr std::size_t idle_field = 3;
constexpr std::size_t iowait_field = 4;
constexpr std::size_t steal_field = 7;

void add_all_cpus(const std::vector<std::string_view>& words, HostCounters& counters) {
  const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  for (std::size_t i = 0; i < cpu_fields.size() && i + 1 < words.size(); ++i) {
    const auto ticks = number_in(words[i + 1]);
    if (!ticks) continue;
    counters.values[std::string("cpu_") + cpu_fields[i] + "_ns"] =
        static_cast<std::int64_t>(*ticks) * ns_per_tick;
  }
}

void add_cpu(int cpu, const std::vector<std::string_view>& words, HostCounters& counters) {
  CpuTicks ticks;
  // Guest time is within user time already.
  for (std::size_t i = 0; i < steal_field && i + 1 < words.size(); ++i) {
    const std::uint64_t value = number_in(words[i + 1]).value_or(0);
    ticks.total += value;
    if (i != idle_field && i != iowait_field) ticks.busy += value;
  }
  counters.cpus[cpu] = ticks;
}

void read_stat(const HostFiles& host, HostCounters& counters) {
  const std::string text = host.read("/proc/stat").value_or("");
  for (const std::string_view line : lines_of(text)) {
    // The interrupts by number, which follow their total, are a long line that nobody reads here.
    const std::vector<std::string_view> words = words_of(
        line.starts_with("intr") || line.starts_with("softirq") ? line.substr(0, 40) : line);
    if (words.size() < 2) continue;
    const auto value = number_in(words[1]);
    if (words[0] == "cpu") {
      add_all_cpus(words, counters);
    } else if (words[0].starts_with("cpu")) {
      if (const auto cpu = number_in(words[0].substr(3))) {
        add_cpu(static_cast<int>(*cpu), words, counters);
      }
    } else if (value && words[0] == "ctxt") {
      counters.values["context_switches"] = static_cast<std::int64_t>(*value);
    } else if (value && words[0] == "processes") {
      counters.values["forks"] = static_cast<std::int64_t>(*value);
    } else if (value && words[0] == "intr") {
      counters.values["interrupts"] = static_cast<std::int64_t>(*value);
    }
  }
}

void read_pressure(const HostFiles& host, HostCounters& counters) {
  for (const char* resource : {"cpu", "io", "memory", "irq"}) {
    int error_number = 0;
    const auto text = host.read(std::string("/proc/pressure/") + resource, &error_number);
    if (!text) {
      if (std::string_view(resource) != "irq") {  // Younger than the others.
        counters.pressure_problem = system_error("/proc/pressure", error_number).what();
      }
      continue;
    }
    for (const std::string_view line : lines_of(*text)) {
      const std::size_t total = line.find("total=");
      if (total == std::string_view::npos) continue;
      const auto microseconds = number_in(line.substr(total + 6));
      if (!microseconds) continue;
      counters.values["pressure_" + std::string(resource) + "_" +
                      std::string(line.substr(0, line.find(' '))) + "_ns"] =
          static_cast<std::int64_t>(*microseconds) * 1000;
    }
  }
}

}  // namespace

HostCounters read_host_counters(const HostFiles& host) {
  HostCounters counters;
  read_stat(host, counters);
  read_pressure(host, counters);
  return counters;
}

nlohmann::json moved_values(const std::map<std::string, std::int64_t>& before,
                            const std::map<std::string, std::int64_t>& after) {
  nlohmann::json deltas = nlohmann::json::object();
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier != before.end() && value > earlier->second) deltas[name] = value - earlier->second;
  }
  return deltas;
}

}  // namespace krepro
