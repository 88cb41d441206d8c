// Items about limits and control groups: what this process, and so every load, is allowed.
#include <sstream>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

/// "Max open files            1024                 4096                 files" by columns of
/// /proc/self/limits: name, soft, hard.
Finding limits_item(const HostFiles& host) {
  const std::string path = "/proc/self/limits";
  constexpr std::size_t soft_column = 26;
  constexpr std::size_t hard_column = 47;
  int error_number = 0;
  const std::optional<std::string> text = host.read(path, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  nlohmann::json limits = nlohmann::json::object();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Max ") || line.size() < hard_column) continue;
    std::string name = line.substr(4, soft_column - 4);
    name.erase(name.find_last_not_of(' ') + 1);
    std::istringstream values(line.substr(soft_column));
    std::string soft;
    std::string hard;
    if (values >> soft >> hard) limits[name] = soft == hard ? soft : soft + " (hard: " + hard + ")";
  }
  if (limits.empty()) return not_found("not in the known form", path);
  return found(std::move(limits), path);
}

/// The group in the unified hierarchy, or "" (also on hosts with version 1 only).
std::string unified_group(const HostFiles& host) {
  std::istringstream lines(host.read("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

Finding cgroup_path_item(const HostFiles& host) {
  const std::string path = "/proc/self/cgroup";
  Finding all = line_of(host, path);
  if (!all.value.is_string()) return all;
  const std::string unified = unified_group(host);
  return unified.empty() ? all : found(unified, path);
}

Finding cgroup_file(const HostFiles& host, const std::string& file) {
  const std::string group = unified_group(host);
  if (group.empty()) return not_found("no unified control group", "/proc/self/cgroup");
  return line_of(host, "/sys/fs/cgroup" + (group == "/" ? "" : group) + "/" + file);
}

}  // namespace

std::vector<EnvironmentItem> limit_items() {
  using Host = const HostFiles&;
  return {
      {"limits.process", limits_item},
      {"limits.pid_max", [](Host host) { return number_of(host, "/proc/sys/kernel/pid_max"); }},
      {"limits.threads_max",
       [](Host host) { return number_of(host, "/proc/sys/kernel/threads-max"); }},
      {"limits.file_max", [](Host host) { return number_of(host, "/proc/sys/fs/file-max"); }},
      {"limits.max_map_count",
       [](Host host) { return number_of(host, "/proc/sys/vm/max_map_count"); }},
      {"limits.pipe_user_pages_soft",
       [](Host host) { return number_of(host, "/proc/sys/fs/pipe-user-pages-soft"); }},
      {"limits.somaxconn",
       [](Host host) { return number_of(host, "/proc/sys/net/core/somaxconn"); }},
      {"limits.port_range",
       [](Host host) { return line_of(host, "/proc/sys/net/ipv4/ip_local_port_range"); }},
      {"limits.io_uring_disabled",
       [](Host host) { return number_of(host, "/proc/sys/kernel/io_uring_disabled"); }},
      {"limits.perf_event_paranoid",
       [](Host host) { return number_of(host, "/proc/sys/kernel/perf_event_paranoid"); }},
      {"cgroup.path", cgroup_path_item},
      {"cgroup.cpu_max", [](Host host) { return cgroup_file(host, "cpu.max"); }},
      {"cgroup.cpu_weight", [](Host host) { return cgroup_file(host, "cpu.weight"); }},
      {"cgroup.cpus", [](Host host) { return cgroup_file(host, "cpuset.cpus.effective"); }},
      {"cgroup.memory_max", [](Host host) { return cgroup_file(host, "memory.max"); }},
      {"cgroup.pids_max", [](Host host) { return cgroup_file(host, "pids.max"); }},
      {"cgroup.io_max", [](Host host) { return cgroup_file(host, "io.max"); }},
  };
}

}  // namespace krepro
