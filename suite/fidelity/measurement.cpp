// The order of runs and what they say; see measurement.h.
#include "suite/fidelity/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace krepro::fidelity {

namespace {

/// One place of a block.
struct Slot {
  Side side;
  bool perturbed;
};

std::vector<Slot> plain_block(std::size_t block) {
  std::vector<Slot> slots;
  for (const Side side : block_order(block)) slots.push_back({side, false});
  return slots;
}

/// O O' U U' U' U O' O, and with the sides exchanged in the next block: drift cancels in all four
/// ratios.
std::vector<Slot> perturbed_block(std::size_t block) {
  const Side first = block % 2 == 0 ? Side::original : Side::ours;
  const Side second = block % 2 == 0 ? Side::ours : Side::original;
  std::vector<Slot> slots{{first, false}, {first, true}, {second, false}, {second, true}};
  for (std::size_t i = slots.size(); i-- > 0;) slots.push_back(slots[i]);
  return slots;
}

/// Makes one run and keeps it; false where the measuring must end.
bool make_run(const MeasuringHooks& hooks, const Slot& slot, const char* phase, std::size_t block,
              Series& series) {
  if (hooks.interrupted()) {
    series.interrupted = true;
    series.problem = "interrupted";
    return false;
  }
  MeasuredRun run;
  run.figures = hooks.run(slot.side, slot.perturbed);
  run.figures.side = slot.side;
  run.phase = phase;
  run.block = block;
  run.perturbed = slot.perturbed;
  series.runs.push_back(run);
  if (run.figures.valid()) return true;
  series.problem = fmt::format("{}{}: {}", to_string(slot.side),
                               slot.perturbed ? " under the change" : "", run.figures.problem);
  return false;
}

using BlockShape = std::vector<Slot> (*)(std::size_t);
using Estimates = std::function<std::vector<RatioEstimate>(const std::vector<MeasuredRun>&)>;

Series measure_blocks(const MeasuringHooks& hooks, const StoppingRule& rule, BlockShape shape,
                      const std::vector<double>& wanted_widths, const Estimates& estimates) {
  Series series;
  for (const Slot& slot : {Slot{Side::original, false}, Slot{Side::ours, false}}) {
    if (!make_run(hooks, slot, "warm-up", 0, series)) return series;
  }
  const std::int64_t start_ns = hooks.now_ns();
  for (std::size_t block = 0; series.stop == Stop::go_on; ++block) {
    for (const Slot& slot : shape(block)) {
      if (!make_run(hooks, slot, "timed", block, series)) return series;
    }
    const std::vector<RatioEstimate> now = estimates(series.runs);
    std::vector<double> widths;
    for (std::size_t i = 0; i < now.size(); ++i) {
      // In units of what is wanted, so that one rule serves quantities of several widths.
      widths.push_back(now[i].half_width() / wanted_widths[i] * rule.half_width);
    }
    series.stop = decide(rule, block + 1, widths, hooks.now_ns() - start_ns);
    hooks.progress(block + 1, now.front());
  }
  return series;
}

/// ln(mean quantity) of the runs of one block that `wanted` picks; nothing where there are none. Of
/// the mean, and not the mean of the logarithms: what happens rarely in a run now and then (waits
/// that a busy client never has to make) must not weigh more than what happens often.
std::optional<double> block_mean(const std::vector<MeasuredRun>& runs, std::size_t block,
                                 const Slot& wanted, const Quantity& quantity) {
  double sum = 0;
  std::size_t count = 0;
  for (const MeasuredRun& run : runs) {
    if (run.phase == "warm-up" || !run.figures.valid() || run.block != block) continue;
    if (run.figures.side != wanted.side || run.perturbed != wanted.perturbed) continue;
    sum += quantity(run.figures);
    ++count;
  }
  if (count < 2) return std::nullopt;  // A block that was not finished.
  return std::log(sum / static_cast<double>(count));
}

std::size_t block_count(const std::vector<MeasuredRun>& runs) {
  std::size_t count = 0;
  for (const MeasuredRun& run : runs) {
    if (run.phase != "warm-up") count = std::max(count, run.block + 1);
  }
  return count;
}

}  // namespace

const char* to_string(Placement placement) {
  return placement == Placement::pinned ? "pinned" : "floating";
}

Series measure(const MeasuringHooks& hooks, const StoppingRule& rule,
               const std::vector<JudgedQuantity>& quantities) {
  std::vector<double> widths;
  for (const JudgedQuantity& quantity : quantities) widths.push_back(quantity.half_width);
  return measure_blocks(
      hooks, rule, plain_block, widths, [&](const std::vector<MeasuredRun>& runs) {
        std::vector<RatioEstimate> estimates;
        for (const JudgedQuantity& quantity : quantities) {
          estimates.push_back(estimate_ratio(block_log_ratios(runs, quantity.value)));
        }
        return estimates;
      });
}

Series measure_perturbed(const MeasuringHooks& hooks, const StoppingRule& rule,
                         const Quantity& quantity) {
  return measure_blocks(
      hooks, rule, perturbed_block, {rule.half_width}, [&](const std::vector<MeasuredRun>& runs) {
        return std::vector<RatioEstimate>{estimate_ratio(block_log_reactions(runs, quantity))};
      });
}

std::vector<double> block_log_ratios(const std::vector<MeasuredRun>& runs,
                                     const Quantity& quantity) {
  std::vector<double> ratios;
  for (std::size_t block = 0; block < block_count(runs); ++block) {
    const auto original = block_mean(runs, block, {Side::original, false}, quantity);
    const auto ours = block_mean(runs, block, {Side::ours, false}, quantity);
    if (original && ours) ratios.push_back(*ours - *original);
  }
  return ratios;
}

std::vector<double> block_log_reactions(const std::vector<MeasuredRun>& runs,
                                        const Quantity& quantity) {
  std::vector<double> reactions;
  for (std::size_t block = 0; block < block_count(runs); ++block) {
    const auto original = block_mean(runs, block, {Side::original, false}, quantity);
    const auto original_changed = block_mean(runs, block, {Side::original, true}, quantity);
    const auto ours = block_mean(runs, block, {Side::ours, false}, quantity);
    const auto ours_changed = block_mean(runs, block, {Side::ours, true}, quantity);
    if (original && original_changed && ours && ours_changed) {
      reactions.push_back((*ours_changed - *ours) - (*original_changed - *original));
    }
  }
  return reactions;
}

std::vector<double> values_of(const std::vector<MeasuredRun>& runs, Side side,
                              const Quantity& quantity, bool perturbed) {
  std::vector<double> values;
  for (const MeasuredRun& run : runs) {
    if (run.phase == "warm-up" || !run.figures.valid()) continue;
    if (run.figures.side == side && run.perturbed == perturbed) {
      values.push_back(quantity(run.figures));
    }
  }
  return values;
}

Finding find_ratio(const std::vector<MeasuredRun>& runs, const Quantity& quantity,
                   const std::string& name, const std::string& unit) {
  Finding finding;
  finding.quantity = name;
  finding.unit = unit;
  const std::vector<double> original = values_of(runs, Side::original, quantity);
  const std::vector<double> ours = values_of(runs, Side::ours, quantity);
  if (!original.empty()) finding.original = geometric_mean(original);
  if (!ours.empty()) finding.ours = geometric_mean(ours);
  finding.estimate = estimate_ratio(block_log_ratios(runs, quantity));
  return finding;
}

Quantity time_of(const MetricDescription& primary) {
  return [name = primary.name, inverse = primary.higher_is_better](const RunFigures& figures) {
    const double value = std::max(figures.metrics.at(name), 1e-12);
    return inverse ? 1 / value : value;
  };
}

double switches_of(const RunFigures& figures) {
  return std::max(figures.switches_per_operation(), 0.5 / figures.operations);
}

}  // namespace krepro::fidelity
