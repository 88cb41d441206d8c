// What a profile expects of the machine against what the machine is.
#pragma once

#include <string>
#include <vector>

#include "suite/placement/machine.h"
#include "suite/profile/profile.h"

namespace krepro {

/// One line per difference: "64 CPUs expected (c7g.metal), 2 here". Also where only some of the
/// CPUs may be used, and where an expectation cannot be checked.
[[nodiscard]] std::vector<std::string> machine_differences(const MachineExpectation& expected,
                                                           const Machine& machine);

}  // namespace krepro
