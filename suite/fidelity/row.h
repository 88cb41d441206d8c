// One row of the comparison in one placement, start to end: timed runs, counted runs, findings,
// verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/fidelity/measurement.h"
#include "suite/fidelity/perturbation.h"
#include "suite/fidelity/programs.h"
#include "suite/fidelity/start_up.h"
#include "suite/fidelity/system_calls.h"
#include "suite/fidelity/verdict.h"

namespace krepro::fidelity {

struct FidelitySettings {
  std::optional<double>
      half_width;  ///< Of the time ratio's interval; else half of what the bounds allow.
  std::size_t max_blocks = 20;
  std::int64_t max_time_ns = 120'000'000'000;  ///< Of the timed runs of one row in one placement.
  std::optional<Perturbation> perturbation;
  CpuSet pinned_cpus;      ///< The one CPU of the pinned placement.
  CpuSet server_cpus;      ///< Its server's: another one where there is another.
  CpuSet floating_cpus;    ///< All CPUs that we may use.
  std::uint64_t seed = 0;  ///< Ours gets seed, seed + 1, ... run by run.
};

struct RowResult {
  std::string name;
  Placement placement = Placement::pinned;
  std::vector<std::string> arguments;
  std::string cpus;
  std::vector<Finding> findings;  ///< The time first.
  std::vector<CallComparison> calls;
  std::vector<std::string> notes;  ///< What was not measured, and why.
  Verdict verdict = Verdict::unresolved;
  std::string reason;  ///< Of every verdict but `same`.
  Series timed;
  /// Runs under the counter of one event (wake-ups, a call whose number varies), by its name.
  std::map<std::string, Series> counted;
};

class RowMeasuring {
 public:
  struct Hooks {
    std::function<bool()> interrupted;
    std::function<void(const std::string&)> progress;  ///< One line for the user.
    /// Context switches of the row's server so far; nothing where it has none.
    std::function<std::optional<std::uint64_t>()> server_switches = [] { return std::nullopt; };
  };
  RowMeasuring(const Programs& programs, FidelitySettings settings, Hooks hooks);

  [[nodiscard]] RowResult measure_row(const FidelityRow& row, Placement placement);
  /// How system calls and wake-ups are counted here, for the report's head.
  [[nodiscard]] const SystemCallCounting& calls() const { return calls_; }
  [[nodiscard]] const std::optional<std::string>& wakeups_problem() const {
    return wakeups_problem_;
  }

 private:
  [[nodiscard]] Conditions conditions(Placement placement) const;
  /// An event that runs of their own count.
  struct Event {
    std::string name;  ///< "wake-ups"
    Tracepoint tracepoint;
    double tolerance = 0;  ///< Of its number per operation.
  };
  /// `event`: null in timed runs.
  [[nodiscard]] MeasuringHooks hooks_for(const FidelityRow& row, const RowResult& result,
                                         const Event* event);
  [[nodiscard]] StoppingRule rule_for(Placement placement) const;
  void measure_alike(const FidelityRow& row, RowResult& result);
  void judge_switches(RowResult& result, const Quantity& switches_per_operation);
  void measure_reaction(const FidelityRow& row, RowResult& result);
  /// Of nothing, unless the original asks for it.
  [[nodiscard]] StartUp measure_start_up(const FidelityRow& row, RowResult& result,
                                         const Event* event);
  [[nodiscard]] Finding cpu_time(const FidelityRow& row, const RowResult& result,
                                 const StartUp& start_up) const;
  void count_calls(const FidelityRow& row, RowResult& result);
  void count_wakeups(const FidelityRow& row, RowResult& result);
  /// Calls whose number varies from run to run: in blocks, as times are measured.
  std::vector<Finding> count_varying_calls(const FidelityRow& row, RowResult& result);
  /// Blocks of runs with `event` counted, until its ratio is known well enough.
  Finding count_event(const FidelityRow& row, RowResult& result, const Event& event);

  const Programs* programs_;
  FidelitySettings settings_;
  Hooks hooks_;
  SystemCallCounting calls_;
  std::optional<std::string> wakeups_problem_;
  std::uint64_t runs_made_ = 0;
};

/// Bounds of the time ratio: the declared ones; where none are declared for floating, 1 -+ the
/// tolerance of switches, since where tasks land is part of chance there.
struct RatioBounds {
  double low = 0;
  double high = 0;
};
[[nodiscard]] RatioBounds time_bounds(const Original& original, Placement placement);

/// Half the interval that a verdict `same` needs: half of the room that the bounds leave.
[[nodiscard]] double wanted_half_width(const Original& original, Placement placement);

}  // namespace krepro::fidelity
