// Items about the machine as a whole: what it is, memory, virtualisation, and what else it was
// doing when the run began.
#include <fmt/core.h>

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

Finding host_model_item(const HostFiles& host) {
  Finding product =
      first_line_of(host, {"/sys/class/dmi/id/product_name", "/proc/device-tree/model"});
  const std::optional<std::string> vendor = host.read_line("/sys/class/dmi/id/sys_vendor");
  if (product.value.is_string() && vendor && !vendor->empty()) {
    product.value = fmt::format("{} {}", *vendor, product.value.get<std::string>());
  }
  return product;
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

/// A hypervisor that wants to be known sets the CPU flag (x86) or a device-tree node (arm64); one
/// that does not cannot be told from here.
Finding virtualisation_item(const HostFiles& host) {
  if (const auto type = host.read_line("/sys/hypervisor/type")) {
    return found(*type, "/sys/hypervisor/type");
  }
  const Finding flags = field_of(host, "/proc/cpuinfo", "flags");
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

/// "16303916 kB" as bytes.
Finding memory_bytes(const HostFiles& host, const std::string& field) {
  Finding finding = field_of(host, "/proc/meminfo", field);
  if (!finding.value.is_string()) return finding;
  std::istringstream words(finding.value.get<std::string>());
  std::int64_t kibibytes = 0;
  if (words >> kibibytes) finding.value = kibibytes * 1024;
  return finding;
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

}  // namespace

std::vector<EnvironmentItem> machine_items() {
  using Host = const HostFiles&;
  return {
      {"host.name", host_name_item},
      {"host.architecture", [](Host host) { return line_of(host, "/proc/sys/kernel/arch"); }},
      {"host.model", host_model_item},
      {"virtualisation.kind", virtualisation_item},
      {"virtualisation.steal_share", steal_item},
      {"load.average_1min", load_item},
      {"load.pressure", pressure_item},
      {"load.uptime_s", [](Host host) { return number_of(host, "/proc/uptime"); }},
      {"memory.total_bytes", [](Host host) { return memory_bytes(host, "MemTotal"); }},
      {"memory.available_bytes", [](Host host) { return memory_bytes(host, "MemAvailable"); }},
      {"memory.swap_total_bytes", [](Host host) { return memory_bytes(host, "SwapTotal"); }},
      {"memory.huge_pages", [](Host host) { return number_of(host, "/proc/sys/vm/nr_hugepages"); }},
      {"memory.thp",
       [](Host host) { return chosen_of(host, "/sys/kernel/mm/transparent_hugepage/enabled"); }},
      {"memory.thp_defrag",
       [](Host host) { return chosen_of(host, "/sys/kernel/mm/transparent_hugepage/defrag"); }},
  };
}

}  // namespace krepro
