// Items about what can be counted here: where counters cannot be had, a result says why. The
// figures themselves are suite/counters'.
#include <cerrno>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

/// Whether a file can be read; its first bytes alone are.
Finding readable(const HostFiles& host, const std::string& path) {
  int error_number = 0;
  const auto start = host.read_start(path, 1, &error_number);
  if (start) return found(true, path);
  // EOPNOTSUPP: built in, and turned off at boot (pressure).
  return not_found(reason_text(error_number), path);
}

/// "version 17": the layout decides what its columns mean.
Finding schedstat_item(const HostFiles& host) {
  const std::string path = "/proc/schedstat";
  int error_number = 0;
  const auto start = host.read_start(path, 64, &error_number);
  if (!start) {
    return not_found(error_number == ENOENT ? "absent: built without CONFIG_SCHEDSTATS"
                                            : reason_text(error_number),
                     path);
  }
  if (const std::string line = start->substr(0, start->find('\n')); line.starts_with("version ")) {
    return found(number_or_text(line.substr(8)), path);
  }
  return not_found("not in the known form", path);
}

}  // namespace

std::vector<EnvironmentItem> counter_source_items() {
  using Host = const HostFiles&;
  return {
      {"counters.schedstat_version", schedstat_item},
      {"counters.task_schedstat", [](Host host) { return readable(host, "/proc/self/schedstat"); }},
      {"counters.task_sched", [](Host host) { return readable(host, "/proc/self/sched"); }},
      {"counters.stat", [](Host host) { return readable(host, "/proc/stat"); }},
      {"counters.vmstat", [](Host host) { return readable(host, "/proc/vmstat"); }},
      {"counters.meminfo", [](Host host) { return readable(host, "/proc/meminfo"); }},
      {"counters.interrupts", [](Host host) { return readable(host, "/proc/interrupts"); }},
      {"counters.softirqs", [](Host host) { return readable(host, "/proc/softirqs"); }},
      {"counters.diskstats", [](Host host) { return readable(host, "/proc/diskstats"); }},
      {"counters.netstat", [](Host host) { return readable(host, "/proc/net/netstat"); }},
      {"counters.sockstat", [](Host host) { return readable(host, "/proc/net/sockstat"); }},
      {"counters.pressure_cpu", [](Host host) { return readable(host, "/proc/pressure/cpu"); }},
      {"counters.pressure_io", [](Host host) { return readable(host, "/proc/pressure/io"); }},
      {"counters.pressure_memory",
       [](Host host) { return readable(host, "/proc/pressure/memory"); }},
      {"counters.hardware_unit",
       [](Host host) { return number_of(host, "/sys/bus/event_source/devices/cpu/type"); }},
  };
}

}  // namespace krepro
