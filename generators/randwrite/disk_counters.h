// The kernel's counters of a block device, as differences over the trial.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/base/host_files.h"
#include "generators/randwrite/device_use.h"

namespace krepro::randwrite {

/// Of /proc/diskstats; sectors are bytes here.
struct DiskCounters {
  std::string name;
  std::uint64_t reads = 0;
  std::uint64_t reads_merged = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t read_ms = 0;
  std::uint64_t writes = 0;
  std::uint64_t writes_merged = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t write_ms = 0;
  std::uint64_t busy_ms = 0;
  std::uint64_t queue_ms = 0;
  std::uint64_t flushes = 0;  ///< Kernels from 5.5.
};

/// Nothing where the device has no line (network and memory file systems, btrfs).
[[nodiscard]] std::optional<DiskCounters> read_disk_counters(DeviceNumber number,
                                                             const HostFiles& host);
[[nodiscard]] DiskCounters difference(const DiskCounters& after, const DiskCounters& before);
void to_json(nlohmann::json& json, const DiskCounters& counters);

}  // namespace krepro::randwrite
