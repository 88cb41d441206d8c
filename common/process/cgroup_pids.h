// The control groups that limit how many tasks this process may create. Not for other controllers
// and not for making groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// One level of the hierarchy that has a limit.
struct CgroupPids {
  std::string path;  ///< As /proc/self/cgroup gives it, or above it: "/user.slice".
  std::string file;  ///< The file to write: "/sys/fs/cgroup/user.slice/pids.max".
  std::string unit;  ///< The systemd unit that owns it, where its name says so: "user.slice".
  std::uint64_t max = 0;
  std::uint64_t current = 0;
};

/// Every level from the process's own group upwards whose pids.max is a number, version 1 and 2, as
/// far as the mounts of this container show them. Empty where there is no such controller.
[[nodiscard]] std::vector<CgroupPids> cgroup_pids_limits(const HostFiles& host);

}  // namespace krepro
