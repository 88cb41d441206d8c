// A mergeable log-linear histogram of latencies in nanoseconds: 128 sub-buckets per power of two,
// so that a bucket is at most 1/128 of its values wide (0.78 %), and its middle, which percentiles
// give, off by at most half of that; exact below 256 ns. Range: up to 2^42 ns (73 min); what lies
// beyond is counted as overflow, never clamped into the last bucket. Trivially copyable and of
// fixed size (37 KB): it can live in memory shared between processes, and recording allocates
// nothing. One writer at a time: each worker has its own, merged after the run.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

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

  /// Adds the other's values to these. Exact: all counters have 64 bits, the sum 128.
  void merge(const Histogram& other);
  void clear() { *this = Histogram(); }

  [[nodiscard]] std::uint64_t count() const { return count_; }  ///< All values, overflow included.
  [[nodiscard]] std::uint64_t overflow() const {
    return overflow_;
  }  ///< Values of limit_ns or more.
  [[nodiscard]] std::uint64_t negative() const { return negative_; }
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }  ///< Exact; ns.
  [[nodiscard]] std::uint64_t max() const { return max_; }                    ///< Exact; ns.
  /// From the exact sum, overflow included; ns; 0 for an empty histogram.
  [[nodiscard]] double mean() const;
  /// Value at `share` (0 to 1) of the recorded values (nearest rank), in ns; within [min, max]. In
  /// the overflow: max(), and percentile_is_bound() is true: only "limit_ns or more" is known then.
  /// 0 for an empty histogram. For people use format_percentile().
  [[nodiscard]] std::uint64_t percentile(double share) const;
  [[nodiscard]] bool percentile_is_bound(double share) const;

  /// Index of the bucket of a value below limit_ns. Free of branches: setting the bit of weight
  /// sub_buckets makes small values share the code of the first power of two, whose buckets are 1
  /// wide too.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) {
    const int exponent = 63 - std::countl_zero(value | sub_buckets);
    const int shift = exponent - sub_bucket_bits;
    return static_cast<std::size_t>((static_cast<std::uint64_t>(shift) << sub_bucket_bits) +
                                    (value >> shift));
  }
  /// Smallest value of bucket `index`; bucket_low(bucket_count) is limit_ns.
  [[nodiscard]] static std::uint64_t bucket_low(std::size_t index);
  [[nodiscard]] std::uint64_t bucket(std::size_t index) const { return buckets_[index]; }

 private:
  /// 64 bits would wrap after 5e9 values of 4 s.
  __extension__ using Sum = unsigned __int128;
  friend void to_json(nlohmann::json& json, const Histogram& histogram);
  friend void from_json(const nlohmann::json& json, Histogram& histogram);
  /// The rank, from 1, of the value at `share`; count_ is not 0.
  [[nodiscard]] std::uint64_t rank_of(double share) const;

  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t overflow_ = 0;
  std::uint64_t negative_ = 0;
  Sum sum_ = 0;
  std::uint64_t min_ = ~0ULL;
  std::uint64_t max_ = 0;
};

/// "1.23 ms", "> 73.3 min" where the percentile lies in the overflow, "n/a" where nothing was
/// recorded.
[[nodiscard]] std::string format_percentile(const Histogram& histogram, double share);

/// {"unit":"ns", "sub_bucket_bits":7, "limit":.., "count":.., "overflow":.., "negative":..,
/// "sum":.., "min":.., "max":.., "mean":.., "p50":.., "p75", "p90", "p95", "p99", "p99.9",
/// "p99.99", "buckets":[[index,count],...]}: only buckets that hold something, by rising index. min
/// to p99.99 are null where nothing was recorded; a percentile of limit or more is a bound. sum is
/// exact below 2^64.
void to_json(nlohmann::json& json, const Histogram& histogram);
/// Throws usage_error where the JSON is not a histogram of this layout, or contradicts itself. The
/// mean and the percentiles are not read: they follow from the rest.
void from_json(const nlohmann::json& json, Histogram& histogram);

}  // namespace krepro
