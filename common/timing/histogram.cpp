// Reading of a histogram, and its JSON. Recording is in the header.
#include "common/timing/histogram.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro {
namespace {

struct NamedShare {
  const char* name;
  double share;
};
constexpr NamedShare named_shares[] = {
    {"p50", 0.5},  {"p75", 0.75},    {"p90", 0.9},       {"p95", 0.95},
    {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999},
};

[[noreturn]] void refuse(const std::string& why) {
  throw usage_error("not a latency histogram: " + why);
}

/// A whole number of 0 or more, or an error.
std::uint64_t whole(const nlohmann::json& value, const char* what) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  // A value that was set from a signed variable and never went through text.
  if (value.is_number_integer() && value.get<std::int64_t>() >= 0) {
    return value.get<std::uint64_t>();
  }
  refuse(std::string(what) + " is not a whole number of 0 or more");
}

std::uint64_t whole_member(const nlohmann::json& json, const char* name) {
  const auto member = json.find(name);
  if (member == json.end()) refuse(std::string(name) + " is missing");
  return whole(*member, name);
}

std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b) {
  if (a + b < a) refuse("the counts are too large");
  return a + b;
}

void check_layout(const nlohmann::json& json) {
  if (!json.is_object()) refuse("an object was expected");
  if (json.value("unit", nlohmann::json()) != "ns") refuse("its unit is not ns");
  if (whole_member(json, "sub_bucket_bits") != Histogram::sub_bucket_bits ||
      whole_member(json, "limit") != Histogram::limit_ns) {
    refuse("its buckets are not laid out as this version's");
  }
}

/// What the buckets say about the values as a whole.
struct Occupied {
  std::size_t first = Histogram::bucket_count;
  std::size_t last = 0;
  std::uint64_t count = 0;
  double least_sum = 0;
  double greatest_sum = 0;
};

Occupied read_buckets(const nlohmann::json& json,
                      std::array<std::uint64_t, Histogram::bucket_count>& buckets) {
  const auto list = json.find("buckets");
  if (list == json.end() || !list->is_array()) refuse("buckets is missing or no array");
  Occupied occupied;
  for (const nlohmann::json& pair : *list) {
    if (!pair.is_array() || pair.size() != 2) refuse("a bucket is not [index,count]");
    const std::uint64_t index = whole(pair[0], "a bucket's index");
    const std::uint64_t count = whole(pair[1], "a bucket's count");
    if (index >= Histogram::bucket_count) refuse("a bucket's index is out of range");
    if (count == 0) refuse("a bucket's count is 0");
    if (occupied.count != 0 && index <= occupied.last) refuse("the buckets are not in order");
    if (occupied.count == 0) occupied.first = index;
    occupied.last = index;
    occupied.count = checked_sum(occupied.count, count);
    occupied.least_sum +=
        static_cast<double>(count) * static_cast<double>(Histogram::bucket_low(index));
    occupied.greatest_sum +=
        static_cast<double>(count) * static_cast<double>(Histogram::bucket_low(index + 1) - 1);
    buckets[index] = count;
  }
  return occupied;
}

/// The extremes must lie in the outermost buckets, or in the overflow.
void check_extremes(const Occupied& occupied, std::uint64_t overflow, std::uint64_t min,
                    std::uint64_t max) {
  const auto in_bucket = [](std::uint64_t value, std::size_t index) {
    return value < Histogram::limit_ns && Histogram::bucket_of(value) == index;
  };
  const bool min_fits =
      occupied.count == 0 ? min >= Histogram::limit_ns : in_bucket(min, occupied.first);
  const bool max_fits = overflow != 0 ? max >= Histogram::limit_ns : in_bucket(max, occupied.last);
  if (min > max || !min_fits || !max_fits) refuse("min and max do not fit its buckets");
}

void check_sum(const Occupied& occupied, std::uint64_t overflow, std::uint64_t max, double sum) {
  const auto values_beyond = static_cast<double>(overflow);
  const double least =
      occupied.least_sum + values_beyond * static_cast<double>(Histogram::limit_ns);
  const double greatest = occupied.greatest_sum + values_beyond * static_cast<double>(max);
  // The tolerance is for the rounding of the products, and of a sum that was written as a double.
  constexpr double tolerance = 1e-9;
  if (sum < least * (1 - tolerance) || sum > greatest * (1 + tolerance)) {
    refuse("sum does not fit its buckets");
  }
}

}  // namespace

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  overflow_ += other.overflow_;
  negative_ += other.negative_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  if (count_ == 0) return 0;
  // Rounding of the two conversions could carry it past the ends by a last bit.
  return std::clamp(static_cast<double>(sum_) / static_cast<double>(count_),
                    static_cast<double>(min_), static_cast<double>(max_));
}

std::uint64_t Histogram::rank_of(double share) const {
  KREPRO_CHECK(share >= 0 && share <= 1);
  // 0.07 * 100 is a little above 7 in binary, which must not become 8.
  constexpr double slack = 1 - 0x1p-50;
  const double rank = std::ceil(share * static_cast<double>(count_) * slack);
  if (rank >= static_cast<double>(count_)) return count_;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(rank), 1);
}

std::uint64_t Histogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const std::uint64_t rank = rank_of(share);
  if (rank == 1) return min_;  // The outermost values are known exactly.
  if (rank == count_) return max_;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += buckets_[i];
    if (seen >= rank) {
      const std::uint64_t low = bucket_low(i);
      const std::uint64_t middle = low + (bucket_low(i + 1) - low) / 2;
      return std::clamp(middle, min_, max_);
    }
  }
  return max_;
}

bool Histogram::percentile_is_bound(double share) const {
  return count_ != 0 && rank_of(share) > count_ - overflow_;
}

std::uint64_t Histogram::bucket_low(std::size_t index) {
  if (index < 2 * sub_buckets) return index;
  const std::size_t shift = (index >> sub_bucket_bits) - 1;
  return (sub_buckets + (index & (sub_buckets - 1))) << shift;
}

std::string format_percentile(const Histogram& histogram, double share) {
  if (histogram.count() == 0) return "n/a";
  if (histogram.percentile_is_bound(share)) {
    return "> " + format_duration(static_cast<double>(Histogram::limit_ns));
  }
  return format_duration(static_cast<double>(histogram.percentile(share)));
}

void to_json(nlohmann::json& json, const Histogram& histogram) {
  json = {{"unit", "ns"},
          {"sub_bucket_bits", Histogram::sub_bucket_bits},
          {"limit", Histogram::limit_ns},
          {"count", histogram.count_},
          {"overflow", histogram.overflow_},
          {"negative", histogram.negative_}};
  if (histogram.sum_ >> 64 == 0) {
    json["sum"] = static_cast<std::uint64_t>(histogram.sum_);
  } else {
    json["sum"] = static_cast<double>(histogram.sum_);
  }
  // No latency is known where nothing was measured: null, which nobody takes for a fast 0.
  const bool empty = histogram.count_ == 0;
  json["min"] = empty ? nlohmann::json() : nlohmann::json(histogram.min_);
  json["max"] = empty ? nlohmann::json() : nlohmann::json(histogram.max_);
  json["mean"] = empty ? nlohmann::json() : nlohmann::json(histogram.mean());
  for (const auto& [name, share] : named_shares) {
    json[name] = empty ? nlohmann::json() : nlohmann::json(histogram.percentile(share));
  }
  nlohmann::json& buckets = json["buckets"] = nlohmann::json::array();
  for (std::size_t i = 0; i < Histogram::bucket_count; ++i) {
    if (histogram.buckets_[i] != 0) buckets.push_back({i, histogram.buckets_[i]});
  }
}

void from_json(const nlohmann::json& json, Histogram& histogram) {
  check_layout(json);
  Histogram read;
  const Occupied occupied = read_buckets(json, read.buckets_);
  read.count_ = whole_member(json, "count");
  read.overflow_ = whole_member(json, "overflow");
  read.negative_ = whole_member(json, "negative");
  if (checked_sum(occupied.count, read.overflow_) != read.count_) {
    refuse("the buckets do not add up to count");
  }
  if (read.negative_ > read.buckets_[0]) refuse("negative is more than the values of 0");
  if (json.contains("sum") && json["sum"].is_number_float()) {
    const double sum = json["sum"].get<double>();
    if (!(sum >= 0 && sum < 0x1p127)) refuse("sum is out of range");
    read.sum_ = static_cast<Histogram::Sum>(sum);
  } else {
    read.sum_ = whole_member(json, "sum");
  }
  if (read.count_ != 0) {
    read.min_ = whole_member(json, "min");
    read.max_ = whole_member(json, "max");
    check_extremes(occupied, read.overflow_, read.min_, read.max_);
  }
  check_sum(occupied, read.overflow_, read.max_, static_cast<double>(read.sum_));
  histogram = read;
}

}  // namespace krepro
