// A machine drawn in text: packages, nodes, caches, clusters, cores with their siblings, and which
// CPUs are offline or not allowed. ASCII, at most 78 columns.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "suite/placement/machine.h"

namespace krepro {

/// Ends with a line end.
[[nodiscard]] std::string draw_machine(const Machine& machine);

/// The same facts: {"online": "0-3", "allowed": ..., "llcs": ["0-1", ...], "nodes": {"0": ...},
/// ...}.
[[nodiscard]] nlohmann::json machine_json(const Machine& machine);

}  // namespace krepro
