// What could explain a difference between two runs, besides the kernel's version: read once per
// boot, before the first trial, and kept in the run file's `boot` line. A table of items, each from
// a named file below one replaceable root; an item that cannot be had says why. Nothing is judged
// or changed here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// The answer of one item: a value with its source, or the reason why there is none.
struct Finding {
  nlohmann::json value;   ///< null: not to be had.
  std::string source;     ///< File (or files) it came from.
  std::string reason;     ///< For null: "absent", "no permission", ...
  bool identity = false;  ///< Tells who or where the machine is; left out of what is published.
};

/// One row of the table. Names have a group before the dot: "cpu.governor".
struct EnvironmentItem {
  const char* name;
  Finding (*find)(const HostFiles& host);
};

/// All items, by group.
[[nodiscard]] const std::vector<EnvironmentItem>& environment_items();

/// {name: {"value": ..., "source": ...} or {"value": null, "source": ..., "reason": ...}}
[[nodiscard]] nlohmann::json read_environment(const HostFiles& host = HostFiles::system());

/// The value of an item in what read_environment() returned; null where absent.
[[nodiscard]] nlohmann::json environment_value(const nlohmann::json& environment,
                                               const std::string& name);

/// The kernel's GNU build id in hexadecimal: what tells two kernels of one release apart. "" where
/// /sys/kernel/notes cannot be read.
[[nodiscard]] std::string kernel_build_id(const HostFiles& host = HostFiles::system());
/// "6.18.44"; "" where /proc is not there.
[[nodiscard]] std::string kernel_release(const HostFiles& host = HostFiles::system());
/// Changes with every boot; "" where /proc is not there.
[[nodiscard]] std::string boot_id(const HostFiles& host = HostFiles::system());

/// Conditions known to spoil measurements, one sentence each, for the user: "CPU frequency governor
/// powersave: ...".
[[nodiscard]] std::vector<std::string> environment_warnings(const nlohmann::json& environment);

}  // namespace krepro
