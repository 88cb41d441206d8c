// The null generator's figures are known in advance: that is what it is for.
#include "generators/null/latency_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "generators/null/null_options.h"

namespace krepro::null {
namespace {

class LatencyModelTest : public testing::Test {
 protected:
  void SetUp() override { options_.set("latency", "10us"); }
  [[nodiscard]] double mean_of(std::uint64_t seed) const {
    const LatencyModel model(options_, seed);
    RandomStream random(seed);
    double sum = 0;
    for (int i = 0; i < 20000; ++i) sum += static_cast<double>(model.draw_ns(random));
    return sum / 20000;
  }
  Description description_ = make_description();
  Options options_{description_.options};
};

TEST_F(LatencyModelTest, EveryShapeHasTheMeanThatWasAskedFor) {
  for (const char* shape : {"fixed", "uniform", "exponential", "normal", "bimodal"}) {
    options_.set("distribution", shape);
    EXPECT_NEAR(mean_of(3), 10'000, 10'000 * 0.03) << shape;
  }
}

TEST_F(LatencyModelTest, SlowAndDriftAreFactors) {
  options_.set("slow", "1.5");
  options_.set("drift", "10%");
  options_.set("trial", "2");
  EXPECT_NEAR(LatencyModel(options_, 1).trial_mean_ns(), 10'000 * 1.5 * 1.1 * 1.1, 1e-6);
}

TEST_F(LatencyModelTest, NoiseFollowsTheSeedAndBootSpreadTheBoot) {
  options_.set("noise", "5%");
  EXPECT_EQ(LatencyModel(options_, 1).trial_mean_ns(), LatencyModel(options_, 1).trial_mean_ns());
  EXPECT_NE(LatencyModel(options_, 1).trial_mean_ns(), LatencyModel(options_, 2).trial_mean_ns());
  options_.set("noise", "0");
  options_.set("boot-spread", "5%");
  options_.set("boot", "4");
  const double boot_4 = LatencyModel(options_, 1).trial_mean_ns();
  EXPECT_EQ(boot_4, LatencyModel(options_, 2).trial_mean_ns())
      << "the same in every trial of a boot";
  options_.set("boot", "5");
  EXPECT_NE(boot_4, LatencyModel(options_, 1).trial_mean_ns());
}

TEST_F(LatencyModelTest, TheSpreadBetweenBootsIsTheOneAskedFor) {
  options_.set("boot-spread", "5%");
  double sum = 0;
  double squares = 0;
  constexpr int boots = 2000;
  for (int boot = 0; boot < boots; ++boot) {
    options_.set("boot", std::to_string(boot));
    const double effect = std::log(LatencyModel(options_, 1).trial_mean_ns() / 10'000);
    sum += effect;
    squares += effect * effect;
  }
  EXPECT_NEAR(sum / boots, 0, 0.005);
  EXPECT_NEAR(std::sqrt(squares / boots), 0.05, 0.003);
}

}  // namespace
}  // namespace krepro::null
