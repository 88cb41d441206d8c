// Counters of the whole host, read before `go` and after the end of a trial, so that a disturbed
// trial can be told: other load, steal, pressure. Per-thread figures come with the sample itself.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/host_files.h"

namespace krepro {

/// Absolute values, by name with the unit last.
struct HostCounters {
  std::map<std::string, std::int64_t> values;
};

[[nodiscard]] HostCounters read_host_counters(const HostFiles& host = HostFiles::system());

/// {"host": {name: delta}}; only names that both sides have.
[[nodiscard]] nlohmann::json counter_deltas(const HostCounters& before, const HostCounters& after);

}  // namespace krepro
