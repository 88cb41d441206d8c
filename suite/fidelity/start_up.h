// What a run costs whatever its length: start-up and tear-down, from short runs of a row, to be
// taken off the figures of long ones. Nothing is run here.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "suite/fidelity/measurement.h"

namespace krepro::fidelity {

/// CPU time, switches and counted events of a side's short runs, and the operations that those
/// made.
struct RunCost {
  double cpu_s = 0;
  double switches = 0;
  double counted = 0;
  double operations = 0;
};

class StartUp {
 public:
  /// The medians of the runs; of each side where there are any.
  void learn(const std::vector<RunFigures>& short_runs);
  [[nodiscard]] const RunCost& of(Side side) const {
    return costs_[static_cast<std::size_t>(side)];
  }
  /// Of a long run, per operation beyond the short run's; above 0.
  [[nodiscard]] double cpu_s_per_operation(const RunFigures& figures) const;
  [[nodiscard]] double switches_per_operation(const RunFigures& figures) const;
  [[nodiscard]] double counted_per_operation(const RunFigures& figures) const;

 private:
  [[nodiscard]] double per_operation(const RunFigures& figures, double value, double fixed,
                                     double least) const;
  std::array<RunCost, 2> costs_;
};

/// Where a counted run keeps the number of its events among its metrics; no generator has a metric
/// of that name.
inline constexpr const char* counted_key = "(counted)";

}  // namespace krepro::fidelity
