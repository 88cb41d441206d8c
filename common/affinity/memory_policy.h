// From which NUMA nodes a thread gets its memory, as set_mempolicy(2) knows it: applied to the
// calling thread, inherited over fork and exec, read back. Which nodes there are is
// suite/placement's business.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/affinity/cpu_set.h"

namespace krepro {

/// standard: the kernel's own, local to the CPU. local: the same, said explicitly.
enum class MemoryMode : std::uint8_t { standard, bind, interleave, preferred, local };

struct MemoryPolicy {
  MemoryMode mode = MemoryMode::standard;
  CpuSet nodes;  ///< Numbers of nodes; of bind, interleave and preferred (one).
  bool operator==(const MemoryPolicy&) const = default;
};

/// "default", "local", "bind:0-1", "interleave:0,2", "preferred:1". Throws usage_error.
[[nodiscard]] MemoryPolicy parse_memory_policy(std::string_view text);
/// The same format; parse_memory_policy() of it gives the same back.
[[nodiscard]] std::string to_string(const MemoryPolicy& policy);

/// Applies it to the calling thread and reads it back. Throws not_possible where the kernel refuses
/// (no such node, not allowed by the cpuset, no NUMA) or has it as something else.
void apply_memory_policy(const MemoryPolicy& policy);
/// What the kernel has for the calling thread; "default" where it knows no NUMA.
[[nodiscard]] MemoryPolicy read_memory_policy();
/// The same of another thread, by /proc/TID/numa_maps: "bind:0", "default", ...; "" where the
/// kernel does not tell. Costs a walk over the thread's mappings.
[[nodiscard]] std::string memory_policy_of(pid_t tid);

}  // namespace krepro
