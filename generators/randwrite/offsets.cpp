// What of the offsets is not in the hot path.
#include "generators/randwrite/offsets.h"

#include "common/base/check.h"

namespace krepro::randwrite {

Offsets::Offsets(const OffsetPlan& plan, std::uint64_t seed, std::uint64_t stream)
    : plan_(plan),
      kind_(!plan.random                                 ? Kind::sequential
            : plan.distribution != Distribution::uniform ? Kind::skewed
            : plan.random_map                            ? Kind::mapped
                                                         : Kind::uniform),
      seed_(seed),
      stream_(stream),
      random_(seed, stream),
      map_(kind_ == Kind::mapped ? plan.blocks : 0) {
  KREPRO_CHECK(plan.blocks > 0);
  if (plan.distribution == Distribution::zipf) {
    skewed_ = SkewedBlocks::zipf(plan.blocks, plan.skew);
  } else if (plan.distribution == Distribution::pareto) {
    skewed_ = SkewedBlocks::pareto(plan.blocks, plan.skew);
  }
}

void Offsets::restart() {
  map_.clear();
  position_[0] = 0;
  position_[1] = 0;
}

void Offsets::rewind() {
  restart();
  random_ = RandomStream(seed_, stream_);
}

std::uint64_t digest_of_offsets(Offsets offsets, std::size_t count) {
  constexpr std::uint64_t prime = 1099511628211ULL;
  std::uint64_t digest = 14695981039346656037ULL;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t offset = 0;
    while (!offsets.next(Direction::write, offset)) offsets.restart();
    digest = (digest ^ offset) * prime;
  }
  return digest;
}

}  // namespace krepro::randwrite
