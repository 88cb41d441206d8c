// Items about the CPUs: model, how many and how they share caches (from sysfs; placements use
// hwloc, suite/placement), clocks and idle states.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "common/affinity/cpu_set.h"
#include "common/base/error.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

constexpr const char* cpu_directory = "/sys/devices/system/cpu";

std::string cpu_path(int cpu, const std::string& file) {
  return fmt::format("{}/cpu{}/{}", cpu_directory, cpu, file);
}

CpuSet listed_or_none(const std::string& list) {
  try {
    return CpuSet::parse(list);
  } catch (const Error&) {
    return {};
  }
}

CpuSet online_cpus(const HostFiles& host) {
  return listed_or_none(host.read_line(std::string(cpu_directory) + "/online").value_or(""));
}

/// x86 has a name; arm64 has numbers only, which are kept as such.
Finding model_item(const HostFiles& host) {
  Finding name = cpuinfo_field(host, "model name");
  if (!name.value.is_null()) return name;
  Finding implementer = cpuinfo_field(host, "CPU implementer");
  Finding part = cpuinfo_field(host, "CPU part");
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

/// How many cores, packages ... there are, by lists of the CPUs that share one: a CPU of a list
/// that was read already is not asked again.
Finding count_groups(const HostFiles& host, const std::string& file) {
  std::set<int> covered;
  std::size_t groups = 0;
  const CpuSet online = online_cpus(host);
  for (const int cpu : online.cpus()) {
    if (covered.contains(cpu)) continue;
    const auto text = host.read_line(cpu_path(cpu, file));
    if (!text) continue;
    ++groups;
    const CpuSet members = listed_or_none(*text);
    covered.insert(members.cpus().begin(), members.cpus().end());
  }
  const std::string source = fmt::format("{}/cpu*/{}", cpu_directory, file);
  if (groups == 0) return not_found("absent", source);
  return found(groups, source);
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
  std::set<int> covered;
  const CpuSet online = online_cpus(host);
  for (const int cpu : online.cpus()) {
    if (covered.contains(cpu)) continue;
    const std::string index = last_level_cache(host, cpu);
    if (index.empty()) continue;
    const std::string shared = host.read_line(index + "/shared_cpu_list").value_or("");
    if (shared.empty()) continue;
    sizes[shared] = host.read_line(index + "/size").value_or("");
    const CpuSet members = listed_or_none(shared);
    covered.insert(members.cpus().begin(), members.cpus().end());
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

/// The first CPU's idle states from the lightest: {"C6": {"latency_us": 133, "disabled": 0}}.
Finding idle_states_item(const HostFiles& host) {
  const std::string directory = cpu_path(0, "cpuidle");
  nlohmann::json states = nlohmann::json::array();
  for (const std::string& name : host.list(directory)) {
    if (!name.starts_with("state")) continue;
    const std::string path = directory + "/" + name;
    states.push_back({{"name", host.read_line(path + "/name").value_or(name)},
                      {"latency_us", host.read_number(path + "/latency").value_or(0)},
                      {"residency_us", host.read_number(path + "/residency").value_or(0)},
                      {"disabled", host.read_number(path + "/disable").value_or(0)}});
  }
  if (states.empty()) return not_found("absent", directory);
  return found(std::move(states), directory);
}

/// How often the CPUs were throttled for heat since boot, over all of them.
Finding throttle_item(const HostFiles& host) {
  std::int64_t total = 0;
  bool any = false;
  const CpuSet online = online_cpus(host);
  for (const int cpu : online.cpus()) {
    const auto count = host.read_number(cpu_path(cpu, "thermal_throttle/core_throttle_count"));
    // What one CPU has not, the others have not.
    if (!count) break;
    any = true;
    total += *count;
  }
  const std::string source =
      fmt::format("{}/cpu*/thermal_throttle/core_throttle_count", cpu_directory);
  if (!any) return not_found("absent", source);
  return found(total, source);
}

/// What the scheduler scales utilisation by: counters of the CPU, or nothing.
Finding frequency_invariance_item(const HostFiles& host) {
  const Finding flags = cpuinfo_field(host, "flags");
  if (flags.value.is_string()) {
    return has_word(flags.value.get<std::string>(), "aperfmperf")
               ? found("by APERF and MPERF", "/proc/cpuinfo: flag aperfmperf")
               : found("none", "/proc/cpuinfo: no flag aperfmperf");
  }
  const std::string counters = cpu_path(0, "acpi_cppc/feedback_ctrs");
  if (host.exists(counters)) return found("by CPPC counters", counters);
  return not_found("neither the flag aperfmperf nor CPPC counters", "/proc/cpuinfo, " + counters);
}

/// The latency in us that something asks the CPUs for, which keeps them out of deep idle states.
Finding latency_request_item(const HostFiles& host) {
  const std::string path = "/dev/cpu_dma_latency";
  int error_number = 0;
  const auto bytes = host.read_start(path, sizeof(std::int32_t), &error_number);
  if (!bytes) return not_found(reason_text(error_number), path);
  if (bytes->size() != sizeof(std::int32_t)) return not_found("not in the known form", path);
  std::int32_t latency_us = 0;
  std::memcpy(&latency_us, bytes->data(), sizeof latency_us);
  constexpr std::int32_t no_request_us = 2'000'000'000;
  return found(latency_us == no_request_us ? nlohmann::json("none") : nlohmann::json(latency_us),
               path);
}

Finding haltpoll_item(const HostFiles& host) {
  nlohmann::json values = nlohmann::json::object();
  for (const char* module : {"haltpoll", "cpuidle_haltpoll"}) {
    const std::string directory = fmt::format("/sys/module/{}/parameters", module);
    for (const std::string& name : host.list(directory)) {
      const auto text = host.read_line(directory + "/" + name);
      if (text) values[name] = number_or_text(*text);
    }
  }
  const std::string source = "/sys/module/{haltpoll,cpuidle_haltpoll}/parameters";
  if (values.empty()) return not_found("absent", source);
  return found(std::move(values), source);
}

}  // namespace

std::vector<EnvironmentItem> cpu_items() {
  using Host = const HostFiles&;
  return {
      {"cpu.model", model_item},
      {"cpu.microcode", [](Host host) { return cpuinfo_field(host, "microcode"); }},
      {"cpu.online",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/online"); }},
      {"cpu.count_online", online_count_item},
      {"cpu.isolated",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/isolated"); }},
      {"cpu.nohz_full",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/nohz_full"); }},
      {"cpu.packages", [](Host host) { return count_groups(host, "topology/package_cpus_list"); }},
      {"cpu.cores", [](Host host) { return count_groups(host, "topology/thread_siblings_list"); }},
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
      {"cpu.pstate_status",
       [](Host host) {
         return first_line_of(host, {std::string(cpu_directory) + "/intel_pstate/status",
                                     std::string(cpu_directory) + "/amd_pstate/status"});
       }},
      {"cpu.capacity", [](Host host) { return per_cpu(host, "cpu_capacity"); }},
      {"cpu.part", [](Host host) { return per_cpu(host, "regs/identification/midr_el1"); }},
      {"cpu.frequency_invariance", frequency_invariance_item},
      {"cpu.latency_request_us", latency_request_item},
      {"cpu.throttle_count", throttle_item},
      {"cpu.idle_states", idle_states_item},
      {"cpu.haltpoll", haltpoll_item},
      {"cpu.offline",
       [](Host host) { return line_of(host, std::string(cpu_directory) + "/offline"); }},
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
