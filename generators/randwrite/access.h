// A job's own descriptor of the target: opened with the job's flags, checked to be what the parent
// has checked, its cached pages dropped and the access pattern told to the kernel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/process/descriptor.h"
#include "generators/randwrite/settings.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

class Access {
 public:
  /// Opens it. Throws as reopen().
  Access(const TargetFacts& target, const JobSettings& job, std::uint64_t offset,
         std::uint64_t bytes);
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Drops cached pages of the range, if the job wants that: DONTNEED for files, BLKFLSBUF for
  /// devices. What does not work is left alone, as in fio.
  void invalidate() const;
  /// Closes and opens again, with all that belongs to opening. Throws a usage error, or
  /// not_possible where the file system has no O_DIRECT.
  void reopen();

 private:
  const TargetFacts* target_;
  const JobSettings* job_;
  off_t offset_;
  off_t bytes_;
  Descriptor fd_;
};

}  // namespace krepro::randwrite
