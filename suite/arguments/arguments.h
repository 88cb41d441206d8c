// The command line of `krepro` as plain structs, one per command. Nothing is looked up or run here;
// what a command's arguments mean is in the command's own header.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "suite/bundle/bundle.h"
#include "suite/catalog/list_command.h"
#include "suite/compare/aa_command.h"
#include "suite/compare/compare_command.h"
#include "suite/doctor/doctor_command.h"
#include "suite/execute/generator_call.h"
#include "suite/execute/run_command.h"
#include "suite/fidelity/fidelity_command.h"
#include "suite/placement/place_command.h"
#include "suite/plan/plan_command.h"
#include "suite/plan/topology_command.h"
#include "suite/report/show_command.h"

namespace krepro {

/// A text that was asked for: help, version.
struct TextRequest {
  std::string text;
};

using Command = std::variant<TextRequest, ListArguments, PlanArguments, RunArguments, ShowArguments,
                             FidelityArguments, CompareArguments, BundleArguments, AaArguments,
                             PlaceArguments, TopologyArguments, DoctorArguments, GeneratorCall>;

/// Throws usage_error with a suggestion. A first word that is no command is taken for a generator.
[[nodiscard]] Command parse_arguments(int argc, const char* const* argv);

/// Names of all commands, for suggestions.
[[nodiscard]] std::vector<std::string> command_names();

}  // namespace krepro
