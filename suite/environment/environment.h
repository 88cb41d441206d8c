// What could explain a difference between two runs, besides the kernel's version: read once per
// boot, before the first trial, and kept in the run file's `boot` line, and again after the run. A
// table of items, each from a named file below one replaceable root; an item that cannot be had
// says why. Nothing is judged (suite/doctor does that) or changed here.
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
  /// Changes by itself from one moment to the next (load, free memory): no drift, and no difference
  /// between kernels.
  bool varies = false;
};

/// All items, by group.
[[nodiscard]] const std::vector<EnvironmentItem>& environment_items();

/// {name: {"value": ..., "source": ...} or {"value": null, "source": ..., "reason": ...}}, with
/// "identity": true and "varies": true where they hold. Bounded work: at most about 16 files a CPU.
[[nodiscard]] nlohmann::json read_environment(const HostFiles& host = HostFiles::system());

/// One item, now. `name` has to be one of the table's.
[[nodiscard]] Finding read_item(const std::string& name,
                                const HostFiles& host = HostFiles::system());

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

/// One item that is not what it was: {"item", "before", "after"}, values or null.
struct EnvironmentChange {
  std::string item;
  nlohmann::json before;
  nlohmann::json after;
};

/// What differs between two answers of read_environment(), leaving out what varies by itself.
[[nodiscard]] std::vector<EnvironmentChange> environment_drift(const nlohmann::json& before,
                                                               const nlohmann::json& after);

/// The items of `after` whose value is another than before, those that vary included: with
/// `before` they make the whole of it.
[[nodiscard]] nlohmann::json changed_items(const nlohmann::json& before,
                                           const nlohmann::json& after);

}  // namespace krepro
