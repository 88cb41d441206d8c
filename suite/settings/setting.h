// A setting as a profile asks for it: a name and a value. Which names there are, and what kind each
// is; nothing here looks at the machine. Applying: settings_keeper.h, sched_ext.h, role_groups.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace krepro {

struct Setting {
  std::string name;   ///< "kernel.numa_balancing", "sched/features", "governor", "scheduling.load"
  std::string value;  ///< As it is written: "1", "NO_NEXT_BUDDY", "performance"

  bool operator==(const Setting&) const = default;
};

enum class SettingKind : std::uint8_t {
  host,        ///< A file of the kernel: changed for the whole machine, and restored.
  sched_ext,   ///< A scheduler that is started and ended.
  cgroup,      ///< A file of the control group of a role: "cgroup/load/cpu.weight".
  scheduling,  ///< The policy of a role's tasks; nothing of the machine changes.
};

/// Throws usage_error with the nearest name for a name that is none.
[[nodiscard]] SettingKind kind_of_setting(const std::string& name);
/// The kind, the name and, as far as that is possible without the machine, the value. Throws
/// usage_error.
void check_setting(const Setting& setting);
/// The machine changes by it: it needs --apply-settings, and a settling trial behind it.
[[nodiscard]] bool changes_machine(const Setting& setting);
/// "load" or "serve" of "scheduling.load" and "cgroup/load/cpu.weight"; "" for both roles.
[[nodiscard]] std::string role_of_setting(const std::string& name);

/// "+sched/features=NO_NEXT_BUDDY+thp=never": what stands behind a label for these settings, in
/// printable ASCII without spaces.
[[nodiscard]] std::string label_suffix(const std::vector<Setting>& settings);

}  // namespace krepro
