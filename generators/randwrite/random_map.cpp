// Clearing the map, and finding the next free block: up to a word that is not full, and down again.
#include "generators/randwrite/random_map.h"

#include <algorithm>

namespace krepro::randwrite {

RandomMap::RandomMap(std::uint64_t blocks) : blocks_(blocks) {
  std::uint64_t entries = blocks;
  do {
    const std::uint64_t words = (entries + bits - 1) / bits;
    levels_.emplace_back(std::max<std::uint64_t>(words, 1));
    entries = words;
  } while (entries > 1);
  clear();
}

void RandomMap::clear() {
  std::uint64_t entries = blocks_;
  for (std::vector<std::uint64_t>& level : levels_) {
    std::fill(level.begin(), level.end(), 0);
    // What lies beyond the end counts as taken, so that the last word can become full.
    const std::uint64_t used = entries % bits;
    if (used != 0 || entries == 0) level.back() = ~0ULL << used;
    entries = (entries + bits - 1) / bits;
  }
}

std::uint64_t RandomMap::free_from(std::uint64_t from) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::uint64_t index = from / bits;
    if (index >= levels_[level].size()) return none;
    const std::uint64_t free = ~levels_[level][index] & (~0ULL << (from % bits));
    if (free != 0) {
      std::uint64_t found = index * bits + static_cast<std::uint64_t>(std::countr_zero(free));
      while (level > 0) {
        --level;
        const std::uint64_t inside = ~levels_[level][found];
        found = found * bits + static_cast<std::uint64_t>(std::countr_zero(inside));
      }
      return found;
    }
    from = index + 1;
  }
  return none;
}

}  // namespace krepro::randwrite
