// Opening, invalidating, advising.
#include "generators/randwrite/access.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/base/error.h"

namespace krepro::randwrite {

Access::Access(const TargetFacts& target, const JobSettings& job, std::uint64_t offset,
               std::uint64_t bytes)
    : target_(&target),
      job_(&job),
      offset_(static_cast<off_t>(offset)),
      bytes_(static_cast<off_t>(bytes)) {
  reopen();
}

void Access::reopen() {
  fd_.reset();
  int flags = (job_->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | job_->sync_flag;
  if (job_->direct) flags |= O_DIRECT;
  if (target_->kind == TargetKind::device) flags |= O_NOATIME;
  int fd = open(target_->path.c_str(), flags);
  if (fd < 0 && errno == EPERM && (flags & O_NOATIME) != 0) {
    fd = open(target_->path.c_str(), flags & ~O_NOATIME);
  }
  if (fd < 0 && errno == EINVAL && job_->direct) {
    throw not_possible(fmt::format("{}: {} does not support O_DIRECT (direct=1)", target_->path,
                                   target_->filesystem),
                       "take --direct=0, or another file system");
  }
  if (fd < 0) throw system_error(fmt::format("open {}", target_->path), errno);
  fd_.reset(fd);
  struct stat status {};
  const bool device = target_->kind == TargetKind::device;
  if (fstat(fd, &status) != 0 || (device ? status.st_rdev : status.st_dev) != target_->device ||
      (!device && status.st_ino != target_->inode)) {
    throw usage_error(fmt::format("{} was replaced while it was prepared", target_->path));
  }
  invalidate();
  if (job_->hint != AccessHint::none) {
    posix_fadvise(fd, offset_, bytes_,
                  job_->hint == AccessHint::random ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
  }
}

void Access::invalidate() const {
  if (!job_->invalidate) return;
  if (target_->kind == TargetKind::device) {
    ioctl(fd_.get(), BLKFLSBUF, 0);
  } else {
    posix_fadvise(fd_.get(), offset_, bytes_, POSIX_FADV_DONTNEED);
  }
}

}  // namespace krepro::randwrite
