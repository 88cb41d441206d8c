// The groups of counters that are plain sums over a text file of the kernel: memory events,
// softirqs, interrupts, disks, the network. Absolute values; a group that cannot be had says why.
// Private to suite/counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

struct CounterGroup {
  std::map<std::string, std::int64_t> values;
  std::string problem;  ///< Why there are no values: "absent", "no permission"; else empty.
};

/// Events of /proc/vmstat (page faults, reclaim, compaction, NUMA hinting ...); levels such as
/// nr_free_pages are no events and are left out.
[[nodiscard]] CounterGroup read_vmstat(const HostFiles& host);
/// /proc/softirqs by kind, summed over the CPUs, in lower case.
[[nodiscard]] CounterGroup read_softirqs(const HostFiles& host);
/// /proc/interrupts by kind, summed over the CPUs and over the queues of a device ("nvme0q1",
/// "nvme0q2" are "nvme0q"). The kernel's own have names: local_timer, reschedule, function_call,
/// tlb_shootdown.
[[nodiscard]] CounterGroup read_interrupts(const HostFiles& host);
/// TCP and UDP of this network namespace: segments, retransmits, listen overflows and drops.
[[nodiscard]] CounterGroup read_network(const HostFiles& host);
/// /proc/diskstats of one whole device: reads, writes, discards, flushes, bytes, busy time; by
/// device. `devices`: see whole_disks().
[[nodiscard]] std::map<std::string, CounterGroup> read_disks(
    const HostFiles& host, const std::vector<std::string>& devices);
/// Names in /sys/block.
[[nodiscard]] std::vector<std::string> whole_disks(const HostFiles& host);

/// CPUs that share a last-level cache, from the highest level that sysfs tells of: "0-3,48-51" by
/// CPU. Empty where it tells of none.
[[nodiscard]] std::map<int, std::string> last_level_caches(const HostFiles& host);

/// One idle state of one CPU.
struct IdleState {
  std::string name;    ///< "C1", "haltpoll"
  std::string folder;  ///< "/sys/devices/system/cpu/cpu0/cpuidle/state1"
};
[[nodiscard]] std::vector<IdleState> find_idle_states(const HostFiles& host);
/// Entries and time (ns) by state, summed over the CPUs: "C1.entries", "C1.time_ns".
[[nodiscard]] CounterGroup read_idle_states(const HostFiles& host,
                                            const std::vector<IdleState>& states);

}  // namespace krepro
