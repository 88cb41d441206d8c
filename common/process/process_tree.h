// Which processes descend from which, as /proc tells.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <vector>

#include "common/base/host_files.h"

namespace krepro {

/// For one walk over a process and its descendants; a later one needs a new tree.
class ProcessTree {
 public:
  explicit ProcessTree(const HostFiles& host) : host_(&host) {}

  /// The processes, zombies too, that any thread of `pid` has forked or inherited, in the order of
  /// their start; empty where there is none or no such process. Kernels without
  /// CONFIG_PROC_CHILDREN list no children: then the parents of all processes are looked at, once,
  /// and the order is that of their numbers.
  [[nodiscard]] std::vector<pid_t> children_of(pid_t pid);

 private:
  [[nodiscard]] const std::vector<pid_t>& children_by_parents(pid_t parent);
  const HostFiles* host_;
  std::optional<std::map<pid_t, std::vector<pid_t>>> by_parent_;
};

/// The same where no more is walked over.
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid, const HostFiles& host);

}  // namespace krepro
