// The comparison of two programs that ran in turn: one log ratio per block of four runs in ABBA
// order, Student's t over the blocks, and the rule that ends the measuring. Pure functions; nothing
// is run and no clock is read here. docs/fidelity.md says why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "suite/statistics/summary.h"

namespace krepro::fidelity {

enum class Side : std::uint8_t { original, ours };
[[nodiscard]] const char* to_string(Side side);

inline constexpr std::size_t runs_per_block = 4;
/// Blocks that an interval needs before it may end the measuring: with fewer, an interval is often
/// narrow by chance.
inline constexpr std::size_t blocks_before_stopping = 6;
/// Blocks below which no verdict is given at all.
inline constexpr std::size_t blocks_for_verdict = 3;

/// Who runs in block number `block`: original, ours, ours, original; in the next block the other
/// way round. A drift that is linear over a block cancels in its ratio, one that bends over two
/// blocks nearly so.
[[nodiscard]] std::array<Side, runs_per_block> block_order(std::size_t block);

/// Ratio ours / original of one quantity, with its 95 % interval over blocks.
struct RatioEstimate {
  std::size_t blocks = 0;
  double ratio = 1;
  std::optional<Interval> interval;  ///< Nothing for fewer than two blocks.

  /// Half the interval as a share of the ratio, on the log scale: 0.02 for +-2 %. Infinite without
  /// an interval.
  [[nodiscard]] double half_width() const;
};

/// `log_ratios`: per block, ln(mean of ours / mean of the original's).
[[nodiscard]] RatioEstimate estimate_ratio(std::span<const double> log_ratios);

struct StoppingRule {
  double half_width = 0.02;
  std::size_t max_blocks = 20;
  std::int64_t max_time_ns = 120'000'000'000;
};

enum class Stop : std::uint8_t { go_on, narrow, out_of_blocks, out_of_time };

/// Whether to measure another block. Looks at the widths of the intervals only, never at where they
/// lie: the wish for a verdict cannot end the measuring, so the ratio stays unbiased.
/// `half_widths`: of every quantity that is judged.
[[nodiscard]] Stop decide(const StoppingRule& rule, std::size_t blocks,
                          std::span<const double> half_widths, std::int64_t elapsed_ns);

}  // namespace krepro::fidelity
