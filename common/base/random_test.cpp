// The published sequences: expected values come from an independent implementation in another
// language. A change here makes every recorded seed worthless.
#include "common/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace krepro {
namespace {

std::vector<std::uint64_t> first_four(std::uint64_t seed, std::uint64_t stream) {
  RandomStream random(seed, stream);
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 4; ++i) values.push_back(random.next());
  return values;
}

using Values = std::vector<std::uint64_t>;

TEST(RandomStream, ThePublishedSequences) {
  EXPECT_EQ(first_four(1, 0), (Values{0x79b5934e8167bbe7, 0x39a9326bfb154def, 0x5560d3e6b2f1b07a,
                                      0x5edfa644e3e2423b}));
  EXPECT_EQ(first_four(1, 1), (Values{0xba016177686e5b7d, 0x4c1ff17b710559f4, 0x610411d97959ecee,
                                      0x19c2dac1f0089f18}));
  EXPECT_EQ(first_four(0, 0), (Values{0xfeb48c6e8d14c16b, 0x48d3522199450d65, 0x3d337a61887dab97,
                                      0xf2162d59d8cd5d2d}));
  EXPECT_EQ(first_four(~0ULL, 7), (Values{0x109e02d6099cc2e7, 0x46b28a8ecbf1e074,
                                          0xd6b6854185b5b7a3, 0x11805424f561dec5}));
}

TEST(RandomStream, ThePublishedDerivedSequences) {
  RandomStream small(1);
  for (const std::uint64_t expected : {47U, 22U, 33U, 37U, 6U, 92U, 86U, 96U}) {
    EXPECT_EQ(small.below(100), expected);
  }
  // A quarter of the raw values is refused for this bound; 4 of the first 8 of this seed.
  RandomStream large(3);
  for (const std::uint64_t expected :
       {2274424774559367928U, 11982425409962296252U, 12021384461028978351U, 1129979775782232695U}) {
    EXPECT_EQ(large.below(3ULL << 62), expected);
  }
  RandomStream gaps(1);
  for (const double expected : {0.6451704347094708, 0.2551993815954861, 0.4057282287871409}) {
    EXPECT_DOUBLE_EQ(gaps.exponential(), expected);
  }
  RandomStream normal(1);
  for (const double expected : {0.1760209813761405, -0.6191177051299803, 0.3250677980334875}) {
    EXPECT_NEAR(normal.normal(), expected, 1e-14);
  }
}

TEST(RandomStream, NeighbouringSeedsAndStreamsHaveNothingInCommon) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (std::uint64_t stream = 0; stream < 50; ++stream) {
      for (const std::uint64_t value : first_four(seed, stream)) seen.insert(value);
    }
  }
  EXPECT_EQ(seen.size(), 50U * 50U * 4U);
}

TEST(RandomStream, BelowStaysBelowAndReachesEveryValueAlike) {
  RandomStream random(11);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
  // Chi squared with 6 degrees of freedom is above 33.1 once in 10^5 seeds.
  std::array<double, 7> counts{};
  constexpr int draws = 700'000;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = random.below(7);
    ASSERT_LT(value, 7U);
    counts[value] += 1;
  }
  constexpr double expected = draws / 7.0;
  double chi_squared = 0;
  for (const double count : counts) chi_squared += (count - expected) * (count - expected);
  EXPECT_LT(chi_squared / expected, 33.1);
}

TEST(RandomStream, BelowIsUnbiasedForBoundsNearTheWholeRange) {
  // 2^64 is 4/3 of this bound. The plain remainder would give a third of the values twice as often,
  // the high word of the product without refusal one of three remainders.
  RandomStream random(12);
  constexpr std::uint64_t bound = 3ULL << 62;
  constexpr int draws = 100'000;
  std::array<double, 3> counts{};
  std::array<double, 3> remainders{};
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t value = random.below(bound);
    ASSERT_LT(value, bound);
    counts[value >> 62] += 1;
    remainders[value % 3] += 1;
  }
  for (const double count : counts) EXPECT_NEAR(count / draws, 1.0 / 3, 0.007);
  for (const double count : remainders) EXPECT_NEAR(count / draws, 1.0 / 3, 0.007);
}

TEST(RandomStream, UniformIsInItsHalfOpenInterval) {
  RandomStream random(13);
  double sum = 0;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / draws, 0.5, 0.004);
}

TEST(RandomStream, ExponentialAndNormalHaveTheirMoments) {
  RandomStream random(14);
  constexpr int draws = 200'000;
  double sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double gap = random.exponential();
    ASSERT_TRUE(gap >= 0 && std::isfinite(gap));
    sum += gap;
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    normal_sum += value;
    normal_squares += value * value;
  }
  EXPECT_NEAR(sum / draws, 1, 0.01);
  EXPECT_NEAR(normal_sum / draws, 0, 0.01);
  EXPECT_NEAR(normal_squares / draws, 1, 0.015);
}

TEST(RandomStreamDeathTest, BelowNeedsABound) {
  RandomStream random(1);
  EXPECT_DEATH((void)random.below(0), "internal error");
}

TEST(FreshSeed, DiffersAndSurvivesAReaderThatUsesDoubles) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t seed = fresh_seed();
    EXPECT_EQ(static_cast<std::uint64_t>(static_cast<double>(seed)), seed);
    EXPECT_LT(seed, 1ULL << 53);
    seeds.insert(seed);
  }
  EXPECT_EQ(seeds.size(), 100U);
}

}  // namespace
}  // namespace krepro
