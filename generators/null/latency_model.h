// The latencies that the null generator pretends: a distribution around a mean, and factors that
// make trials and boots differ as those of a real benchmark do. Everything follows from the seed,
// the trial's number and the boot's identity.
#pragma once

#include <cstdint>

#include "common/base/random.h"
#include "common/generator/options.h"

namespace krepro::null {

class LatencyModel {
 public:
  /// `seed` decides single latencies and the trial's noise; the option "boot" decides the boot's
  /// factor.
  LatencyModel(const Options& options, std::uint64_t seed);

  /// Mean latency of this trial in ns: latency x slow x drift x noise x boot.
  [[nodiscard]] double trial_mean_ns() const { return mean_ns_; }
  /// One latency in ns, >= 0.
  [[nodiscard]] std::int64_t draw_ns(RandomStream& random) const;

 private:
  enum class Shape : std::uint8_t { fixed, uniform, exponential, normal, bimodal };
  Shape shape_ = Shape::fixed;
  double mean_ns_ = 0;
  double deviation_ = 0;
  double modes_apart_ = 0;
};

}  // namespace krepro::null
