// Items about the machine as a whole: what it is, virtualisation, and what else it was doing when
// the run began.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "suite/counters/host_counters.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

Finding host_name_item(const HostFiles& host) {
  Finding name = line_of(host, "/proc/sys/kernel/hostname");
  name.identity = true;
  return name;
}

Finding host_id_item(const HostFiles& host) {
  Finding id = line_of(host, "/etc/machine-id");
  id.identity = true;
  return id;
}

Finding host_model_item(const HostFiles& host) {
  Finding product =
      first_line_of(host, {"/sys/class/dmi/id/product_name", "/proc/device-tree/model"});
  const std::optional<std::string> vendor = host.read_line("/sys/class/dmi/id/sys_vendor");
  if (product.value.is_string() && vendor && !vendor->empty()) {
    product.value = fmt::format("{} {}", *vendor, product.value.get<std::string>());
  }
  return product;
}

/// A hypervisor that wants to be known sets the CPU flag (x86) or a device-tree node (arm64); one
/// that does not cannot be told from here.
Finding virtualisation_item(const HostFiles& host) {
  if (const auto type = host.read_line("/sys/hypervisor/type")) {
    return found(*type, "/sys/hypervisor/type");
  }
  const Finding flags = cpuinfo_field(host, "flags");
  if (flags.value.is_string() && has_word(flags.value.get<std::string>(), "hypervisor")) {
    return found("virtual machine", "/proc/cpuinfo: flag hypervisor");
  }
  if (host.exists("/proc/device-tree/hypervisor")) {
    return found("virtual machine", "/proc/device-tree/hypervisor");
  }
  const std::string vendor = host.read_line("/sys/class/dmi/id/sys_vendor").value_or("");
  const std::string product = host.read_line("/sys/class/dmi/id/product_name").value_or("");
  if (vendor == "QEMU" || product.find("Virtual") != std::string::npos) {
    return found("virtual machine", "/sys/class/dmi/id");
  }
  if (!host.exists("/proc/cpuinfo")) return not_found("absent", "/proc/cpuinfo");
  return found("none seen", "/proc/cpuinfo, /sys/hypervisor, /sys/class/dmi/id");
}

Finding steal_item(const HostFiles& host) {
  const HostCounters counters = read_host_counters(host);
  const auto steal = counters.values.find("cpu_steal_ns");
  if (steal == counters.values.end()) return not_found("absent", "/proc/stat");
  double total = 0;
  for (const auto& [name, value] : counters.values) {
    // Guest time is within user time already (proc(5)).
    if (name.starts_with("cpu_") && !name.starts_with("cpu_guest")) {
      total += static_cast<double>(value);
    }
  }
  if (total <= 0) return not_found("empty", "/proc/stat");
  return found(static_cast<double>(steal->second) / total, "/proc/stat, since boot");
}

Finding load_item(const HostFiles& host) {
  const std::string path = "/proc/loadavg";
  Finding line = line_of(host, path);
  if (!line.value.is_string()) return line;
  std::istringstream words(line.value.get<std::string>());
  double load = 0;
  if (!(words >> load)) return not_found("not a number", path);
  return found(load, path);
}

Finding pressure_item(const HostFiles& host) {
  nlohmann::json values = nlohmann::json::object();
  std::string reason = "absent";
  for (const char* resource : {"cpu", "io", "memory"}) {
    int error_number = 0;
    const auto text = host.read_line(std::string("/proc/pressure/") + resource, &error_number);
    // EOPNOTSUPP: built in, and turned off at boot.
    if (text) {
      values[resource] = text->substr(0, text->find('\n'));
    } else {
      reason = reason_text(error_number);
    }
  }
  if (values.empty()) return not_found(reason, "/proc/pressure");
  return found(std::move(values), "/proc/pressure");
}

/// "1234.56 9876.54": seconds since boot, and idle ones.
Finding uptime_item(const HostFiles& host) {
  const std::string path = "/proc/uptime";
  const Finding line = line_of(host, path);
  if (!line.value.is_string()) return line;
  std::istringstream words(line.value.get<std::string>());
  double seconds = 0;
  if (!(words >> seconds)) return not_found("not a number", path);
  return found(seconds, path);
}

/// Programs that change clocks, interrupts, memory or the scheduler while a load runs.
Finding daemons_item(const HostFiles& host) {
  constexpr std::array names = {"irqbalance",   "tuned",    "thermald",     "power-profiles-",
                                "auto-cpufreq", "ksmtuned", "systemd-oomd", "earlyoom",
                                "numad",        "uksmd",    "cpufreqd",     "powertop"};
  // A machine with more processes is not idle anyway.
  constexpr int most_processes = 4096;
  const std::string source = "/proc/*/comm";
  nlohmann::json running = nlohmann::json::array();
  int looked_at = 0;
  for (const std::string& entry : host.list("/proc")) {
    if (entry.find_first_not_of("0123456789") != std::string::npos) continue;
    if (++looked_at > most_processes) break;
    const std::string name = host.read_line("/proc/" + entry + "/comm").value_or("");
    const bool known = name.starts_with("scx_") ||
                       std::any_of(names.begin(), names.end(),
                                   [&](const char* each) { return name.starts_with(each); });
    if (known && std::find(running.begin(), running.end(), name) == running.end()) {
      running.push_back(name);
    }
  }
  if (looked_at == 0) return not_found("absent", source);
  std::sort(running.begin(), running.end());
  return found(std::move(running), source);
}

}  // namespace

std::vector<EnvironmentItem> machine_items() {
  using Host = const HostFiles&;
  return {
      {"host.name", host_name_item},
      {"host.id", host_id_item},
      {"host.firmware", [](Host host) { return line_of(host, "/sys/class/dmi/id/bios_version"); }},
      {"host.architecture", [](Host host) { return line_of(host, "/proc/sys/kernel/arch"); }},
      {"host.model", host_model_item},
      {"virtualisation.kind", virtualisation_item},
      {"virtualisation.steal_share", steal_item, true},
      {"load.average_1min", load_item, true},
      {"load.pressure", pressure_item, true},
      {"load.uptime_s", uptime_item, true},
      {"load.daemons", daemons_item},
  };
}

}  // namespace krepro
