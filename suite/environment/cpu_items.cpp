// Items about the CPUs: model, how many and how they share caches (from sysfs; placements use
// hwloc, suite/placement), clocks and idle states.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "common/affinity/cpu_set.h"
#include "common/base/error.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

constexpr const char* cpu_directory = "/sys/devices/system/cpu";

std::string cpu_path(int cpu, const std::string& file) {
  return fmt::format("{}/cpu{}/{}", cpu_directory, cpu, file);
}

CpuSet online_cpus(const HostFiles& host) {
  try {
    return CpuSet::parse(host.read_line(std::string(cpu_directory) + "/online").value_or(""));
  } catch (const Error&) {
    return {};
  }
}

/// x86 has a name; arm64 has numbers only, which are kept as such.
Finding model_item(const HostFiles& host) {
  Finding name = field_of(host, "/proc/cpuinfo", "model name");
  if (!name.value.is_null()) return name;
  Finding implementer = field_of(host, "/proc/cpuinfo", "CPU implementer");
  Finding part = field_of(host, "/proc/cpuinfo", "CPU part");
  if (implementer.value.is_string() && part.value.is_string()) {
    return found(fmt::format("implementer {} part {}", implementer.value.get<std::string>(),
                             part.value.get<std::string>()),
                 "/proc/cpuinfo");
  }
  return name;
}

Finding online_count_item(const HostFiles& host) {
  const CpuSet online = online_cpus(host);
  const std::string source = std::string(cpu_directory) + "/online";
  if (online.empty()) return not_found("absent", source);
  return found(online.size(), source);
}

/// The distinct texts of a topology file: as many as there are cores, packages ...
Finding count_distinct(const HostFiles& host, const std::string& file) {
  std::set<std::string> texts;
  const CpuSet online = online_cpus(host);
  for (const int cpu : online.cpus()) {
    if (const auto text = host.read_line(cpu_path(cpu, file))) texts.insert(*text);
  }
  const std::string source = fmt::format("{}/cpu*/{}", cpu_directory, file);
  if (texts.empty()) return not_found("absent", source);
  return found(texts.size(), source);
}

/// The deepest cache of a CPU that holds data: its index directory, or "".
std::string last_level_cache(const HostFiles& host, int cpu) {
  std::string deepest;
  std::int64_t deepest_level = 0;
  for (const std::string& name : host.list(cpu_path(cpu, "cache"))) {
    const std::string index = cpu_path(cpu, "cache/" + name);
    const std::int64_t level = host.read_number(index + "/level").value_or(0);
    if (host.read_line(index + "/type") != "Instruction" && level > deepest_level) {
      deepest = index;
      deepest_level = level;
    }
  }
  return deepest;
}

/// Ids of caches need not be contiguous, nor be there: the lists of CPUs tell the caches apart.
Finding llcs_item(const HostFiles& host) {
  nlohmann::json sizes = nlohmann::json::object();
  const CpuSet online = online_cpus(host);
  for (const int cpu : online.cpus()) {
    const std::string index = last_level_cache(host, cpu);
    if (index.empty()) continue;
    const std::string shared = host.read_line(index + "/shared_cpu_list").value_or("");
    if (!shared.empty()) sizes[shared] = host.read_line(index + "/size").value_or("");
  }
  const std::string source = fmt::format("{}/cpu*/cache", cpu_directory);
  if (sizes.empty()) return not_found("absent", source);
  return found(std::move(sizes), source);
}

Finding nodes_item(const HostFiles& host) {
  const std::string directory = "/sys/devices/system/node";
  nlohmann::json nodes = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    if (!name.starts_with("node")) continue;
    if (const auto cpus = host.read_line(directory + "/" + name + "/cpulist")) nodes[name] = *cpus;
  }
  if (nodes.empty()) return not_found("absent", directory);
  return found(std::move(nodes), directory);
}

Finding smt_item(const HostFiles& host) {
  Finding active = number_of(host, std::string(cpu_directory) + "/smt/active");
  if (active.value.is_number()) active.value = active.value.get<std::int64_t>() != 0;
  return active;
}

Finding boost_item(const HostFiles& host) {
  Finding boost = number_of(host, std::string(cpu_directory) + "/cpufreq/boost");
  if (!boost.value.is_null()) return boost;
  Finding no_turbo = number_of(host, std::string(cpu_directory) + "/intel_pstate/no_turbo");
  if (no_turbo.value.is_number()) {
    no_turbo.value = no_turbo.value.get<std::int64_t>() == 0 ? 1 : 0;
    return no_turbo;
  }
  return boost;
}

}  // namespace

std::vector<EnvironmentItem> cpu_items() {
  using Host = const HostFiles&;
  return {
      {"cpu.model", model_item},
      {"cpu.microcode", [](Host host) { return field_of(host, "/proc/cpuinfo", "microcode"); }},
      {"cpu.online",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/online"); }},
      {"cpu.count_online", online_count_item},
      {"cpu.isolated",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/isolated"); }},
      {"cpu.nohz_full",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/nohz_full"); }},
      {"cpu.packages",
       [](Host host) { return count_distinct(host, "topology/package_cpus_list"); }},
      {"cpu.cores",
       [](Host host) { return count_distinct(host, "topology/thread_siblings_list"); }},
      {"cpu.llcs", llcs_item},
      {"cpu.numa_nodes", nodes_item},
      {"cpu.smt_active", smt_item},
      {"cpu.smt_control",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/smt/control"); }},
      {"cpu.governor", [](Host host) { return per_cpu(host, "cpufreq/scaling_governor"); }},
      {"cpu.frequency_driver", [](Host host) { return per_cpu(host, "cpufreq/scaling_driver"); }},
      {"cpu.frequency_min_khz",
       [](Host host) { return per_cpu(host, "cpufreq/scaling_min_freq"); }},
      {"cpu.frequency_max_khz",
       [](Host host) { return per_cpu(host, "cpufreq/scaling_max_freq"); }},
      {"cpu.energy_preference",
       [](Host host) { return per_cpu(host, "cpufreq/energy_performance_preference"); }},
      {"cpu.boost", boost_item},
      {"cpu.idle_driver",
       [](Host host) {
         return line_of(host, std::string(cpu_directory) + "/cpuidle/current_driver");
       }},
      {"cpu.idle_governor",
       [](Host host) {
         return first_line_of(host, {std::string(cpu_directory) + "/cpuidle/current_governor",
                                     std::string(cpu_directory) + "/cpuidle/current_governor_ro"});
       }},
  };
}

}  // namespace krepro
