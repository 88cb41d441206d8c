// Log ratios over ABBA blocks; see ratio.h.
#include "suite/fidelity/ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/check.h"

namespace krepro::fidelity {

const char* to_string(Side side) { return side == Side::original ? "original" : "ours"; }

std::array<Side, runs_per_block> block_order(std::size_t block) {
  const Side first = block % 2 == 0 ? Side::original : Side::ours;
  const Side second = block % 2 == 0 ? Side::ours : Side::original;
  return {first, second, second, first};
}

double RatioEstimate::half_width() const {
  if (!interval) return std::numeric_limits<double>::infinity();
  return std::sqrt(interval->high / interval->low) - 1;
}

RatioEstimate estimate_ratio(std::span<const double> log_ratios) {
  RatioEstimate estimate;
  estimate.blocks = log_ratios.size();
  if (log_ratios.empty()) return estimate;
  const Summary summary = summarize(log_ratios);
  estimate.ratio = std::exp(summary.mean);
  if (summary.interval) {
    estimate.interval = Interval{std::exp(summary.interval->low), std::exp(summary.interval->high)};
  }
  return estimate;
}

Stop decide(const StoppingRule& rule, std::size_t blocks, std::span<const double> half_widths,
            std::int64_t elapsed_ns) {
  const bool all_narrow = std::all_of(half_widths.begin(), half_widths.end(),
                                      [&](double width) { return width <= rule.half_width; });
  if (blocks >= std::min(blocks_before_stopping, rule.max_blocks) && all_narrow) {
    return Stop::narrow;
  }
  if (blocks >= rule.max_blocks) return Stop::out_of_blocks;
  if (elapsed_ns >= rule.max_time_ns && blocks >= 1) return Stop::out_of_time;
  return Stop::go_on;
}

}  // namespace krepro::fidelity
