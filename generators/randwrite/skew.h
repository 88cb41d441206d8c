// Skewed choices of a block: few blocks get most of the operations. Which ones those are is
// scattered over the range.
#pragma once

#include <cstdint>

#include "common/base/random.h"

namespace krepro::randwrite {

/// Zipf: the block of rank r is chosen with a frequency of r^-theta (Gray et al., "Quickly
/// generating billion-record synthetic databases", 1994). Pareto: the rank is
/// blocks * u^(ln h / ln (1-h)): a share h of the blocks gets a share 1-h of the operations.
class SkewedBlocks {
 public:
  SkewedBlocks() = default;
  [[nodiscard]] static SkewedBlocks zipf(std::uint64_t blocks, double theta);
  [[nodiscard]] static SkewedBlocks pareto(std::uint64_t blocks, double h);

  /// The rank of the next block, from 0.
  [[nodiscard]] std::uint64_t next_rank(RandomStream& random) const;
  /// The block of the next operation.
  [[nodiscard]] std::uint64_t next_block(RandomStream& random) const;

 private:
  std::uint64_t blocks_ = 1;
  bool zipf_ = false;
  double power_ = 1;
  double zeta_ = 1;
  double second_ = 1;
  double eta_ = 0;
};

}  // namespace krepro::randwrite
