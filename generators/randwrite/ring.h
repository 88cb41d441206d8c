// An io_uring set up as a job wants it, and what to say where that is not possible.
#pragma once

#include <liburing.h>

#include <cstddef>

#include "common/base/host_files.h"
#include "generators/randwrite/settings.h"

namespace krepro::randwrite {

class Ring {
 public:
  /// Throws not_possible with the cause and the remedy.
  Ring(const RingSettings& settings, const HostFiles& host);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  [[nodiscard]] io_uring* get() { return &ring_; }
  /// The kernel has READ and WRITE, not only READV and WRITEV.
  [[nodiscard]] bool has_plain_requests();
  /// Registers `count` blocks that follow each other. Throws not_possible.
  void register_buffers(std::byte* first, std::size_t block_bytes, std::size_t count,
                        const HostFiles& host);
  /// Registers the file, or replaces the one registered. Throws not_possible.
  void register_file(int fd);
  /// The kernel had to drop completions.
  [[nodiscard]] bool overflowed() const;

 private:
  io_uring ring_{};
  bool file_registered_ = false;
};

}  // namespace krepro::randwrite
