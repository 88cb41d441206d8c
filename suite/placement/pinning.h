// Which worker goes onto which CPU of a placement, and from which nodes a role gets its memory.
// Applying is the generators' and the keeper's business (common/generator, common/process).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/placement/machine.h"

namespace krepro {

/// floating: workers move within the placement. compact: neighbours share as much as they can
/// (core, cluster, cache, node). spread: neighbours share as little as they can.
enum class Pinning : std::uint8_t { floating, compact, spread };

/// "float", "pin-compact", "pin-spread". Throws usage_error with a suggestion.
[[nodiscard]] Pinning parse_pinning(const std::string& text);

/// `cpus` in the order that workers are pinned in; empty for floating. Throws not_possible where
/// the topology is not known.
[[nodiscard]] std::vector<int> pinning_order(Pinning pinning, const CpuSet& cpus,
                                             const Machine& machine);

/// Checks the wording only: "bind", "interleave", "preferred", each with or without nodes
/// ("bind:0", "bind:all"), "local", "default". Throws usage_error.
void check_memory_syntax(const std::string& text);

/// The same with its nodes as numbers, for parse_memory_policy(): nodes that are not named are
/// those of `cpus`, "all" is all of the machine. Throws not_possible where the machine has them
/// not.
[[nodiscard]] std::string resolve_memory(const std::string& text, const CpuSet& cpus,
                                         const Machine& machine);

}  // namespace krepro
