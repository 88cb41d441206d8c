// Which blocks of a range were used in this pass: one bit a block, and above them one bit for each
// full word of the level below, so that the next free block is found in a few steps however full
// the map is. One owner; no locking.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace krepro::randwrite {

class RandomMap {
 public:
  static constexpr std::uint64_t none = ~0ULL;

  /// A map of `blocks` free blocks.
  explicit RandomMap(std::uint64_t blocks = 0);

  /// All blocks become free again.
  void clear();
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] bool taken(std::uint64_t block) const {
    return (levels_[0][block / bits] >> (block % bits) & 1U) != 0;
  }
  /// The first free block from `from` upwards, else the first one of all; none where all are taken.
  [[nodiscard]] std::uint64_t next_free(std::uint64_t from) const {
    const std::uint64_t found = free_from(from);
    return found != none || from == 0 ? found : free_from(0);
  }
  /// Takes a free block.
  void take(std::uint64_t block) {
    for (std::vector<std::uint64_t>& level : levels_) {
      std::uint64_t& word = level[block / bits];
      word |= 1ULL << (block % bits);
      if (word != ~0ULL) return;
      block /= bits;
    }
  }

 private:
  static constexpr std::uint64_t bits = 64;
  [[nodiscard]] std::uint64_t free_from(std::uint64_t from) const;

  std::uint64_t blocks_;
  std::vector<std::vector<std::uint64_t>> levels_;
};

}  // namespace krepro::randwrite
