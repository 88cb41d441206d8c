// What the parts of a sample are made of.
#include "common/generator/sample.h"

#include <gtest/gtest.h>

namespace krepro {
namespace {

TEST(Spread, IsOfValuesInAnyOrder) {
  const Spread odd = spread_of({5, 1, 9});
  EXPECT_EQ(odd.sum, 15);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.median, 5);
  EXPECT_EQ(odd.max, 9);
  EXPECT_EQ(spread_of({5, 1, 9, 7}).median, 6);
}

TEST(Spread, IsZeroOfNothing) { EXPECT_EQ(spread_of({}).max, 0); }

TEST(Spread, TakesAFigureOfEachMember) {
  const std::vector<std::string> words{"three", "a", "four"};
  EXPECT_EQ(spread_of(words, [](const std::string& word) { return word.size(); }).median, 4);
}

}  // namespace
}  // namespace krepro
