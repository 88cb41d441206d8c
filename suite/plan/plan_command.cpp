// From the command line to a plan, and `krepro plan`.
#include "suite/plan/plan_command.h"

#include <cstdio>

#include "common/base/error.h"
#include "suite/placement/machine_file.h"

namespace krepro {

PreparedPlan prepare_plan(const std::string& profile, const PlanSettings& settings,
                          const std::filesystem::path& topology) {
  PreparedPlan prepared;
  prepared.catalog.profiles_directory = find_profiles_directory();
  // A profile that is wrong is said before any program is asked anything.
  prepared.profile = load_profile(profile, prepared.catalog.profiles_directory);
  prepared.catalog = read_catalog(find_generators_directory(), prepared.catalog.profiles_directory);
  prepared.machine = machine_from(topology);
  prepared.plan = make_plan(prepared.profile, settings, prepared.catalog, prepared.machine);
  return prepared;
}

int plan_command(const PlanArguments& arguments) {
  const PreparedPlan prepared =
      prepare_plan(arguments.profile, arguments.settings, arguments.topology);
  const std::string text =
      arguments.json ? to_json(prepared.plan).dump(2) + "\n" : plan_text(prepared);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return static_cast<int>(ExitCode::ok);
}

}  // namespace krepro
