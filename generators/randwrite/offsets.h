// Which block comes next: in sequence, at random with each block once per pass, at random with
// repetitions, or skewed. Same plan, seed and stream: same blocks. No I/O, no time.
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "generators/randwrite/random_map.h"
#include "generators/randwrite/settings.h"
#include "generators/randwrite/skew.h"

namespace krepro::randwrite {

struct OffsetPlan {
  bool random = false;
  bool random_map = true;  ///< Each block once per pass.
  Distribution distribution = Distribution::uniform;
  double skew = 0;
  std::uint64_t first_byte = 0;
  std::uint64_t block_bytes = 4096;
  std::uint64_t blocks = 1;  ///< At least 1.
};

class Offsets {
 public:
  Offsets(const OffsetPlan& plan, std::uint64_t seed, std::uint64_t stream);

  /// The byte offset of the next operation; false where the pass is over (sequential: of this
  /// direction; with a random map: no block is free).
  bool next(Direction direction, std::uint64_t& offset) {
    std::uint64_t block = 0;
    switch (kind_) {
      case Kind::sequential: {
        std::uint64_t& position = position_[static_cast<std::size_t>(direction)];
        if (position == plan_.blocks) return false;
        block = position++;
        break;
      }
      case Kind::mapped:
        block = random_.below(plan_.blocks);
        if (map_.taken(block)) {
          block = map_.next_free(block);
          if (block == RandomMap::none) return false;
        }
        map_.take(block);
        break;
      case Kind::uniform:
        block = random_.below(plan_.blocks);
        break;
      case Kind::skewed:
        block = skewed_.next_block(random_);
        break;
    }
    offset = plan_.first_byte + block * plan_.block_bytes;
    return true;
  }
  /// A new pass; the generator of random numbers goes on.
  void restart();
  /// The same blocks from the beginning again.
  void rewind();

 private:
  enum class Kind : std::uint8_t { sequential, mapped, uniform, skewed };
  OffsetPlan plan_;
  Kind kind_;
  std::uint64_t seed_;
  std::uint64_t stream_;
  RandomStream random_;
  RandomMap map_;
  SkewedBlocks skewed_;
  std::uint64_t position_[2] = {0, 0};
};

/// A digest over the first `count` offsets, passes one after the other.
[[nodiscard]] std::uint64_t digest_of_offsets(Offsets offsets, std::size_t count);

}  // namespace krepro::randwrite
