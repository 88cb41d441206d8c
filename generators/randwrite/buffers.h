// The memory that is written and read: its contents, and how they change from write to write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/base/random.h"
#include "generators/randwrite/settings.h"

namespace krepro::randwrite {

/// `count` blocks of page-aligned memory.
class Buffers {
 public:
  /// Throws not_possible where the memory cannot be had.
  Buffers(const BufferSettings& settings, std::size_t block_bytes, std::size_t count,
          std::uint64_t seed, std::uint64_t stream);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  [[nodiscard]] std::byte* at(std::size_t index) { return memory_ + index * block_bytes_; }
  [[nodiscard]] std::size_t block_bytes() const { return block_bytes_; }

  /// Makes the contents of the write that comes next differ from the ones before, as the settings
  /// have it: in each 512 bytes the block's offset and the time, or all of it anew.
  void prepare_write(std::byte* block, std::uint64_t offset, std::int64_t now_ns) {
    if (refill_) [[unlikely]] {
      fill(block);
    } else if (scramble_) {
      scramble(block, offset, now_ns);
    }
  }
  /// Fresh contents for a whole block.
  void fill(std::byte* block);

 private:
  static constexpr std::size_t chunk_bytes = 512;
  static constexpr std::size_t line_bytes = 64;

  void scramble(std::byte* block, std::uint64_t offset, std::int64_t now_ns) const {
    // The offset goes to one of the chunk's eight cache lines, the time to the end of the first.
    const std::size_t line = (static_cast<std::uint64_t>(now_ns) ^ offset) % 8 * line_bytes;
    const std::byte* const end = block + block_bytes_ / chunk_bytes * chunk_bytes;
    for (; block != end; block += chunk_bytes, offset += chunk_bytes) {
      std::memcpy(block + line, &offset, sizeof offset);
      std::memcpy(block + line_bytes - sizeof now_ns, &now_ns, sizeof now_ns);
    }
  }

  std::size_t block_bytes_;
  std::size_t memory_bytes_;
  bool refill_;
  bool scramble_;
  bool zero_;
  std::string pattern_;
  RandomStream random_;
  std::byte* memory_ = nullptr;
};

}  // namespace krepro::randwrite
