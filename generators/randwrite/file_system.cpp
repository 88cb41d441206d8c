// The mount table, statx and /proc/vmstat.
#include "generators/randwrite/file_system.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sstream>

#include "common/base/mount_table.h"
#include "common/process/descriptor.h"
#include "common/timing/clock.h"
#include "generators/randwrite/device_use.h"

namespace krepro::randwrite {

std::string file_system_of(const std::string& folder, const HostFiles& host) {
  struct stat status {};
  if (stat(folder.c_str(), &status) == 0) {
    const std::string number = to_string(device_number(status.st_dev));
    for (const MountEntry& mount :
         parse_mount_table(host.read("/proc/self/mountinfo").value_or(""))) {
      if (mount.device_number == number) return mount.type;
    }
  }
  struct statfs facts {};
  if (statfs(folder.c_str(), &facts) != 0) return "unknown";
  return fmt::format("{:#x}", static_cast<unsigned long>(facts.f_type));
}

std::uint64_t direct_alignment(int fd) {
  constexpr std::uint64_t usual = 512;
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) != 0 && facts.stx_dio_offset_align != 0) {
    return facts.stx_dio_offset_align;
  }
#endif
  static_cast<void>(fd);
  return usual;
}

DirtyPages read_dirty_pages(const HostFiles& host) {
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  DirtyPages pages;
  std::istringstream words(host.read("/proc/vmstat").value_or(""));
  std::string name;
  std::uint64_t value = 0;
  while (words >> name >> value) {
    if (name == "nr_dirty") pages.dirty_bytes = value * page_bytes;
    if (name == "nr_writeback") pages.writeback_bytes = value * page_bytes;
  }
  return pages;
}

bool drain_dirty_pages(const std::string& path, std::int64_t patience_ns, const HostFiles& host,
                       Frame& frame) {
  constexpr std::uint64_t enough_bytes = 4U << 20U;
  constexpr std::int64_t pause_ns = 20'000'000;
  if (patience_ns == 0) return true;
  const std::int64_t deadline_ns = now_ns() + patience_ns;
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid()) {
    // A device has no file system of its own to sync; its pages are those of the inode.
    static_cast<void>(fsync(fd.get()));
    static_cast<void>(syncfs(fd.get()));
  }
  for (;;) {
    const DirtyPages pages = read_dirty_pages(host);
    if (pages.dirty_bytes + pages.writeback_bytes <= enough_bytes) return true;
    if (now_ns() >= deadline_ns) return false;
    frame.check_interrupted();
    sleep_until_ns(now_ns() + pause_ns);
  }
}

}  // namespace krepro::randwrite
