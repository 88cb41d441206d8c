// The drawing of a machine with the comparison below it.
#include "suite/plan/topology_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/error.h"
#include "suite/catalog/catalog.h"
#include "suite/catalog/wrap.h"
#include "suite/placement/drawing.h"
#include "suite/placement/machine_file.h"
#include "suite/plan/machine_differences.h"
#include "suite/profile/profile.h"
#include "suite/report/output.h"

namespace krepro {

namespace {

std::string comparison_text(const Profile& profile, const std::vector<std::string>& differences) {
  const std::string who = profile.machine.name.empty()
                              ? profile.name
                              : fmt::format("{} ({})", profile.machine.name, profile.name);
  if (differences.empty()) return wrapped("\n", fmt::format("as expected by {}", who), 2);
  std::string text = wrapped("\n", fmt::format("differs from what {} expects:", who), 2);
  for (const std::string& line : differences) text += wrapped("  ", line, 4);
  return text;
}

}  // namespace

std::string topology_text(const TopologyArguments& arguments) {
  // A profile that is wrong is said before the machine is looked at.
  Profile profile;
  if (!arguments.profile.empty()) {
    profile = load_profile(arguments.profile, find_profiles_directory());
  }
  const Machine machine = machine_from(arguments.topology);
  std::vector<std::string> differences;
  if (!arguments.profile.empty()) differences = machine_differences(profile.machine, machine);
  if (arguments.json) {
    nlohmann::json json = machine_json(machine);
    if (!arguments.profile.empty()) json["differences"] = differences;
    return json.dump(2) + "\n";
  }
  std::string text = draw_machine(machine);
  if (!arguments.profile.empty()) text += comparison_text(profile, differences);
  return text;
}

int topology_command(const TopologyArguments& arguments) {
  print_text(topology_text(arguments));
  return static_cast<int>(ExitCode::ok);
}

}  // namespace krepro
