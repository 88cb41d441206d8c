// Factors of trials and boots are drawn on the log scale, as a comparison of ratios assumes.
#include "generators/null/latency_model.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace krepro::null {

namespace {

/// Streams of one seed that must not meet those of the workers (0, 1, 2 ...).
constexpr std::uint64_t noise_stream = 1ULL << 40U;
constexpr std::uint64_t boot_stream = 1ULL << 41U;

}  // namespace

LatencyModel::LatencyModel(const Options& options, std::uint64_t seed)
    : deviation_(options.number("deviation")), modes_apart_(options.number("modes-apart")) {
  const std::string& name = options.text("distribution");
  shape_ = name == "uniform"       ? Shape::uniform
           : name == "exponential" ? Shape::exponential
           : name == "normal"      ? Shape::normal
           : name == "bimodal"     ? Shape::bimodal
                                   : Shape::fixed;
  RandomStream noise(seed, noise_stream);
  RandomStream boot(static_cast<std::uint64_t>(options.integer("boot")), boot_stream);
  mean_ns_ = static_cast<double>(options.integer("latency")) * options.number("slow") *
             std::pow(1 + options.number("drift"), static_cast<double>(options.integer("trial"))) *
             std::exp(options.number("noise") * noise.normal()) *
             std::exp(options.number("boot-spread") * boot.normal());
}

std::int64_t LatencyModel::draw_ns(RandomStream& random) const {
  double factor = 1;
  switch (shape_) {
    case Shape::fixed:
      break;
    case Shape::uniform:
      factor = 1 + std::sqrt(3.0) * deviation_ * (2 * random.uniform() - 1);
      break;
    case Shape::exponential:
      factor = random.exponential();
      break;
    case Shape::normal:
      factor = 1 + deviation_ * random.normal();
      break;
    case Shape::bimodal:
      factor = (random.next() & 1U) == 0 ? 1 - modes_apart_ / 2 : 1 + modes_apart_ / 2;
      break;
  }
  return static_cast<std::int64_t>(std::max(0.0, std::round(mean_ns_ * factor)));
}

}  // namespace krepro::null
