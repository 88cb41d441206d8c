// The noise of this machine, by short loads: the null generator, whose work is known, and hackbench
// against itself. Takes some seconds.
#pragma once

#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/doctor/checkup.h"
#include "suite/execute/interruption.h"

namespace krepro {

/// Runs them in turn; a row that cannot run says why. Throws interrupted.
[[nodiscard]] std::vector<NoiseRow> measure_noise(const Catalog& catalog, const Machine& machine,
                                                  const Interruption& interruption);

}  // namespace krepro
