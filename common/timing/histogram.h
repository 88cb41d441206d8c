// A mergeable log-linear histogram of latencies in nanoseconds: 128 sub-buckets per power of two,
// so that a value is off by at most 1/128 of it (0.78 %); exact below 128 ns. Range: up to 2^42 ns
// (73 min); what lies beyond is counted as overflow, never clamped into the last bucket. Trivially
// copyable and of fixed size (37 KB): it can live in memory shared between processes, and recording
// allocates nothing.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace krepro {

class Histogram {
 public:
  static constexpr int sub_bucket_bits = 7;
  static constexpr int max_exponent = 42;
  static constexpr std::uint64_t sub_buckets = 1ULL << sub_bucket_bits;
  static constexpr std::uint64_t limit_ns = 1ULL
                                            << max_exponent;  ///< First value that is overflow.
  static constexpr std::size_t bucket_count = (max_exponent - sub_bucket_bits + 1) * sub_buckets;

  /// Records one value. A negative one (end before start) is recorded as 0 and counted in
  /// negative().
  void record(std::int64_t nanoseconds) {
    if (nanoseconds < 0) [[unlikely]] {
      ++negative_;
      nanoseconds = 0;
    }
    const auto value = static_cast<std::uint64_t>(nanoseconds);
    ++count_;
    sum_ += value;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
    if (value >= limit_ns) [[unlikely]] {
      ++overflow_;
      return;
    }
    ++buckets_[bucket_of(value)];
  }

  void merge(const Histogram& other);
  void clear() { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }  ///< All values, overflow included.
  [[nodiscard]] std::uint64_t overflow() const {
    return overflow_;
  }  ///< Values of limit_ns or more.
  [[nodiscard]] std::uint64_t negative() const { return negative_; }
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }
  [[nodiscard]] double mean() const;
  /// Value at `share` (0 to 1) of the recorded values, in ns; within [min, max]. In the overflow:
  /// max(), and percentile_is_bound() is true: print it as "more than limit". 0 for an empty
  /// histogram.
  [[nodiscard]] std::uint64_t percentile(double share) const;
  [[nodiscard]] bool percentile_is_bound(double share) const;

  /// Index of the bucket of a value below limit_ns.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < sub_buckets) return static_cast<std::size_t>(value);
    const int exponent = 63 - std::countl_zero(value);
    const int shift = exponent - sub_bucket_bits;
    return static_cast<std::size_t>((static_cast<std::uint64_t>(shift) << sub_bucket_bits) +
                                    (value >> shift));
  }
  /// Smallest value of bucket `index`.
  [[nodiscard]] static std::uint64_t bucket_low(std::size_t index);
  [[nodiscard]] std::uint64_t bucket(std::size_t index) const { return buckets_[index]; }

 private:
  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t overflow_ = 0;
  std::uint64_t negative_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = ~0ULL;
  std::uint64_t max_ = 0;
};

/// {"unit":"ns","count":..,"overflow":..,"min":..,"max":..,"mean":..,"p50":..,...,"buckets":[[index,count],...]}
void to_json(nlohmann::json& json, const Histogram& histogram);
/// Throws usage_error where the JSON is not a histogram of this layout.
void from_json(const nlohmann::json& json, Histogram& histogram);

}  // namespace krepro
