// What is mounted, from the text of /proc/PID/mountinfo (proc(5)). Which mounts matter, and for
// what, is the callers' business.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krepro {

/// One line: "36 35 98:0 /sub /mnt rw,noatime shared:1 - ext4 /dev/root rw,errors=continue".
/// Blanks in paths are as they were before the kernel escaped them.
struct MountEntry {
  std::string device_number;  ///< "98:0"
  std::string root;           ///< "/sub": what of the file system is seen there.
  std::string point;          ///< "/mnt"
  std::string options;        ///< Of the mount: "rw,noatime".
  std::string type;           ///< "ext4"
  std::string source;         ///< "/dev/root"; may be anything, and empty.
  std::string super_options;  ///< Of the file system: "rw,errors=continue".
};

/// All lines that have this form.
[[nodiscard]] std::vector<MountEntry> parse_mount_table(std::string_view mountinfo);

/// "\040" -> " ": blanks, tabs, line ends and backslashes, as mountinfo and /proc/swaps escape
/// them.
[[nodiscard]] std::string unescape_octal(std::string_view text);

}  // namespace krepro
