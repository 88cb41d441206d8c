// Which blocks come: each once per pass with a random map, the same for the same seed, skewed as
// the distributions say.
#include "generators/randwrite/offsets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace krepro::randwrite {
namespace {

OffsetPlan random_plan(std::uint64_t blocks) {
  OffsetPlan plan;
  plan.random = true;
  plan.blocks = blocks;
  return plan;
}

std::vector<std::uint64_t> take(Offsets& offsets, std::size_t count) {
  std::vector<std::uint64_t> taken;
  std::uint64_t offset = 0;
  while (taken.size() < count && offsets.next(Direction::write, offset)) taken.push_back(offset);
  return taken;
}

TEST(RandomMapTest, FindsTheNextFreeBlockAtEverySize) {
  for (const std::uint64_t blocks : {1U, 2U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 300'000U}) {
    RandomMap map(blocks);
    EXPECT_EQ(map.next_free(0), 0U);
    EXPECT_EQ(map.next_free(blocks - 1), blocks - 1);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      if (block != blocks / 2) map.take(block);
    }
    EXPECT_EQ(map.next_free(0), blocks / 2);
    EXPECT_EQ(map.next_free(blocks - 1), blocks / 2) << "it goes on at the beginning";
    EXPECT_FALSE(map.taken(blocks / 2));
    map.take(blocks / 2);
    EXPECT_EQ(map.next_free(0), RandomMap::none);
    map.clear();
    EXPECT_EQ(map.next_free(0), 0U);
    EXPECT_FALSE(map.taken(blocks - 1));
  }
}

TEST(OffsetsTest, ARandomPassTouchesEachBlockOnce) {
  Offsets offsets(random_plan(10'000), 1, 0);
  std::vector<std::uint64_t> pass = take(offsets, 20'000);
  EXPECT_EQ(pass.size(), 10'000U);
  EXPECT_FALSE(std::is_sorted(pass.begin(), pass.end()));
  std::sort(pass.begin(), pass.end());
  for (std::size_t i = 0; i < pass.size(); ++i) ASSERT_EQ(pass[i], i * 4096);
}

TEST(OffsetsTest, TheFirstTenThousandOfALargeRangeAreAllDifferent) {
  Offsets offsets(random_plan(13'107'200), 7, 0);  // 50 GiB
  const std::vector<std::uint64_t> first = take(offsets, 10'000);
  EXPECT_EQ(std::set<std::uint64_t>(first.begin(), first.end()).size(), 10'000U);
}

TEST(OffsetsTest, WithoutAMapBlocksRepeat) {
  OffsetPlan plan = random_plan(1000);
  plan.random_map = false;
  Offsets offsets(plan, 1, 0);
  const std::vector<std::uint64_t> taken = take(offsets, 1000);
  ASSERT_EQ(taken.size(), 1000U);
  const double unique =
      static_cast<double>(std::set<std::uint64_t>(taken.begin(), taken.end()).size()) / 1000;
  EXPECT_NEAR(unique, 1 - 1 / 2.718281828, 0.05);
}

TEST(OffsetsTest, TheSeedAloneDecides) {
  const auto first = [](std::uint64_t seed, std::uint64_t stream) {
    Offsets offsets(random_plan(100'000), seed, stream);
    return take(offsets, 100);
  };
  EXPECT_EQ(first(1, 0), first(1, 0));
  EXPECT_NE(first(1, 0), first(2, 0));
  EXPECT_NE(first(1, 0), first(1, 8)) << "another job, another order";
}

TEST(OffsetsTest, APassThatIsStartedAgainGoesOnAndARewoundOneRepeats) {
  Offsets offsets(random_plan(1000), 1, 0);
  const std::vector<std::uint64_t> first = take(offsets, 1000);
  offsets.restart();
  const std::vector<std::uint64_t> second = take(offsets, 1000);
  EXPECT_EQ(second.size(), 1000U);
  EXPECT_NE(first, second);
  offsets.rewind();
  EXPECT_EQ(take(offsets, 1000), first);
}

TEST(OffsetsTest, SequentialPassesGoFromTheFirstByteOnForEachDirection) {
  OffsetPlan plan;
  plan.blocks = 3;
  plan.block_bytes = 512;
  plan.first_byte = 1024;
  Offsets offsets(plan, 1, 0);
  std::uint64_t offset = 0;
  EXPECT_TRUE(offsets.next(Direction::read, offset));
  EXPECT_EQ(offset, 1024U);
  EXPECT_EQ(take(offsets, 9), (std::vector<std::uint64_t>{1024, 1536, 2048}));
  offsets.restart();
  EXPECT_EQ(take(offsets, 1), std::vector<std::uint64_t>{1024});
}

TEST(SkewTest, ZipfFollowsItsLaw) {
  const double theta = 0.9;
  const SkewedBlocks blocks = SkewedBlocks::zipf(1000, theta);
  RandomStream random(1);
  std::vector<double> counts(1000);
  constexpr int draws = 400'000;
  for (int i = 0; i < draws; ++i) ++counts[blocks.next_rank(random)];
  double zeta = 0;
  for (int i = 1; i <= 1000; ++i) zeta += std::pow(i, -theta);
  EXPECT_NEAR(counts[0] / draws, 1 / zeta, 0.005);
  EXPECT_NEAR(counts[1] / draws, std::pow(2, -theta) / zeta, 0.005);
  const double tenth = std::accumulate(counts.begin(), counts.begin() + 100, 0.0) / draws;
  double expected = 0;
  for (int i = 1; i <= 100; ++i) expected += std::pow(i, -theta) / zeta;
  EXPECT_NEAR(tenth, expected, 0.02) << "Gray's approximation";
}

TEST(SkewTest, ParetoGivesAShareOfTheBlocksTheRestOfTheOperations) {
  const SkewedBlocks blocks = SkewedBlocks::pareto(100'000, 0.2);
  RandomStream random(1);
  int in_first_fifth = 0;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i) in_first_fifth += blocks.next_rank(random) < 20'000 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(in_first_fifth) / draws, 0.8, 0.01);
}

TEST(SkewTest, BlocksStayWithinTheRangeHoweverSmallItIs) {
  RandomStream random(1);
  for (const std::uint64_t count : {1U, 2U, 3U, 5U}) {
    const SkewedBlocks zipf = SkewedBlocks::zipf(count, 1.1);
    const SkewedBlocks pareto = SkewedBlocks::pareto(count, 0.3);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_LT(zipf.next_block(random), count);
      ASSERT_LT(pareto.next_block(random), count);
    }
  }
}

TEST(DigestTest, DependsOnTheOrderAndGoesOverPasses) {
  const auto digest = [](std::uint64_t seed) {
    return digest_of_offsets(Offsets(random_plan(100), seed, 0), 10'000);
  };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

}  // namespace
}  // namespace krepro::randwrite
