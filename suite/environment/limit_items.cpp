// Items about limits and control groups: what this process, and so every load, is allowed.
#include <optional>
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

/// The group of a version 1 controller: "/" of "4:memory:/", "" where it is not one of version 1.
std::string version1_group(const HostFiles& host, const std::string& controller) {
  std::istringstream lines(host.read("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::istringstream names(line.substr(first + 1, second - first - 1));
    for (std::string name; std::getline(names, name, ',');) {
      if (name == controller) return line.substr(second + 1);
    }
  }
  return {};
}

/// Where the unified hierarchy is mounted: alone, or beside version 1.
std::string unified_root(const HostFiles& host) {
  return host.exists("/sys/fs/cgroup/unified/cgroup.procs") ? "/sys/fs/cgroup/unified"
                                                            : "/sys/fs/cgroup";
}

std::string below(const std::string& root, const std::string& group) {
  return group == "/" ? root : root + group;
}

Finding cgroup_path_item(const HostFiles& host) {
  const std::string path = "/proc/self/cgroup";
  Finding all = line_of(host, path);
  if (!all.value.is_string()) return all;
  const std::string unified = unified_group(host);
  // With version 1 the unified group says nothing of the controllers.
  const bool version1 = !version1_group(host, "cpu").empty();
  return unified.empty() || version1 ? all : found(unified, path);
}

/// A file of this process's group: of the unified hierarchy, or of a version 1 controller.
Finding cgroup_file(const HostFiles& host, const std::string& file, const std::string& controller,
                    const std::string& version1_file) {
  const std::string old_group = version1_group(host, controller);
  if (!old_group.empty()) {
    if (version1_file.empty()) return not_found("none in version 1", "/proc/self/cgroup");
    return line_of(host, below("/sys/fs/cgroup/" + controller, old_group) + "/" + version1_file);
  }
  const std::string group = unified_group(host);
  if (group.empty()) return not_found("no control groups", "/proc/self/cgroup");
  Finding finding = line_of(host, below(unified_root(host), group) + "/" + file);
  if (finding.reason == "absent" && group == "/") finding.reason = "the root group has no limits";
  return finding;
}

/// CPUs' worth of time that a group may use: 0.5 of "50000 100000"; nothing where unlimited.
std::optional<double> quota_of(const HostFiles& host, const std::string& directory, bool version1) {
  double quota = 0;
  double period = 0;
  if (version1) {
    quota = static_cast<double>(host.read_number(directory + "/cpu.cfs_quota_us").value_or(-1));
    period = static_cast<double>(host.read_number(directory + "/cpu.cfs_period_us").value_or(0));
  } else {
    std::istringstream words(host.read(directory + "/cpu.max").value_or(""));
    if (!(words >> quota >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// The tightest quota of this group and all above it: what counts is the least of them.
Finding quota_item(const HostFiles& host) {
  const std::string old_group = version1_group(host, "cpu");
  const bool version1 = !old_group.empty();
  std::string group = version1 ? old_group : unified_group(host);
  if (group.empty()) return not_found("no control groups", "/proc/self/cgroup");
  const std::string root = version1 ? "/sys/fs/cgroup/cpu" : unified_root(host);
  std::optional<double> least;
  std::string source = below(root, group) + (version1 ? "/cpu.cfs_quota_us" : "/cpu.max");
  for (;;) {
    const std::string directory = below(root, group);
    const std::optional<double> quota = quota_of(host, directory, version1);
    if (quota && (!least || *quota < *least)) {
      least = quota;
      source = directory + (version1 ? "/cpu.cfs_quota_us" : "/cpu.max");
    }
    const std::size_t slash = group.rfind('/');
    if (slash == std::string::npos || group == "/") break;
    group = slash == 0 ? "/" : group.substr(0, slash);
  }
  return least ? found(*least, source) : found("none", source);
}

/// Throttled periods so far, of this group.
Finding throttled_item(const HostFiles& host) {
  const std::string old_group = version1_group(host, "cpu");
  const std::string directory = old_group.empty() ? below(unified_root(host), unified_group(host))
                                                  : below("/sys/fs/cgroup/cpu", old_group);
  const std::string path = directory + "/cpu.stat";
  int error_number = 0;
  const auto text = host.read(path, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  std::istringstream words(*text);
  std::string name;
  for (std::int64_t value = 0; words >> name >> value;) {
    if (name == "nr_throttled") return found(value, path);
  }
  return not_found("the file has no such line", path);
}

/// "4-7" after "Cpus_allowed_list:" and the like, of /proc/self/status.
Finding own_status(const HostFiles& host, const std::string& field) {
  return field_of(host, "/proc/self/status", field);
}

/// 0: none, 1: strict, 2: a filter, which may refuse calls that a load needs.
Finding seccomp_item(const HostFiles& host) {
  Finding mode = own_status(host, "Seccomp");
  if (mode.value.is_string()) mode.value = number_or_text(mode.value.get<std::string>());
  return mode;
}

Finding user_item(const HostFiles& host) {
  Finding ids = own_status(host, "Uid");
  if (!ids.value.is_string()) return ids;
  std::istringstream words(ids.value.get<std::string>());
  std::int64_t real = 0;
  std::int64_t effective = 0;
  if (!(words >> real >> effective)) return not_found("not in the known form", ids.source);
  return found(effective == 0 ? "root" : "not root", ids.source);
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
      {"limits.tcp_max_syn_backlog",
       [](Host host) { return number_of(host, "/proc/sys/net/ipv4/tcp_max_syn_backlog"); }},
      {"limits.pipe_user_pages_hard",
       [](Host host) { return number_of(host, "/proc/sys/fs/pipe-user-pages-hard"); }},
      {"limits.pipe_max_size",
       [](Host host) { return number_of(host, "/proc/sys/fs/pipe-max-size"); }},
      {"limits.nr_open", [](Host host) { return number_of(host, "/proc/sys/fs/nr_open"); }},
      {"limits.aio_max_nr", [](Host host) { return number_of(host, "/proc/sys/fs/aio-max-nr"); }},
      {"limits.kptr_restrict",
       [](Host host) { return number_of(host, "/proc/sys/kernel/kptr_restrict"); }},
      {"limits.seccomp", seccomp_item},
      {"limits.user", user_item},
      {"limits.capabilities", [](Host host) { return own_status(host, "CapEff"); }},
      {"limits.cpus_allowed", [](Host host) { return own_status(host, "Cpus_allowed_list"); }},
      {"limits.memory_nodes_allowed",
       [](Host host) { return own_status(host, "Mems_allowed_list"); }},
      {"cgroup.path", cgroup_path_item},
      {"cgroup.cpu_quota", quota_item},
      {"cgroup.cpu_throttled", throttled_item, true},
      {"cgroup.cpu_max",
       [](Host host) { return cgroup_file(host, "cpu.max", "cpu", "cpu.cfs_quota_us"); }},
      {"cgroup.cpu_weight",
       [](Host host) { return cgroup_file(host, "cpu.weight", "cpu", "cpu.shares"); }},
      {"cgroup.cpus",
       [](Host host) {
         return cgroup_file(host, "cpuset.cpus.effective", "cpuset", "cpuset.effective_cpus");
       }},
      {"cgroup.memory_max",
       [](Host host) {
         return cgroup_file(host, "memory.max", "memory", "memory.limit_in_bytes");
       }},
      {"cgroup.pids_max",
       [](Host host) { return cgroup_file(host, "pids.max", "pids", "pids.max"); }},
      {"cgroup.io_max", [](Host host) { return cgroup_file(host, "io.max", "blkio", ""); }},
  };
}

}  // namespace krepro
