// Measuring one row in one placement: which runs are made, in which order and how many; and what
// they say. Runs go through a function, so that the order and the stopping are tested without
// programs and without a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "suite/fidelity/programs.h"
#include "suite/fidelity/ratio.h"
#include "suite/fidelity/verdict.h"

namespace krepro::fidelity {

enum class Placement : std::uint8_t { pinned, floating };
[[nodiscard]] const char* to_string(Placement placement);

/// One run in its place; all of them are part of the JSON.
struct MeasuredRun {
  RunFigures figures;
  std::string phase;      ///< "warm-up", "timed"
  std::size_t block = 0;  ///< Within its phase.
  bool perturbed = false;
};

/// What the measuring asks of the world.
struct MeasuringHooks {
  /// Makes a run. `perturbed`: under the change of --perturb.
  std::function<RunFigures(Side side, bool perturbed)> run;
  std::function<std::int64_t()> now_ns;
  std::function<bool()> interrupted;
  /// Told after every run: blocks so far, the estimate so far.
  std::function<void(std::size_t blocks, const RatioEstimate& estimate)> progress;
};

/// A quantity of a run that is compared as a ratio; must be > 0.
using Quantity = std::function<double(const RunFigures&)>;

struct Series {
  std::vector<MeasuredRun> runs;
  std::string problem;  ///< Why the measuring ended early, one line; empty: it did not.
  Stop stop = Stop::go_on;
  bool interrupted = false;
};

/// A quantity, and how narrow its interval is to be.
struct JudgedQuantity {
  Quantity value;
  double half_width = 0.02;
};

/// Warms up (one run of each side), then measures blocks until the intervals of all `quantities`
/// are narrow enough or a bound is reached. The first run that fails ends it.
[[nodiscard]] Series measure(const MeasuringHooks& hooks, const StoppingRule& rule,
                             const std::vector<JudgedQuantity>& quantities);

/// The same with eight runs a block: every side unperturbed and perturbed, in a palindrome.
[[nodiscard]] Series measure_perturbed(const MeasuringHooks& hooks, const StoppingRule& rule,
                                       const Quantity& quantity);

/// The blocks' log ratios of a quantity, from the timed runs of whole blocks.
[[nodiscard]] std::vector<double> block_log_ratios(const std::vector<MeasuredRun>& runs,
                                                   const Quantity& quantity);
/// Per block: (ours perturbed / ours) / (original perturbed / original), as a logarithm.
[[nodiscard]] std::vector<double> block_log_reactions(const std::vector<MeasuredRun>& runs,
                                                      const Quantity& quantity);
/// The quantity of one side's timed runs.
[[nodiscard]] std::vector<double> values_of(const std::vector<MeasuredRun>& runs, Side side,
                                            const Quantity& quantity, bool perturbed = false);

/// Figures, ratio and interval of a quantity; not yet judged.
[[nodiscard]] Finding find_ratio(const std::vector<MeasuredRun>& runs, const Quantity& quantity,
                                 const std::string& name, const std::string& unit);

/// The time per work, from the primary metric: its value, or its inverse where more is better.
[[nodiscard]] Quantity time_of(const MetricDescription& primary);
/// Context switches per operation, of the program and its children; half a switch where there was
/// none, since a ratio needs a number above zero.
[[nodiscard]] double switches_of(const RunFigures& figures);

}  // namespace krepro::fidelity
