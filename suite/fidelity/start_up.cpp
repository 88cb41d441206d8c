// Medians of short runs, and differences to them; see start_up.h.
#include "suite/fidelity/start_up.h"

#include <algorithm>

#include "suite/statistics/summary.h"

namespace krepro::fidelity {

namespace {

double counted_in(const RunFigures& figures) {
  const auto found = figures.metrics.find(counted_key);
  return found == figures.metrics.end() ? 0 : found->second;
}

double switches_in(const RunFigures& figures) {
  return static_cast<double>(figures.voluntary_switches + figures.involuntary_switches);
}

}  // namespace

void StartUp::learn(const std::vector<RunFigures>& short_runs) {
  for (const Side side : {Side::original, Side::ours}) {
    const auto median_of = [&](const Quantity& quantity) {
      std::vector<double> values;
      for (const RunFigures& figures : short_runs) {
        if (figures.side == side) values.push_back(quantity(figures));
      }
      return values.empty() ? 0 : median(values);
    };
    costs_[static_cast<std::size_t>(side)] = {
        median_of([](const RunFigures& figures) { return figures.user_s + figures.system_s; }),
        median_of(switches_in), median_of(counted_in),
        median_of([](const RunFigures& figures) { return figures.operations; })};
  }
}

double StartUp::per_operation(const RunFigures& figures, double value, double fixed,
                              double least) const {
  const double operations = std::max(1.0, figures.operations - of(figures.side).operations);
  return std::max(value - fixed, least) / operations;
}

double StartUp::cpu_s_per_operation(const RunFigures& figures) const {
  return per_operation(figures, figures.user_s + figures.system_s, of(figures.side).cpu_s, 1e-9);
}

double StartUp::switches_per_operation(const RunFigures& figures) const {
  // Half a switch where there was none, since a ratio needs a number above zero.
  return per_operation(figures, switches_in(figures), of(figures.side).switches, 0.5);
}

double StartUp::counted_per_operation(const RunFigures& figures) const {
  return per_operation(figures, counted_in(figures), of(figures.side).counted, 0.5);
}

}  // namespace krepro::fidelity
