// Control groups of their own for the roles of a benchmark, below one slice at the top of the
// hierarchy: the same whether the run was started from a shell, over ssh or by a boot service,
// whose own groups (and autogroups) differ. Version 1 and version 2. Only the CPU controller
// matters here.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/settings/knob.h"

namespace krepro {

/// Where groups with the CPU controller can be made.
struct CpuHierarchy {
  int version = 0;      ///< 1 or 2; 0: none.
  std::string mount;    ///< "/sys/fs/cgroup/cpu"
  std::string problem;  ///< Why there is none.
};
/// From /proc/self/mountinfo.
[[nodiscard]] CpuHierarchy find_cpu_hierarchy(const HostFiles& host);

class RoleGroups {
 public:
  /// Makes nothing yet. `access` must outlive it.
  explicit RoleGroups(const KnobAccess& access);
  RoleGroups(const RoleGroups&) = delete;
  RoleGroups& operator=(const RoleGroups&) = delete;
  ~RoleGroups();  ///< remove()

  /// Makes the groups krepro.slice/load-PID and krepro.slice/serve-PID. Where that is not possible,
  /// or krepro's own group has a CPU quota or a CPU set that they would escape, the roles stay in
  /// krepro's own group and problem() says why.
  void make();
  /// Removes them; also those that killed runs have left.
  void remove();

  [[nodiscard]] bool made() const { return !groups_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// "cgroup v1, /sys/fs/cgroup/cpu/krepro.slice"; empty where none were made.
  [[nodiscard]] std::string describe() const;
  /// The folder of a role's group; empty where there is none, and for a real-time policy where
  /// groups have no real-time share (version 1 with CONFIG_RT_GROUP_SCHED).
  [[nodiscard]] std::filesystem::path group_of(const std::string& role, bool real_time) const;
  /// A setting of kind `cgroup`: written and read back. cpu.weight and cpu.max are translated for
  /// version 1 (cpu.shares, cpu.cfs_quota_us). Throws not_possible.
  void set(const Setting& setting);
  /// What a setting's file holds now.
  [[nodiscard]] std::string read_back(const Setting& setting) const;

 private:
  [[nodiscard]] std::string file_of(const Setting& setting) const;
  void remove_left() const;
  const KnobAccess& access_;
  CpuHierarchy hierarchy_;
  std::string slice_;
  std::map<std::string, std::string> groups_;  ///< Role -> folder.
  bool touched_ = false;                       ///< Something may have been made.
  bool enabled_controller_ = false;            ///< At the top, version 2.
  std::string problem_;
};

/// What version 1 has for a file of version 2: {"cpu.shares", "1024"} for cpu.weight 100.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> as_version_1(
    const std::string& file, const std::string& value);

}  // namespace krepro
