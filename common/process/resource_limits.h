// Limits that break big runs, checked before anything starts: which one stands in the way, its
// value, the value needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// What a load is about to use.
struct ResourceNeeds {
  std::uint64_t descriptors = 0;  ///< Open at once in one process.
  std::uint64_t tasks = 0;        ///< Processes or threads to be created.
  std::uint64_t mappings = 0;     ///< Memory mappings in one process (thread stacks).
};

struct LimitShortfall {
  std::string limit;  ///< "RLIMIT_NOFILE", "kernel.pid_max", "cgroup pids.max (/x)", ...
  std::uint64_t available = 0;
  std::uint64_t needed = 0;  ///< What is in use already is counted, where that is known.
  std::string remedy;        ///< The command or setting that mends it.
  std::string purpose;       ///< What it is needed for: "4,000,000 tasks".
};

/// Raises the soft RLIMIT_NOFILE to what is needed where the hard limit allows it (a service's soft
/// limit is often 1024), then returns every limit that is too low: RLIMIT_NOFILE, fs.file-max,
/// RLIMIT_NPROC (not for CAP_SYS_RESOURCE / root), kernel.pid_max, kernel.threads-max, cgroup
/// pids.max (v1 and v2, all levels upwards), vm.max_map_count. A limit that cannot be read is taken
/// as none. Limits of control groups outside of a container cannot be seen from inside.
[[nodiscard]] std::vector<LimitShortfall> find_shortfalls(
    const ResourceNeeds& needs, const HostFiles& host = HostFiles::system());
/// Throws not_possible naming them all where there are any: "4,000,000 tasks need kernel.pid_max of
/// at least 4,000,100 (now 32,768)", with the commands that mend them as remedy.
void require_resources(const ResourceNeeds& needs, const HostFiles& host = HostFiles::system());

}  // namespace krepro
