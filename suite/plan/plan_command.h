// `krepro plan PROFILE`: every trial spelled out, the expected duration, and what this machine
// lacks. Also the one place where a profile's name and the command line become a plan, for
// `krepro run` too.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/placement/machine.h"
#include "suite/plan/plan.h"

namespace krepro {

struct PlanArguments {
  std::string profile;  ///< Path or name.
  PlanSettings settings;
  bool json = false;               ///< The plan as a run file has it.
  std::filesystem::path topology;  ///< Plan as if on the machine of this file; empty: this one.
};

/// A plan and what it was made from.
struct PreparedPlan {
  Catalog catalog;
  Machine machine;
  Profile profile;
  Plan plan;
};

/// Finds generators and profile, reads the machine and makes the plan. Throws as load_profile and
/// make_plan do. `topology`: see PlanArguments.
[[nodiscard]] PreparedPlan prepare_plan(const std::string& profile, const PlanSettings& settings,
                                        const std::filesystem::path& topology = {});

/// The plan for people, at most 78 columns except for long values, with its line end.
[[nodiscard]] std::string plan_text(const PreparedPlan& prepared);

/// The word as it would be typed in a shell: in single quotes where it needs them.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// What one would type for a trial of the row, each word quoted for a shell where it has to be:
/// "taskset -c 0-3 krepro hackbench --groups=4 --pipe". For an upstream row the original's command
/// line.
[[nodiscard]] std::vector<std::string> command_words(const Benchmark& benchmark,
                                                     const Catalog& catalog);
/// The same in one line.
[[nodiscard]] std::string command_line(const Benchmark& benchmark, const Catalog& catalog);

/// Prints it; returns the exit status.
int plan_command(const PlanArguments& arguments);

}  // namespace krepro
