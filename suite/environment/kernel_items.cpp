// Items about the running kernel: which one it is, how it was built and started, and its knobs.
#include <array>
#include <sstream>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

Finding build_id_item(const HostFiles& host) {
  const std::string path = "/sys/kernel/notes";
  int error_number = 0;
  if (!host.read(path, &error_number)) return not_found(reason_text(error_number), path);
  const std::string id = kernel_build_id(host);
  if (id.empty()) return not_found("no build id among the notes", path);
  return found(id, path);
}

/// Of the preemption model the kernel tells in debugfs; without that the version text says what it
/// was built with.
Finding preemption_item(const HostFiles& host) {
  Finding debug = chosen_of(host, "/sys/kernel/debug/sched/preempt");
  if (!debug.value.is_null()) return debug;
  const std::string version = host.read_line("/proc/sys/kernel/version").value_or("");
  for (const char* word : {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"}) {
    if (version.find(word) != std::string::npos) {
      return found(word, "/proc/sys/kernel/version (" + debug.source + ": " + debug.reason + ")");
    }
  }
  if (!version.empty()) return found("none or voluntary", "/proc/sys/kernel/version");
  return debug;
}

/// The build options that shape the loads most; all of them would be too many lines here.
Finding config_item(const HostFiles& host) {
  constexpr std::array names = {"CONFIG_HZ",
                                "CONFIG_PREEMPT_NONE",
                                "CONFIG_PREEMPT_VOLUNTARY",
                                "CONFIG_PREEMPT",
                                "CONFIG_PREEMPT_LAZY",
                                "CONFIG_PREEMPT_RT",
                                "CONFIG_PREEMPT_DYNAMIC",
                                "CONFIG_SCHEDSTATS",
                                "CONFIG_SCHED_AUTOGROUP",
                                "CONFIG_SCHED_CORE",
                                "CONFIG_SCHED_CLUSTER",
                                "CONFIG_FAIR_GROUP_SCHED",
                                "CONFIG_CFS_BANDWIDTH",
                                "CONFIG_NUMA_BALANCING",
                                "CONFIG_NO_HZ_FULL",
                                "CONFIG_DEBUG_PREEMPT",
                                "CONFIG_LOCKDEP",
                                "CONFIG_KASAN",
                                "CONFIG_CC_VERSION_TEXT"};
  const std::string path = "/boot/config-" + kernel_release(host);
  int error_number = 0;
  const std::optional<std::string> text = host.read(path, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  nlohmann::json values = nlohmann::json::object();
  for (const char* name : names) {
    Finding value = field_of(host, path, name);
    values[name] = value.value.is_null() ? nlohmann::json("n") : value.value;
  }
  return found(std::move(values), path);
}

Finding vulnerabilities_item(const HostFiles& host) {
  const std::string directory = "/sys/devices/system/cpu/vulnerabilities";
  nlohmann::json values = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    const std::string path = directory + "/" + name;
    if (const std::optional<std::string> text = host.read_line(path)) values[name] = *text;
  }
  if (values.empty()) return not_found("absent", directory);
  return found(std::move(values), directory);
}

}  // namespace

std::vector<EnvironmentItem> kernel_items() {
  using Host = const HostFiles&;
  return {
      {"kernel.release", [](Host host) { return line_of(host, "/proc/sys/kernel/osrelease"); }},
      {"kernel.version", [](Host host) { return line_of(host, "/proc/version"); }},
      {"kernel.build_id", build_id_item},
      {"kernel.cmdline", [](Host host) { return line_of(host, "/proc/cmdline"); }},
      {"kernel.config", config_item},
      {"kernel.tainted", [](Host host) { return number_of(host, "/proc/sys/kernel/tainted"); }},
      {"kernel.preemption", preemption_item},
      {"kernel.mitigations", vulnerabilities_item},
      {"kernel.clock_source",
       [](Host host) {
         return line_of(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
       }},
      {"kernel.boot_id",
       [](Host host) { return line_of(host, "/proc/sys/kernel/random/boot_id"); }},
      {"kernel.randomize_va_space",
       [](Host host) { return number_of(host, "/proc/sys/kernel/randomize_va_space"); }},
      {"kernel.watchdog", [](Host host) { return number_of(host, "/proc/sys/kernel/watchdog"); }},
      {"scheduler.autogroup",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_autogroup_enabled"); }},
      {"scheduler.numa_balancing",
       [](Host host) { return number_of(host, "/proc/sys/kernel/numa_balancing"); }},
      {"scheduler.schedstats",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_schedstats"); }},
      {"scheduler.energy_aware",
       [](Host host) { return number_of(host, "/proc/sys/kernel/sched_energy_aware"); }},
      {"scheduler.features",
       [](Host host) { return line_of(host, "/sys/kernel/debug/sched/features"); }},
      {"scheduler.base_slice_ns",
       [](Host host) { return number_of(host, "/sys/kernel/debug/sched/base_slice_ns"); }},
      {"scheduler.extension",
       [](Host host) { return line_of(host, "/sys/kernel/sched_ext/root/ops"); }},
  };
}

}  // namespace krepro
