#include "suite/compare/simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.h"

namespace krepro {
namespace {

/// SD of a typical row's noise between boots, as a share of its value; any small one will do.
constexpr double typical_noise = 0.01;

/// One row's truth.
struct RowTruth {
  double between = 0;  ///< SD between boots.
  double within = 0;   ///< SD of trials within a boot.
  double boot_sd = 0;  ///< SD of a boot's mean.
  double effect = 0;   ///< other - base.
  bool bimodal = false;
  double other_scale = 1;  ///< Of the other side's noise to the base's.
  bool noisiest = false;
};

class TableMaker {
 public:
  TableMaker(const Scenario& scenario, double tolerance, RandomStream& random)
      : scenario_(scenario), tolerance_(tolerance), random_(random) {}

  std::vector<RowTruth> draw_truth() {
    std::vector<RowTruth> truth;
    for (std::size_t row = 0; row < scenario_.rows; ++row) truth.push_back(draw_row(row));
    mark_noisiest(truth);
    return truth;
  }

  std::vector<RowData> draw_table(const std::vector<RowTruth>& truth) {
    std::vector<RowData> rows(truth.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      rows[row].family = in_second_family(row) ? "second" : "first";
    }
    const std::size_t boots = scenario_.base_boots + scenario_.other_boots;
    std::size_t base_left = scenario_.base_boots;
    std::size_t other_left = scenario_.other_boots;
    for (std::size_t boot = 0; boot < boots; ++boot) {
      const bool to_base = other_left == 0 || (base_left > 0 && comes_base_next(boot));
      --(to_base ? base_left : other_left);
      add_boot(truth, static_cast<double>(boot) / static_cast<double>(boots - 1), to_base, rows);
    }
    return rows;
  }

 private:
  [[nodiscard]] bool in_second_family(std::size_t row) const {
    return scenario_.second_family_noise != 1 && row % 2 == 1;
  }
  [[nodiscard]] bool comes_base_next(std::size_t boot) const {
    return scenario_.alternating_order ? boot % 2 == 0 : boot % 4 == 0 || boot % 4 == 3;
  }

  RowTruth draw_row(std::size_t row) {
    const double icc = scenario_.intraclass_correlation;
    RowTruth truth;
    double noise = typical_noise * std::exp(scenario_.spread * random_.normal());
    if (scenario_.noise_in_tolerances > 0) {
      noise *= scenario_.noise_in_tolerances * tolerance_ / typical_noise;
    }
    if (in_second_family(row)) noise *= scenario_.second_family_noise;
    truth.between = icc > 0 ? noise : 0;
    truth.within = icc > 0 ? noise * std::sqrt((1 - icc) / icc) : noise;
    truth.boot_sd =
        std::sqrt(truth.between * truth.between +
                  truth.within * truth.within / static_cast<double>(scenario_.repetitions));
    if (scenario_.noise_in_tolerances > 0) {
      truth.effect = random_.below(2) == 0 ? tolerance_ : -tolerance_;
    } else if (row < scenario_.shifted_rows) {
      truth.effect = -scenario_.shift * truth.boot_sd;
    }
    const auto from_end = static_cast<double>(scenario_.rows - row);
    if (from_end <= scenario_.unequal_rows * static_cast<double>(scenario_.rows)) {
      truth.other_scale = std::sqrt(scenario_.variance_ratio);
    }
    truth.bimodal = from_end <= scenario_.bimodal_rows * static_cast<double>(scenario_.rows);
    return truth;
  }

  /// The tenth of the unshifted rows with the largest noise, a second mode counted as noise.
  static void mark_noisiest(std::vector<RowTruth>& truth) {
    std::vector<RowTruth*> unshifted;
    for (RowTruth& row : truth) {
      if (row.effect == 0) unshifted.push_back(&row);
    }
    std::sort(unshifted.begin(), unshifted.end(), [](const RowTruth* left, const RowTruth* right) {
      const auto size = [](const RowTruth* row) {
        return row->boot_sd * (row->bimodal ? 3 : row->other_scale);
      };
      return size(left) > size(right);
    });
    for (std::size_t i = 0; i < unshifted.size() / 10; ++i) unshifted[i]->noisiest = true;
  }

  double draw_noise() {
    if (!scenario_.heavy_tails) return random_.normal();
    // Student's t with 4 df, scaled to a variance of 1.
    const double chi_square_over_df = (random_.exponential() + random_.exponential()) / 2;
    return random_.normal() / std::sqrt(chi_square_over_df) / std::sqrt(2.0);
  }

  double draw_mode(const RowTruth& row) {
    return row.bimodal && random_.below(2) == 0 ? 6 * std::max(row.between, row.within) : 0;
  }

  void add_boot(const std::vector<RowTruth>& truth, double progress, bool to_base,
                std::vector<RowData>& rows) {
    const double common = draw_noise();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const RowTruth& true_row = truth[row];
      const double scale = to_base ? 1 : true_row.other_scale;
      const double own = draw_noise();
      const double effect = scale * true_row.between *
                                (std::sqrt(scenario_.row_correlation) * common +
                                 std::sqrt(1 - scenario_.row_correlation) * own) +
                            scenario_.drift * progress * true_row.boot_sd +
                            (to_base ? 0 : true_row.effect);
      const double boot_mode = scenario_.mode_by_boot ? draw_mode(true_row) : 0;
      BootTrials boot;
      for (std::size_t trial = 0; trial < scenario_.repetitions; ++trial) {
        const double mode = scenario_.mode_by_boot ? boot_mode : draw_mode(true_row);
        boot.values.push_back(std::exp(effect + mode + scale * true_row.within * draw_noise()));
      }
      (to_base ? rows[row].base : rows[row].other).push_back(std::move(boot));
    }
  }

  const Scenario& scenario_;
  double tolerance_;
  RandomStream& random_;
};

/// Counts of one table, added up over tables.
class Tally {
 public:
  void add(const std::vector<RowTruth>& truth, const std::vector<RowTest>& tests, double level) {
    double flagged = 0;
    double wrong = 0;
    for (std::size_t row = 0; row < truth.size(); ++row) {
      const bool called =
          tests[row].verdict == Verdict::worse || tests[row].verdict == Verdict::better;
      flagged += called ? 1 : 0;
      if (tests[row].verdict == Verdict::same) ++same_;
      ++rows_;
      if (truth[row].effect != 0) {
        ++shifted_;
        // All shifts are downward.
        if (tests[row].verdict == Verdict::worse) ++found_;
        if (tests[row].verdict == Verdict::better) ++wrong;
        continue;
      }
      if (called) ++wrong;
      if (!truth[row].noisiest) continue;
      ++noisy_;
      if (called) ++noisy_called_;
      if (tests[row].p && *tests[row].p < level) ++noisy_below_level_;
    }
    ++tables_;
    if (wrong > 0) ++tables_wrong_;
    if (flagged > 0) false_share_ += wrong / flagged;
  }

  [[nodiscard]] SimulationResult result() const {
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
    SimulationResult result;
    result.tables = static_cast<std::size_t>(tables_);
    result.tables_with_false_verdict = share(tables_wrong_, tables_);
    result.false_share = share(false_share_, tables_);
    result.power = share(found_, shifted_);
    result.noisy_alarms = share(noisy_called_, noisy_);
    result.noisy_p_below_level = share(noisy_below_level_, noisy_);
    result.false_same = share(same_, rows_);
    return result;
  }

 private:
  double tables_ = 0;
  double tables_wrong_ = 0;
  double false_share_ = 0;
  double rows_ = 0;
  double same_ = 0;
  double shifted_ = 0;
  double found_ = 0;
  double noisy_ = 0;
  double noisy_called_ = 0;
  double noisy_below_level_ = 0;
};

}  // namespace

SimulationResult simulate(const Scenario& scenario, JudgeOptions options, std::size_t tables,
                          std::uint64_t seed) {
  options.plan_ahead = false;
  const double tolerance = std::log1p(options.tolerance);
  // Where the question is false alarms, `same` must not hide them.
  if (scenario.noise_in_tolerances == 0) options.tolerance = 0;
  RandomStream random(seed);
  Tally tally;
  for (std::size_t table = 0; table < tables; ++table) {
    TableMaker maker(scenario, tolerance, random);
    const std::vector<RowTruth> truth = maker.draw_truth();
    tally.add(truth, judge(maker.draw_table(truth), options), options.level);
  }
  return tally.result();
}

}  // namespace krepro
