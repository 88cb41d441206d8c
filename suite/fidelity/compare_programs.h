// The comparison of one generator with its original, from arguments to exit status; the generator
// and the machine's description are given, so that tests can compare shell scripts.
#pragma once

#include <string>

#include "suite/catalog/catalog.h"
#include "suite/fidelity/fidelity_command.h"

namespace krepro::fidelity {

/// Prints the report; returns the exit status and throws as fidelity_command() does. `machine`: a
/// phrase for the report's head ("2 CPUs, 1 LLC, no SMT").
int compare_programs(const GeneratorInfo& generator, const std::string& machine,
                     const FidelityArguments& arguments);

}  // namespace krepro::fidelity
