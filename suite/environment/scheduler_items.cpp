// Items about the scheduler: what can be set at run time, in sysctls and in debugfs, and whether
// another one is loaded. Debugfs needs root, and may be refused even to root.
#include "suite/environment/findings.h"

namespace krepro {
namespace {

constexpr const char* debug_directory = "/sys/kernel/debug/sched";

/// A number in debugfs; where the whole of debugfs is not there, that is the reason.
Finding debug_number(const HostFiles& host, const std::string& name) {
  const std::string path = std::string(debug_directory) + "/" + name;
  Finding number = number_of(host, path);
  if (number.value.is_null() && number.reason == "absent" && !host.exists(debug_directory)) {
    number.reason = host.list("/sys/kernel/debug").empty()
                        ? "debugfs is not mounted, empty, or not readable by this user"
                        : "this kernel has no such directory";
  }
  return number;
}

Finding debug_text(const HostFiles& host, const std::string& name) {
  Finding text = line_of(host, std::string(debug_directory) + "/" + name);
  if (text.value.is_null()) text.reason = debug_number(host, name).reason;
  return text;
}

/// The domains of the first CPU from the inside out, with their flags: {"MC": "SD_BALANCE_NEWIDLE
/// ..."}. CPUs of one machine hardly differ.
Finding domains_item(const HostFiles& host) {
  const std::string directory = std::string(debug_directory) + "/domains/cpu0";
  nlohmann::json domains = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    if (!name.starts_with("domain")) continue;
    const std::string path = directory + "/" + name;
    nlohmann::json domain = nlohmann::json::object();
    for (const char* file : {"flags", "imbalance_pct", "busy_factor", "cache_nice_tries",
                             "min_interval", "max_interval"}) {
      if (const auto text = host.read_line(path + "/" + file)) domain[file] = number_or_text(*text);
    }
    domains[host.read_line(path + "/name").value_or(name)] = std::move(domain);
  }
  if (domains.empty()) {
    return not_found(debug_number(host, "domains/cpu0/domain0/name").reason, directory);
  }
  return found(std::move(domains), directory);
}

/// Every number directly in a directory of debugfs.
Finding debug_directory_item(const HostFiles& host, const std::string& name) {
  Finding values = directory_of(host, std::string(debug_directory) + "/" + name);
  if (values.value.is_null()) values.reason = debug_number(host, name).reason;
  return values;
}

/// fair_server/cpuN/{runtime,period} of the first CPU.
Finding fair_server_item(const HostFiles& host) {
  return debug_directory_item(host, "fair_server/cpu0");
}

/// The name of a loaded sched_ext scheduler; "none" where the kernel could have one.
Finding extension_item(const HostFiles& host) {
  const std::string state_path = "/sys/kernel/sched_ext/state";
  const Finding state = line_of(host, state_path);
  const Finding ops = line_of(host, "/sys/kernel/sched_ext/root/ops");
  if (!ops.value.is_null()) return ops;
  if (state.value.is_null()) return state;
  return state.value == "disabled" ? found("none", state_path) : state;
}

}  // namespace

std::vector<EnvironmentItem> scheduler_items() {
  using Host = const HostFiles&;
  return {
      {"scheduler.autogroup",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_autogroup_enabled"); }},
      {"scheduler.numa_balancing",
       [](Host host) { return number_of(host, "/proc/sys/kernel/numa_balancing"); }},
      {"scheduler.schedstats",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_schedstats"); }},
      {"scheduler.energy_aware",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_energy_aware"); }},
      {"scheduler.rt_runtime_us",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_rt_runtime_us"); }},
      {"scheduler.bandwidth_slice_us",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_cfs_bandwidth_slice_us"); }},
      {"scheduler.uclamp_min",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_util_clamp_min"); }},
      {"scheduler.uclamp_max",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_util_clamp_max"); }},
      {"scheduler.features", [](Host host) { return debug_text(host, "features"); }},
      {"scheduler.base_slice_ns", [](Host host) { return debug_number(host, "base_slice_ns"); }},
      {"scheduler.min_granularity_ns",
       [](Host host) { return debug_number(host, "min_granularity_ns"); }},
      {"scheduler.migration_cost_ns",
       [](Host host) { return debug_number(host, "migration_cost_ns"); }},
      {"scheduler.nr_migrate", [](Host host) { return debug_number(host, "nr_migrate"); }},
      {"scheduler.tunable_scaling",
       [](Host host) { return debug_number(host, "tunable_scaling"); }},
      {"scheduler.numa_balancing_tunables",
       [](Host host) { return debug_directory_item(host, "numa_balancing"); }},
      {"scheduler.fair_server", fair_server_item},
      {"scheduler.domains", domains_item},
      {"scheduler.extension", extension_item},
      {"scheduler.extension_enables",
       [](Host host) { return number_of(host, "/sys/kernel/sched_ext/enable_seq"); }},
  };
}

}  // namespace krepro
