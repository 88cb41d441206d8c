// The two distributions and their constants.
#include "generators/randwrite/skew.h"

#include <algorithm>
#include <cmath>

namespace krepro::randwrite {

namespace {

/// Sum of i^-theta for i from 1 to `count`: the first terms one by one, the rest as an integral
/// (midpoint rule; relative error below 1e-9 from term 100,000 on).
double zeta(std::uint64_t count, double theta) {
  constexpr std::uint64_t exact = 100'000;
  double sum = 0;
  for (std::uint64_t i = 1; i <= std::min(count, exact); ++i) {
    sum += std::pow(static_cast<double>(i), -theta);
  }
  if (count > exact) {
    const double low = static_cast<double>(exact) + 0.5;
    const double high = static_cast<double>(count) + 0.5;
    sum += (std::pow(high, 1 - theta) - std::pow(low, 1 - theta)) / (1 - theta);
  }
  return sum;
}

/// Spreads neighbouring ranks over the whole range; fixed, so that hot blocks stay hot.
std::uint64_t scattered(std::uint64_t rank) {
  rank *= 0x9E3779B97F4A7C15ULL;
  rank ^= rank >> 32U;
  rank *= 0xD6E8FEB86659FD93ULL;
  return rank ^ (rank >> 32U);
}

}  // namespace

SkewedBlocks SkewedBlocks::zipf(std::uint64_t blocks, double theta) {
  SkewedBlocks made;
  made.blocks_ = blocks;
  made.zipf_ = true;
  made.power_ = 1 / (1 - theta);
  made.zeta_ = zeta(blocks, theta);
  made.second_ = 1 + std::pow(0.5, theta);
  made.eta_ = (1 - std::pow(2.0 / static_cast<double>(blocks), 1 - theta)) /
              (1 - made.second_ / made.zeta_);
  return made;
}

SkewedBlocks SkewedBlocks::pareto(std::uint64_t blocks, double h) {
  SkewedBlocks made;
  made.blocks_ = blocks;
  made.power_ = std::log(h) / std::log(1 - h);
  return made;
}

std::uint64_t SkewedBlocks::next_rank(RandomStream& random) const {
  const double uniform = random.uniform();
  const double count = static_cast<double>(blocks_);
  double rank = 0;
  if (!zipf_) {
    rank = count * std::pow(uniform, power_);
  } else if (uniform * zeta_ < 1) {
    rank = 0;
  } else if (uniform * zeta_ < second_ || blocks_ < 3) {
    rank = 1;
  } else {
    rank = count * std::pow(eta_ * uniform - eta_ + 1, power_);
  }
  return std::min(static_cast<std::uint64_t>(std::max(rank, 0.0)), blocks_ - 1);
}

std::uint64_t SkewedBlocks::next_block(RandomStream& random) const {
  return scattered(next_rank(random)) % blocks_;
}

}  // namespace krepro::randwrite
