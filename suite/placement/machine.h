// The machine's topology as plain data: which CPUs share a core, a last-level cache, a node, a
// package. machine.cpp reads it with hwloc and is the only place that knows hwloc; placements
// (placement.h) are computed from this struct alone. Clocks, caches' sizes and knobs are
// suite/environment's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"

namespace krepro {

/// A package or NUMA node: its number as the kernel has it, and its online CPUs.
struct CpuGroup {
  int number = 0;
  CpuSet cpus;
  bool operator==(const CpuGroup&) const = default;
};

/// Groups hold online CPUs, allowed or not, so that "llc:2" means the same under taskset. CPUs are
/// as the kernel numbers them, gaps included.
struct Machine {
  CpuSet online;
  CpuSet allowed;              ///< Of these, the ones that this process may use.
  CpuSet offline;              ///< There, and not online.
  std::vector<CpuSet> cores;   ///< By lowest CPU.
  std::vector<CpuSet> llcs;    ///< Last-level caches by lowest CPU; empty: not known here.
  bool llcs_by_cpuid = false;  ///< sysfs tells of no cache (some virtual machines), CPUID does.
  /// Cores that share a cache or a bus below the last-level cache (an L2 of several cores, the
  /// kernel's cluster_cpus), by lowest CPU; empty: there are none.
  std::vector<CpuSet> clusters;
  /// CPUs of different capability (big and little cores), the least capable first; empty: all
  /// alike, or not told.
  std::vector<CpuSet> kinds;
  std::vector<CpuGroup> nodes;  ///< NUMA nodes, those without CPUs left out.
  std::vector<CpuGroup> packages;
  std::string architecture;        ///< uname -m; empty for a topology read from a file
  std::string topology_problem;    ///< Why there is no topology ("" where there is one); cores,
                                   ///< llcs, nodes and packages are empty then.
  bool this_machine = true;        ///< false: a topology from a file or text.
  [[nodiscard]] bool smt() const;  ///< Any core with more than one online CPU.
  [[nodiscard]] bool has_topology() const { return topology_problem.empty(); }
};

/// The machine itself; hwloc's HWLOC_XMLFILE and HWLOC_SYNTHETIC replace it by another topology, of
/// which all CPUs count as allowed. Never throws: where no topology can be had, the affinity mask
/// remains and `topology_problem` says why.
[[nodiscard]] Machine read_machine();
/// A topology that hwloc exported (`lstopo FILE.xml`). Throws usage_error.
[[nodiscard]] Machine read_machine_from_xml(const std::filesystem::path& path);
/// hwloc's synthetic description, for instance "pack:1 l3:12 core:4 pu:2(indexes=2*48:48*1)".
/// Throws usage_error.
[[nodiscard]] Machine read_machine_from_synthetic(const std::string& description);
/// A machine of which only the CPUs are known.
[[nodiscard]] Machine machine_without_topology(const CpuSet& cpus, const std::string& problem);

/// Takes CPUs out of all sets, as the kernel does when they go offline: emptied groups vanish, and
/// numbers of caches shift.
void take_offline(Machine& machine, const CpuSet& cpus);

/// "96 CPUs, 12 LLCs, SMT" / "2 CPUs, 1 LLC, no SMT" / "2 CPUs, topology unknown"; with
/// ", 1 allowed" where not all CPUs may be used.
[[nodiscard]] std::string summary(const Machine& machine);

}  // namespace krepro
