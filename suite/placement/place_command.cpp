// From the command line of `krepro place` to the lines that it prints.
#include "suite/placement/place_command.h"

#include "common/affinity/cpu_order.h"
#include "common/base/error.h"
#include "suite/placement/machine_file.h"
#include "suite/placement/pinning.h"
#include "suite/placement/placement.h"
#include "suite/report/output.h"

namespace krepro {

std::string place_text(const PlaceArguments& arguments) {
  check_placement_syntax(arguments.placement);
  const Pinning pinning =
      arguments.pinning.empty() ? Pinning::floating : parse_pinning(arguments.pinning);
  if (!arguments.memory.empty()) check_memory_syntax(arguments.memory);
  const Machine machine = machine_from(arguments.topology);
  CpuSet cpus;
  if (arguments.other.empty()) {
    cpus = resolve_placement(arguments.placement, machine);
  } else {
    cpus = resolve_placements({{"load", arguments.placement}, {"serve", arguments.other}}, machine)
               .at("load");
  }
  std::string text = pinning == Pinning::floating
                         ? cpus.to_string()
                         : to_string(pinning_order(pinning, cpus, machine));
  text += "\n";
  if (!arguments.memory.empty()) text += resolve_memory(arguments.memory, cpus, machine) + "\n";
  return text;
}

int place_command(const PlaceArguments& arguments) {
  print_text(place_text(arguments));
  return static_cast<int>(ExitCode::ok);
}

}  // namespace krepro
