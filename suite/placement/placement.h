// Placements: words like "one-per-llc" or "llc:0,2 & one-per-core" turned into CPUs of a machine.
// Only online and allowed CPUs count. Applying a CPU set is common/affinity's business.
// docs/placement.md has the grammar.
#pragma once

#include <map>
#include <string>

#include "common/affinity/cpu_set.h"
#include "suite/placement/machine.h"

namespace krepro {

/// Checks the wording only, for any machine. Throws usage_error with a suggestion.
void check_placement_syntax(const std::string& text);

/// The CPUs that `text` names on `machine`. Throws usage_error for a wrong wording, not_possible
/// for one that this machine cannot meet; the message names what exists. `rest` is an error here:
/// it needs another side.
[[nodiscard]] CpuSet resolve_placement(const std::string& text, const Machine& machine);

/// The same for all roles of a benchmark (role -> text), where `rest` in one role is what the
/// others leave.
[[nodiscard]] std::map<std::string, CpuSet> resolve_placements(
    const std::map<std::string, std::string>& roles, const Machine& machine);

}  // namespace krepro
