// The histogram against exact answers, and against what other tools got wrong: wrapped counters,
// percentiles stuck at the top bucket or outside of [min, max], sums that overflow.
#include "common/timing/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/timing/test_times.h"

namespace krepro {
namespace {

constexpr double shares[] = {0,   0.001, 0.01, 0.1,   0.25,   0.5, 0.75,
                             0.9, 0.95,  0.99, 0.999, 0.9999, 1};

/// The histogram after `doublings` merges with itself: 2^doublings times the values.
Histogram doubled(Histogram histogram, int doublings) {
  for (int i = 0; i < doublings; ++i) {
    const Histogram copy = histogram;
    histogram.merge(copy);
  }
  return histogram;
}

/// A value whose magnitude is as likely to be 10 ns as 10 min.
std::int64_t value_of_any_magnitude(RandomStream& random) {
  return static_cast<std::int64_t>(std::exp2(random.uniform() * Histogram::max_exponent));
}

/// Exact nearest-rank percentile of sorted values.
std::uint64_t exact_percentile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(
      std::max(1.0, std::ceil(share * static_cast<double>(sorted.size()) - 1e-6)));
  return static_cast<std::uint64_t>(sorted[rank - 1]);
}

TEST(Histogram, CanLiveInSharedMemory) {
  static_assert(std::is_trivially_copyable_v<Histogram>);
  static_assert(sizeof(Histogram) < 38'000);
}

TEST(Histogram, EveryBucketStartsWhereTheOneBeforeEnds) {
  EXPECT_EQ(Histogram::bucket_low(0), 0U);
  EXPECT_EQ(Histogram::bucket_low(Histogram::bucket_count), Histogram::limit_ns);
  for (std::size_t i = 0; i < Histogram::bucket_count; ++i) {
    const std::uint64_t low = Histogram::bucket_low(i);
    const std::uint64_t next = Histogram::bucket_low(i + 1);
    ASSERT_LT(low, next);
    ASSERT_EQ(Histogram::bucket_of(low), i);
    ASSERT_EQ(Histogram::bucket_of(next - 1), i);
    ASSERT_LE(static_cast<double>(next - 1 - low), 0.008 * static_cast<double>(low));
  }
}

TEST(Histogram, EmptyHasNoValues) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_EQ(empty.min(), 0U);
  EXPECT_EQ(empty.max(), 0U);
  EXPECT_EQ(empty.mean(), 0);
  EXPECT_EQ(empty.percentile(0.5), 0U);
  EXPECT_FALSE(empty.percentile_is_bound(0.5));
  EXPECT_EQ(format_percentile(empty, 0.5), "n/a");
}

TEST(Histogram, OneSampleIsAllItsPercentiles) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{1}, std::int64_t{255},
                                   std::int64_t{256}, std::int64_t{1'234'567}, 100 * second}) {
    Histogram histogram;
    histogram.record(value);
    for (const double share : shares) {
      EXPECT_EQ(histogram.percentile(share), static_cast<std::uint64_t>(value)) << share;
    }
    EXPECT_EQ(histogram.mean(), static_cast<double>(value));
  }
}

TEST(Histogram, TwoSamplesAreTheEnds) {
  Histogram histogram;
  histogram.record(1'000'003);
  histogram.record(7'000'001);
  EXPECT_EQ(histogram.percentile(0), 1'000'003U);
  EXPECT_EQ(histogram.percentile(1), 7'000'001U);
  for (const double share : shares) {
    EXPECT_GE(histogram.percentile(share), histogram.min());
    EXPECT_LE(histogram.percentile(share), histogram.max());
  }
}

TEST(Histogram, NearestRankIsNotDisturbedByBinaryFractions) {
  Histogram histogram;
  for (int value = 1; value <= 100; ++value) histogram.record(value);
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_EQ(histogram.percentile(percent / 100.0), static_cast<std::uint64_t>(percent));
  }
  EXPECT_EQ(histogram.percentile(0.071), 8U);
}

TEST(Histogram, PercentilesAreWithinEightPerMilleOfTheExactOnes) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    RandomStream random(seed);
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 20'000; ++i) {
      values.push_back(value_of_any_magnitude(random));
      histogram.record(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const double share : shares) {
      const auto exact = static_cast<double>(exact_percentile(values, share));
      const auto found = static_cast<double>(histogram.percentile(share));
      EXPECT_LE(std::fabs(found - exact), 0.008 * exact) << "seed " << seed << " share " << share;
    }
    EXPECT_EQ(histogram.min(), static_cast<std::uint64_t>(values.front()));
    EXPECT_EQ(histogram.max(), static_cast<std::uint64_t>(values.back()));
  }
}

TEST(Histogram, PercentilesRiseAndStayBetweenMinAndMax) {
  RandomStream random(4);
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    const std::uint64_t size = 1 + random.below(200);
    for (std::uint64_t i = 0; i < size; ++i) histogram.record(value_of_any_magnitude(random));
    std::uint64_t last = 0;
    for (int step = 0; step <= 1000; ++step) {
      const std::uint64_t value = histogram.percentile(step / 1000.0);
      ASSERT_GE(value, last);
      ASSERT_GE(value, histogram.min());
      ASSERT_LE(value, histogram.max());
      last = value;
    }
  }
}

TEST(Histogram, MergingIsTheSameAsRecordingIntoOne) {
  RandomStream random(5);
  Histogram all;
  Histogram parts[3];
  for (int i = 0; i < 3000; ++i) {
    // Some negative, some beyond the limit.
    const std::int64_t value = value_of_any_magnitude(random) * 2 - 100;
    all.record(value);
    parts[i % 3].record(value);
  }
  Histogram merged;
  for (const Histogram& part : parts) merged.merge(part);
  EXPECT_EQ(nlohmann::json(merged), nlohmann::json(all));
  EXPECT_GT(merged.overflow(), 0U);
  EXPECT_GT(merged.negative(), 0U);

  merged.merge(Histogram());
  EXPECT_EQ(nlohmann::json(merged), nlohmann::json(all));
}

TEST(Histogram, CountsBeyond32BitAreExact) {
  // 4 histograms of 5e9 equal values, from 5e9 = 2^9 * 9765625.
  Histogram once;
  for (int i = 0; i < 9'765'625; ++i) once.record(2'000'000);
  const Histogram histogram = doubled(once, 9);
  ASSERT_EQ(histogram.count(), 5'000'000'000U);
  const Histogram merged = doubled(histogram, 2);
  EXPECT_EQ(merged.count(), 20'000'000'000U);
  EXPECT_EQ(merged.bucket(Histogram::bucket_of(2'000'000)), 20'000'000'000U);
  for (const double share : shares) EXPECT_EQ(merged.percentile(share), 2'000'000U);
  EXPECT_EQ(merged.mean(), 2e6);
}

TEST(Histogram, SumsBeyond64BitAreExact) {
  Histogram histogram;
  histogram.record(100 * second);
  histogram.record(300 * second);
  histogram = doubled(histogram, 32);  // 1.7e21 ns in total.
  EXPECT_EQ(histogram.mean(), 200e9);
  EXPECT_EQ(histogram.count(), 1ULL << 33);
}

TEST(Histogram, LongLatenciesAreFollowedUpToTheLimit) {
  Histogram histogram;
  for (int i = 0; i < 10; ++i) histogram.record(100 * second + i);
  EXPECT_NEAR(static_cast<double>(histogram.percentile(0.5)), 100e9, 0.8e9);
  static_assert(Histogram::limit_ns > 3600ULL * second);
  histogram.clear();
  histogram.record(static_cast<std::int64_t>(Histogram::limit_ns) - 1);
  EXPECT_EQ(histogram.overflow(), 0U);
  EXPECT_EQ(histogram.percentile(1), Histogram::limit_ns - 1);
}

TEST(Histogram, BeyondTheLimitIsCountedAndSaidSo) {
  Histogram histogram;
  for (int i = 0; i < 98; ++i) histogram.record(1000);
  histogram.record(static_cast<std::int64_t>(Histogram::limit_ns));
  histogram.record(20'000 * second);
  EXPECT_EQ(histogram.count(), 100U);
  EXPECT_EQ(histogram.overflow(), 2U);
  EXPECT_EQ(histogram.max(), 20'000ULL * second);
  EXPECT_FALSE(histogram.percentile_is_bound(0.98));
  EXPECT_NEAR(static_cast<double>(histogram.percentile(0.98)), 1000, 8);
  EXPECT_TRUE(histogram.percentile_is_bound(0.99));
  EXPECT_EQ(histogram.percentile(0.99), histogram.max());
  EXPECT_EQ(format_percentile(histogram, 0.98), "1 us");
  EXPECT_EQ(format_percentile(histogram, 0.99), "> 73.3 min");
  EXPECT_DOUBLE_EQ(histogram.mean(), (98 * 1000.0 + std::exp2(42) + 2e13) / 100);
}

TEST(Histogram, NegativeDifferencesBecomeZeroAndAreCounted) {
  Histogram histogram;
  histogram.record(-1);
  histogram.record(std::numeric_limits<std::int64_t>::min());
  histogram.record(5);
  EXPECT_EQ(histogram.negative(), 2U);
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.max(), 5U);
  EXPECT_EQ(histogram.percentile(0.5), 0U);
}

Histogram example() {
  RandomStream random(6);
  Histogram histogram;
  for (int i = 0; i < 500; ++i) histogram.record(value_of_any_magnitude(random) * 2 - 10);
  return histogram;
}

TEST(HistogramJson, RoundTripsThroughText) {
  for (const Histogram& histogram :
       {example(), Histogram(), doubled(example(), 20), doubled(example(), 40)}) {
    const nlohmann::json json = histogram;
    const auto read = nlohmann::json::parse(json.dump()).get<Histogram>();
    EXPECT_EQ(nlohmann::json(read), json);
    for (const double share : shares)
      EXPECT_EQ(read.percentile(share), histogram.percentile(share));
  }
}

TEST(HistogramJson, HasTheFieldsThatReadersLookFor) {
  Histogram histogram;
  histogram.record(100);
  histogram.record(200);
  histogram.record(200);
  const nlohmann::json json = histogram;
  EXPECT_EQ(json["unit"], "ns");
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["overflow"], 0);
  EXPECT_EQ(json["min"], 100);
  EXPECT_EQ(json["max"], 200);
  EXPECT_EQ(json["sum"], 500);
  EXPECT_EQ(json["p50"], 200);
  EXPECT_EQ(json["p99.99"], 200);
  EXPECT_EQ(json["buckets"].dump(), "[[100,1],[200,2]]");
}

TEST(HistogramJson, NothingRecordedIsNullNotZero) {
  const nlohmann::json json = Histogram();
  for (const char* name : {"min", "max", "mean", "p50", "p99.9"}) EXPECT_TRUE(json[name].is_null());
  EXPECT_EQ(json["buckets"].dump(), "[]");
}

TEST(HistogramJson, IsSmallWhereLatenciesAreAlike) {
  RandomStream random(7);
  Histogram histogram;
  for (int i = 0; i < 1'000'000; ++i) {
    histogram.record(static_cast<std::int64_t>(20'000 * std::exp(0.3 * random.normal())));
  }
  EXPECT_LT(nlohmann::json(histogram).dump().size(), 6000U);
}

TEST(HistogramJson, RefusesWhatIsNoHistogramOrContradictsItself) {
  const nlohmann::json good = nlohmann::json::parse(nlohmann::json(example()).dump());
  const auto first_index = good["buckets"][1][0].get<std::uint64_t>();
  struct Damage {
    const char* pointer;
    nlohmann::json value;
    const char* message;
  };
  const Damage damages[] = {
      {"/unit", "us", "unit is not ns"},
      {"/unit", 7, "unit is not ns"},
      {"/sub_bucket_bits", 8, "laid out"},
      {"/limit", 4096, "laid out"},
      {"/count", 499, "add up"},
      {"/count", -1, "count is not a whole number"},
      {"/count", 500.5, "count is not a whole number"},
      {"/count", "500", "count is not a whole number"},
      {"/overflow", 0, "add up"},
      {"/negative", 1000, "negative is more"},
      {"/sum", -1.0, "sum is out of range"},
      {"/sum", 1e300, "sum is out of range"},
      {"/sum", 1, "sum does not fit"},
      {"/sum", 1e25, "sum does not fit"},
      {"/sum", nullptr, "sum is not a whole number"},
      {"/min", 12345, "min and max do not fit"},
      {"/max", 1, "min and max do not fit"},
      {"/min", nullptr, "min is not a whole number"},
      {"/buckets", "none", "no array"},
      {"/buckets/0", 5, "[index,count]"},
      {"/buckets/0", nlohmann::json::array({1, 2, 3}), "[index,count]"},
      {"/buckets/0/0", 4608, "index is out of range"},
      {"/buckets/0/0", -1, "index is not a whole number"},
      {"/buckets/0/0", first_index, "not in order"},
      {"/buckets/0/1", 0, "count is 0"},
      {"/buckets/0/1", 1ULL << 63, "add up"},
  };
  for (const Damage& damage : damages) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(damage.pointer)] = damage.value;
    Histogram untouched;
    untouched.record(42);
    try {
      bad.get_to(untouched);
      ADD_FAILURE() << damage.pointer << " = " << damage.value << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(damage.message), std::string::npos)
          << damage.pointer << ": " << error.what();
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
    EXPECT_EQ(untouched.percentile(1), 42U) << "was changed by a bad input";
  }
  for (const char* name :
       {"unit", "limit", "count", "overflow", "negative", "sum", "min", "buckets"}) {
    nlohmann::json bad = good;
    bad.erase(name);
    EXPECT_THROW((void)bad.get<Histogram>(), Error) << name;
  }
  for (const char* text : {"null", "[]", "3", "\"x\"", "{}"}) {
    EXPECT_THROW((void)nlohmann::json::parse(text).get<Histogram>(), Error) << text;
  }
}

}  // namespace
}  // namespace krepro
