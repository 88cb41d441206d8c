// Whether a device carries a file system, RAID member or partition table, by libblkid.
#pragma once

#include <string>

namespace krepro::randwrite {

/// "ext4 file system", "dos partition table", "linux_raid_member", several joined by ", "; empty:
/// no signature. `fd`: the device, open for reading. Throws a usage error where it cannot be read.
[[nodiscard]] std::string find_signature(int fd);

}  // namespace krepro::randwrite
