// Measures Histogram::record() over values as a real load has them: neighbouring, not all the same.
#include "common/timing/record_cost.h"

#include <algorithm>
#include <array>
#include <memory>

#include "common/timing/clock.h"
#include "common/timing/histogram.h"

namespace krepro {

double record_cost_ns() {
  constexpr int batches = 9;
  constexpr int records = 2000;
  const auto histogram = std::make_unique<Histogram>();
  std::array<double, batches> costs{};
  for (double& cost : costs) {
    const std::int64_t begin_ns = now_ns();
    for (int i = 0; i < records; ++i) histogram->record(1000 + (i * 37) % 4096);
    cost = static_cast<double>(now_ns() - begin_ns) / records;
  }
  std::nth_element(costs.begin(), costs.begin() + batches / 2, costs.end());
  return costs[batches / 2];
}

}  // namespace krepro
