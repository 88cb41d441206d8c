// Which processes descend from which, as /proc tells.
#pragma once

#include <sys/types.h>

#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// The processes, zombies too, that any thread of `pid` has forked or inherited, in the order
/// of their start; empty where there is none or no such process. Kernels without
/// CONFIG_PROC_CHILDREN list no children: then the parents of all processes are looked at, which
/// costs a read for each, and the order is that of their numbers.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid, const HostFiles& host);

}  // namespace krepro
