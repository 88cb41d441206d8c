// The first group of counters: /proc/stat and /proc/pressure, for the whole host. They tell a
// disturbed trial (other load, steal, pressure); the environment's steal share comes from here too.
// Everything else that is read around a trial: counter_reader.h.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/host_files.h"

namespace krepro {

/// Time of one CPU since boot, in clock ticks.
struct CpuTicks {
  std::uint64_t busy = 0;   ///< All but idle, waiting for I/O, and stolen.
  std::uint64_t total = 0;  ///< Without stolen time.
};

/// Absolute values, by name with the unit last.
struct HostCounters {
  std::map<std::string, std::int64_t> values;
  std::map<int, CpuTicks> cpus;
  std::string pressure_problem;  ///< Why there is no pressure; empty: there is.
};

[[nodiscard]] HostCounters read_host_counters(const HostFiles& host = HostFiles::system());

/// {name: delta} without zeros; only names that both sides have. What went backwards, as idle time
/// may, is left out.
[[nodiscard]] nlohmann::json moved_values(const std::map<std::string, std::int64_t>& before,
                                          const std::map<std::string, std::int64_t>& after);

}  // namespace krepro
