// Lists of times with one mode and with two.
#include "suite/fidelity/modes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/random.h"

namespace krepro::fidelity {
namespace {

std::vector<double> times_around(double centre, double spread, std::size_t count,
                                 RandomStream& random) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(centre * std::exp(spread * random.normal()));
  }
  return values;
}

TEST(Modes, TwoCentresAreFoundWithTheirShares) {
  RandomStream random(1);
  std::vector<double> values = times_around(0.19, 0.03, 6, random);
  for (const double value : times_around(0.36, 0.03, 14, random)) values.push_back(value);
  const auto modes = find_modes(values);
  ASSERT_TRUE(modes.has_value());
  EXPECT_NEAR(modes->low_median, 0.19, 0.01);
  EXPECT_NEAR(modes->high_median, 0.36, 0.02);
  EXPECT_DOUBLE_EQ(modes->low_share, 0.3);
}

TEST(Modes, OneNoisyCentreIsSeldomCalledTwo) {
  RandomStream random(2);
  constexpr int experiments = 1000;
  int called = 0;
  for (int i = 0; i < experiments; ++i) {
    if (find_modes(times_around(1, 0.1, 20, random))) ++called;
  }
  EXPECT_LT(called, experiments / 40);
}

TEST(Modes, ASingleSpikeIsNoMode) {
  EXPECT_FALSE(find_modes(std::vector<double>{1, 1.01, 1, 0.99, 1, 1.01, 1, 1, 1, 9}));
}

TEST(Modes, CentresThatDifferByLittleDoNotMatter) {
  EXPECT_FALSE(find_modes(std::vector<double>{1, 1, 1, 1, 1, 1.05, 1.05, 1.05, 1.05, 1.05, 1.05}));
}

TEST(Modes, AFewValuesSayNothing) { EXPECT_FALSE(find_modes(std::vector<double>{1, 1, 2, 2, 2})); }

TEST(Modes, EqualValuesAreOneMode) { EXPECT_FALSE(find_modes(std::vector<double>(12, 0.5))); }

}  // namespace
}  // namespace krepro::fidelity
