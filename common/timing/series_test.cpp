// What a series holds after records, merges and stalls.
#include "common/timing/series.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "common/timing/test_times.h"

namespace krepro {
namespace {

std::string text(const Series& series) { return nlohmann::json(series).dump(); }

TEST(Series, CountsEachOperationInItsSecond) {
  Series series(10);
  series.start(start);
  series.add(start);
  series.add(start + second - 1);
  series.add(start + second);
  series.add(start + second + second / 2, 5);
  series.add(start + 4 * second);
  EXPECT_EQ(text(series), "[2,6,0,0,1]");
}

TEST(Series, AStallAtTheEndShowsAsZeros) {
  Series series(10);
  series.start(start);
  series.add(start + 1);
  series.add(start + 3 * second + 1, 0);
  EXPECT_EQ(text(series), "[1,0,0,0]");
}

TEST(Series, SecondsBeyondTheLastSlotLoseNoOperation) {
  Series series(3);
  series.start(start);
  for (int i = 0; i < 100; ++i) series.add(start + i * second);
  EXPECT_EQ(text(series), "[1,1,98]");
  EXPECT_EQ(std::accumulate(series.slots().begin(), series.slots().end(), std::uint64_t{0}), 100U);
}

TEST(Series, HasAtLeastOneSlot) {
  Series series(0);
  series.start(start);
  series.add(start + 5 * second);
  EXPECT_EQ(text(series), "[1]");
}

TEST(Series, AddingAllocatesNothing) {
  Series series(3);
  const std::uint64_t* slots = series.slots().data();
  series.start(start);
  for (int i = 0; i < 100; ++i) series.add(start + i * second);
  EXPECT_EQ(series.slots().data(), slots);
}

TEST(Series, MergingAddsSecondBySecond) {
  Series total(2);
  Series fast(2);
  Series slow(5);
  for (Series* series : {&total, &fast, &slow}) series->start(start);
  fast.add(start, 10);
  fast.add(start + second, 20);
  slow.add(start, 1);
  slow.add(start + 3 * second, 4);
  total.merge(fast);
  total.merge(slow);
  EXPECT_EQ(text(total), "[11,20,0,4]");
}

TEST(Series, StartingAgainBeginsWithTheFirstSecond) {
  Series series(3);
  series.start(start);
  series.add(start + 2 * second);
  series.start(start + 10 * second);
  series.add(start + 10 * second, 7);
  EXPECT_EQ(text(series), "[7]");
}

}  // namespace
}  // namespace krepro
