// `krepro run`: makes the plan, or takes it from a run file (--resume), runs its trials in order,
// records each, and prints the summary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "suite/execute/trial.h"
#include "suite/plan/plan.h"

namespace krepro {

struct RunArguments {
  std::string profile;  ///< Path or name; may be empty with `resume`.
  PlanSettings settings;
  std::string runtime;           ///< --runtime: replaces every runtime of the profile; "": none.
  std::string label;             ///< Empty: `uname -r`.
  std::filesystem::path out;     ///< Empty: the default place.
  std::filesystem::path resume;  ///< Empty: a new run.
  std::filesystem::path like;    ///< --like: repeat the plan of this bundle (suite/bundle/like.h).
  std::string observe;           ///< --observe COMMAND: an extra trial per row, watched; "": none.
  std::int64_t observe_lead_ns = 2'000'000'000;  ///< How long the observer gets to attach.
  bool apply_settings = false;  ///< --apply-settings: the profile's settings of this machine.
  bool groups = true;           ///< --cgroups: control groups of their own for the roles.
  bool quiet = false;
  std::optional<std::int64_t> simulated_boots;
  TrialLimits limits;
};

/// Returns the exit status: 0 all trials valid, 1 one failed or was truncated, 3 none could run,
/// 130 interrupted. Throws for bad input (2), before any load.
int run_command(const RunArguments& arguments);

}  // namespace krepro
