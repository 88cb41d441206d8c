// Finds the pids controller's files of this process: see cgroup_pids.h.
#include "common/process/cgroup_pids.h"

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <utility>

#include "common/base/mount_table.h"

namespace krepro {
namespace {

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The hierarchy that has, or with version 2 may have, the pids controller.
std::optional<MountEntry> find_mount(const HostFiles& host, bool version_2) {
  for (MountEntry& mount : parse_mount_table(host.read("/proc/self/mountinfo").value_or(""))) {
    const bool matches = version_2
                             ? mount.type == "cgroup2"
                             : mount.type == "cgroup" && has_word(mount.super_options, "pids");
    if (matches) return std::move(mount);
  }
  return std::nullopt;
}

/// "/a/b" -> "/a", "/a" -> "/", "/" -> nothing.
std::optional<std::string> parent(const std::string& path) {
  if (path == "/") {
    return std::nullopt;
  }
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string unit_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* ending : {".service", ".scope", ".slice"}) {
    if (name.ends_with(ending)) {
      return name;
    }
  }
  return {};
}

/// The part of `path` below the mount's root; "/" where it lies outside (another namespace's view).
std::string below_root(const std::string& path, const std::string& root) {
  if (root == "/") {
    return path.starts_with("/..") ? "/" : path;
  }
  if (path != root && !path.starts_with(root + "/")) {
    return "/";
  }
  return path == root ? "/" : path.substr(root.size());
}

void add_levels(const HostFiles& host, const MountEntry& mount, const std::string& own_path,
                std::vector<CgroupPids>& limits) {
  std::optional<std::string> level = below_root(own_path, mount.root);
  for (; level; level = parent(*level)) {
    const std::string folder = mount.point + (*level == "/" ? "" : *level);
    const auto max = host.read_number(folder + "/pids.max");
    if (!max || *max < 0) {
      continue;  // "max", or a group without the controller.
    }
    CgroupPids limit;
    limit.path = mount.root == "/" ? *level : mount.root + (*level == "/" ? "" : *level);
    limit.file = folder + "/pids.max";
    limit.unit = unit_of(limit.path);
    limit.max = static_cast<std::uint64_t>(*max);
    limit.current =
        static_cast<std::uint64_t>(host.read_number(folder + "/pids.current").value_or(0));
    limits.push_back(limit);
  }
}

}  // namespace

std::vector<CgroupPids> cgroup_pids_limits(const HostFiles& host) {
  std::vector<CgroupPids> limits;
  std::istringstream lines(host.read("/proc/self/cgroup").value_or(""));
  // "4:pids:/a/b" is version 1, "0::/a/b" version 2.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version_2 = controllers.empty();
    if (!version_2 && !has_word(controllers, "pids")) {
      continue;
    }
    if (const auto mount = find_mount(host, version_2)) {
      add_levels(host, *mount, line.substr(second + 1), limits);
    }
  }
  return limits;
}

}  // namespace krepro
