// Tables of made-up boots whose truth is known, put to the very judge() that `krepro compare` uses:
// how often it raises a false alarm, and how much of a real change it finds. For the scenarios and
// their bounds see error_rates.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "suite/compare/judge.h"

namespace krepro {

/// A kind of noise, a design and a truth.
struct Scenario {
  std::string name;
  std::size_t rows = 88;
  std::size_t base_boots = 4;
  std::size_t other_boots = 4;
  std::size_t repetitions = 3;
  double intraclass_correlation = 0.5;  ///< Share of a trial's variance that lies between boots.
  double row_correlation = 0;           ///< Of the boots' effects on different rows of one table.
  double spread = 0.7;                  ///< SD, over the rows, of the logarithm of their noise.
  std::size_t shifted_rows = 0;
  double shift = 3;                ///< Of the shifted rows, in standard deviations of a boot mean.
  double variance_ratio = 1;       ///< Of the other side to the base.
  double unequal_rows = 1;         ///< Share of the rows that variance_ratio applies to.
  double drift = 0;                ///< Over the whole session, in SDs of a boot mean.
  bool alternating_order = false;  ///< Boots ABAB and not ABBA; only drift tells them apart.
  bool heavy_tails = false;        ///< Student's t with 4 df in place of the normal.
  double second_family_noise = 1;  ///< Half of the rows form a second family with this much noise.
  double bimodal_rows = 0;         ///< Share of rows with a second mode, 6 SDs away.
  bool mode_by_boot = false;       ///< A mode is drawn for each boot and not for each trial.
  /// Every row differs by exactly the tolerance, and this is a typical boot SD in units of it; 0:
  /// no `same` is given at all.
  double noise_in_tolerances = 0;
};

/// Shares, 0 to 1.
struct SimulationResult {
  std::size_t tables = 0;
  double tables_with_false_verdict = 0;  ///< Any unshifted row worse or better.
  double false_share = 0;   ///< Of a table's verdicts; 0 for a table without; mean over the tables.
  double power = 0;         ///< Of the shifted rows, those found in the right direction.
  double noisy_alarms = 0;  ///< Of the noisiest tenth of the unshifted rows, worse or better.
  double noisy_p_below_level = 0;  ///< The same rows, each looked at alone: p below 5 %.
  double false_same = 0;           ///< Of all rows; meant with noise_in_tolerances.
};

/// Same scenario, options and seed, same figures.
[[nodiscard]] SimulationResult simulate(const Scenario& scenario, JudgeOptions options,
                                        std::size_t tables, std::uint64_t seed);

}  // namespace krepro
