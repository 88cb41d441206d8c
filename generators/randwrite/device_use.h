// What the machine says of a block device: who it is, what it is made of, and who uses it. Reads
// /proc and /sys only; nothing is opened, nothing is written.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro::randwrite {

struct DeviceNumber {
  unsigned major = 0;
  unsigned minor = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the operator for a zero pointer.
  auto operator<=>(const DeviceNumber&) const = default;
};
[[nodiscard]] DeviceNumber device_number(dev_t device);
[[nodiscard]] std::string to_string(DeviceNumber number);  ///< "259:1"

struct DeviceIdentity {
  std::string name;  ///< The kernel's: "nvme1n1"
  std::string model;
  std::string serial;
  std::string wwid;
  std::uint64_t size_bytes = 0;
  std::uint64_t logical_block_bytes = 512;
  bool rotational = false;
  bool partition = false;
  bool ram_backed = false;  ///< brd, zram: figures are about memory.
};
/// As sysfs has it; empty fields where it does not tell. A partition has its disk's model.
[[nodiscard]] DeviceIdentity identify_device(DeviceNumber number, const HostFiles& host);
void to_json(nlohmann::json& json, const DeviceIdentity& identity);

/// Everything that stands in the way of writing to a device, one line each: it, a partition of it,
/// the disk that it is a partition of, or a device built on any of them (device mapper, md, bcache:
/// "holders") is mounted in some mount namespace, is swap space, is held by another device, backs a
/// loop device, or is open in a process. Empty: nothing was found. What the kernel alone knows (an
/// exclusive open by a file system of several devices) shows when the device is opened exclusively.
[[nodiscard]] std::vector<std::string> find_device_uses(DeviceNumber number, const HostFiles& host);
/// The same for a regular file: it backs a loop device or is swap space.
[[nodiscard]] std::vector<std::string> find_file_uses(const std::string& path,
                                                      const HostFiles& host);

}  // namespace krepro::randwrite
