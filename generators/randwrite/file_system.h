// Facts about the file system that a file lies on, and the machine's dirty pages.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/host_files.h"
#include "common/generator/generator.h"

namespace krepro::randwrite {

/// "ext4", by the mount table; the magic number in hexadecimal where that does not tell.
[[nodiscard]] std::string file_system_of(const std::string& folder, const HostFiles& host);
/// What offsets and lengths of O_DIRECT must be a multiple of, as far as the kernel tells; else
/// 512.
[[nodiscard]] std::uint64_t direct_alignment(int fd);

/// Pages waiting to be written and being written, machine-wide.
struct DirtyPages {
  std::uint64_t dirty_bytes = 0;
  std::uint64_t writeback_bytes = 0;
};
[[nodiscard]] DirtyPages read_dirty_pages(const HostFiles& host);

/// Writes back what the file system of `path` holds, and waits until the machine has no more than a
/// few MiB of dirty and writeback pages, at most `patience_ns`. Returns whether that came about.
[[nodiscard]] bool drain_dirty_pages(const std::string& path, std::int64_t patience_ns,
                                     const HostFiles& host, Frame& frame);

}  // namespace krepro::randwrite
