// Seeded random streams: same seed and stream, same sequence, on every machine and compiler (so no
// std:: distribution, whose results are not specified). xoshiro256++ seeded by SplitMix64 (Blackman
// and Vigna, public domain algorithms).
#pragma once

#include <array>
#include <cstdint>

namespace krepro {

class RandomStream {
 public:
  /// Streams with the same seed and different `stream` numbers are independent (worker 0, worker 1,
  /// ...).
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0);

  /// 64 uniform bits.
  std::uint64_t next() {
    const std::uint64_t result = rotate_left(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound), without bias. bound >= 1.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Exponential with mean 1; at most 36.8. This and normal() use the C library's logarithm and
  /// cosine: between libraries or architectures the last bit may differ.
  double exponential();
  /// Normal with mean 0 and standard deviation 1 (Box-Muller, one value per call).
  double normal();

 private:
  static std::uint64_t rotate_left(std::uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
  }
  std::array<std::uint64_t, 4> state_;
};

/// A seed from the kernel's random source, for runs that were given none; it is recorded in the
/// sample, and below 2^53, because many readers of JSON keep numbers as doubles. Throws
/// system_error.
[[nodiscard]] std::uint64_t fresh_seed();

}  // namespace krepro
