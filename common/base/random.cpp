// Seeding and the derived distributions. The sequences are published by random_test.cpp: changing
// any of them makes recorded seeds worthless.
#include "common/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cmath>
#include <numbers>

#include "common/base/check.h"
#include "common/base/error.h"

namespace krepro {
namespace {

constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;

/// The output function of SplitMix64: a bijection in which every input bit reaches every output
/// bit.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream) {
  // Seed and stream are mixed one after the other, so that (1, 0) and (0, 1) have nothing in
  // common, as they would if they were added.
  std::uint64_t counter = mix(mix(seed + golden_ratio) ^ stream);
  for (std::uint64_t& word : state_) {
    counter += golden_ratio;
    word = mix(counter);
  }
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  KREPRO_CHECK(bound >= 1);
  // Lemire, "Fast random integer generation in an interval" (2019): the high word of a product,
  // with the few values refused that would make some results more frequent.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) [[unlikely]] {
    const std::uint64_t refused = (0 - bound) % bound;  // 2^64 modulo bound
    while (static_cast<std::uint64_t>(product) < refused) {
      product = static_cast<Wide>(next()) * bound;
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double RandomStream::exponential() {
  return -std::log1p(-uniform());  // The argument is above -1: never infinite.
}

double RandomStream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is above 0.
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::uint64_t fresh_seed() {
  std::uint64_t bits = 0;
  ssize_t length = 0;
  do {
    length = getrandom(&bits, sizeof bits, 0);
  } while (length < 0 && errno == EINTR);
  // Up to 256 bytes are never delivered in part (man 2 getrandom).
  if (length != sizeof bits) throw system_error("getrandom", errno);
  return bits >> 11;
}

}  // namespace krepro
