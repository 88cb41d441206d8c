// Memory for the blocks, and whole new contents.
#include "generators/randwrite/buffers.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro::randwrite {

Buffers::Buffers(const BufferSettings& settings, std::size_t block_bytes, std::size_t count,
                 std::uint64_t seed, std::uint64_t stream)
    : block_bytes_(block_bytes),
      memory_bytes_(block_bytes * count),
      refill_(settings.refill),
      scramble_(settings.scramble),
      zero_(settings.zero),
      pattern_(settings.pattern),
      random_(seed, stream) {
  void* memory =
      mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw system_error(
        fmt::format("{} of buffers", format_bytes(static_cast<double>(memory_bytes_))), errno,
        ExitCode::not_possible);
  }
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < count; ++i) fill(at(i));
}

Buffers::~Buffers() { munmap(memory_, memory_bytes_); }

void Buffers::fill(std::byte* block) {
  if (zero_) {
    std::memset(block, 0, block_bytes_);
  } else if (!pattern_.empty()) {
    for (std::size_t i = 0; i < block_bytes_; ++i) {
      block[i] = static_cast<std::byte>(pattern_[i % pattern_.size()]);
    }
  } else {
    for (std::size_t i = 0; i < block_bytes_; i += sizeof(std::uint64_t)) {
      const std::uint64_t value = random_.next();
      std::memcpy(block + i, &value, std::min(sizeof value, block_bytes_ - i));
    }
  }
}

}  // namespace krepro::randwrite
