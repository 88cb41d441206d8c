#include "suite/compare/error_rates.h"

#include <fmt/core.h>

#include <iterator>

namespace krepro {
namespace {

struct DesignSize {
  std::size_t boots = 0;
  std::size_t repetitions = 0;
  double min_power = 0;  ///< For rows shifted by 3 SDs of a boot mean, by the default rule.
};

constexpr DesignSize designs[] = {{3, 3, 0}, {4, 3, 0.50}, {6, 2, 0.85}, {10, 1, 0.98}};

Scenario base_scenario(const DesignSize& design, std::string name) {
  Scenario scenario;
  scenario.name = fmt::format("{}x{} {}", design.boots, design.repetitions, name);
  scenario.base_boots = scenario.other_boots = design.boots;
  scenario.repetitions = design.repetitions;
  return scenario;
}

/// No difference, and ten shifted rows, over designs, correlations between boots and between rows.
void add_grid(std::vector<BoundedScenario>& list) {
  for (const DesignSize& design : designs) {
    for (const double between_boots : {0.0, 0.5, 0.8}) {
      for (const double between_rows : {0.0, 0.5}) {
        Scenario scenario =
            base_scenario(design, fmt::format("ICC {} rows {}", between_boots, between_rows));
        scenario.intraclass_correlation = between_boots;
        scenario.row_correlation = between_rows;
        list.push_back({scenario, Rule::moderated, {.tables_with_false_verdict = 0.09}});
        list.push_back({scenario, Rule::strict, {.tables_with_false_verdict = 0.06}});
        scenario.name += " shifted";
        scenario.shifted_rows = 10;
        list.push_back(
            {scenario, Rule::moderated, {.false_share = 0.06, .min_power = design.min_power}});
      }
    }
  }
}

/// What real tables do to the assumptions.
void add_disturbances(std::vector<BoundedScenario>& list) {
  for (const DesignSize& design : designs) {
    Scenario drift = base_scenario(design, "drift of 2 SD, shifted");
    drift.drift = 2;
    drift.shifted_rows = 10;
    list.push_back({drift, Rule::moderated, {.false_share = 0.08}});
    drift.name = base_scenario(design, "the same, boots ABAB").name;
    drift.alternating_order = true;
    list.push_back({drift, Rule::moderated, {}});

    Scenario heavy = base_scenario(design, "t with 4 df, shifted");
    heavy.heavy_tails = true;
    heavy.shifted_rows = 10;
    list.push_back({heavy, Rule::moderated, {.false_share = 0.08}});

    const Bounds noisiest{.noisy_alarms = 0.08};
    Scenario ratio = base_scenario(design, "variance ratio 9");
    ratio.variance_ratio = 9;
    list.push_back({ratio, Rule::moderated, noisiest});

    ratio.name = base_scenario(design, "ratio 9 in a tenth").name;
    ratio.unequal_rows = 0.1;
    list.push_back({ratio, Rule::moderated, noisiest});

    Scenario families = base_scenario(design, "two families, noise x20");
    families.second_family_noise = 20;
    list.push_back({families, Rule::moderated, noisiest});

    Scenario bimodal = base_scenario(design, "a tenth bimodal by trial");
    bimodal.bimodal_rows = 0.1;
    list.push_back({bimodal, Rule::moderated, noisiest});
    bimodal.name = base_scenario(design, "a tenth bimodal by boot").name;
    bimodal.mode_by_boot = true;
    list.push_back({bimodal, Rule::moderated, noisiest});
  }
  // The few boots quieter, the same, and noisier than the many.
  for (const double ratio : {9.0, 1.0, 1 / 9.0}) {
    Scenario unequal =
        base_scenario({3, 3, 0}, fmt::format("against 10 boots, ratio {:.2g}", ratio));
    unequal.other_boots = 10;
    unequal.variance_ratio = ratio;
    list.push_back({unequal, Rule::moderated, {.noisy_alarms = 0.08}});
    list.push_back({unequal, Rule::strict, {.tables_with_false_verdict = 0.06}});
    unequal.name += ", 5 rows";
    unequal.rows = 5;
    list.push_back({unequal, Rule::moderated, {}});
  }
}

/// A true change of exactly the tolerance must not be called the same.
void add_equivalence(std::vector<BoundedScenario>& list) {
  for (const DesignSize& design : designs) {
    for (const double noise : {0.05, 0.2, 0.5}) {
      Scenario scenario = base_scenario(design, fmt::format("change = tolerance, SD {}", noise));
      scenario.noise_in_tolerances = noise;
      list.push_back({scenario, Rule::moderated, {.false_same = 0.05}});
    }
  }
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace

std::vector<BoundedScenario> bounded_scenarios() {
  std::vector<BoundedScenario> list;
  add_grid(list);
  add_disturbances(list);
  add_equivalence(list);
  return list;
}

std::vector<std::string> violations(const SimulationResult& result, const Bounds& bounds,
                                    double slack) {
  std::vector<std::string> list;
  const auto at_most = [&](const char* what, double value, double bound) {
    if (bound < 1 && value > bound + slack) {
      list.push_back(fmt::format("{} {} % > {} %", what, percent(value), percent(bound)));
    }
  };
  at_most("tables with a false verdict", result.tables_with_false_verdict,
          bounds.tables_with_false_verdict);
  at_most("false verdicts", result.false_share, bounds.false_share);
  at_most("alarms in the noisiest rows", result.noisy_alarms, bounds.noisy_alarms);
  at_most("p < 5 % in the noisiest rows", result.noisy_p_below_level, bounds.noisy_p_below_level);
  at_most("false same", result.false_same, bounds.false_same);
  if (result.power < bounds.min_power - slack) {
    list.push_back(
        fmt::format("power {} % < {} %", percent(result.power), percent(bounds.min_power)));
  }
  return list;
}

SelfTestReport run_self_test(std::size_t tables, std::uint64_t seed) {
  SelfTestReport report;
  report.text =
      fmt::format("{} tables of 88 rows each, seed {}; all figures in per cent\n", tables, seed);
  report.text += fmt::format("{:<35}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}\n", "", "tables", "false", "",
                             "noisy", "noisy", "false");
  report.text += fmt::format("{:<35}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}\n", "boots x repetitions, noise",
                             "false", "share", "power", "called", "p<.05", "same");
  for (const BoundedScenario& bounded : bounded_scenarios()) {
    JudgeOptions options;
    options.rule = bounded.rule;
    const SimulationResult result = simulate(bounded.scenario, options, tables, seed);
    const std::vector<std::string> broken = violations(result, bounded.bounds, 0);
    const bool equivalence = bounded.scenario.noise_in_tolerances > 0;
    const auto cell = [](bool shown, double share) { return shown ? percent(share) : "-"; };
    report.text += fmt::format(
        "{:<35}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}\n",
        bounded.scenario.name + (bounded.rule == Rule::strict ? " strict" : ""),
        cell(!equivalence, result.tables_with_false_verdict),
        cell(!equivalence && bounded.scenario.shifted_rows > 0, result.false_share),
        cell(bounded.scenario.shifted_rows > 0, result.power),
        cell(!equivalence, result.noisy_alarms), cell(!equivalence, result.noisy_p_below_level),
        cell(equivalence, result.false_same));
    for (const std::string& line : broken) report.text += "    NOT HELD: " + line + "\n";
    report.all_hold = report.all_hold && broken.empty();
  }
  report.text += report.all_hold ? "every bound holds\n" : "some bounds do not hold\n";
  return report;
}

}  // namespace krepro
