// CPU time and context switches of a process and all its descendants, as the kernel's files tell
// them: what a server costs per request, read before the load and after it. Works for nginx, for
// our own server and for any other on the same machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/host_files.h"
#include "common/generator/sample.h"

namespace krepro::http {

/// What the fragment of an endpoint begins with where it names a server's process.
inline constexpr std::string_view process_key = "process=";

/// A pid, and the time when it started.
using ProcessName = std::pair<std::int64_t, std::uint64_t>;

struct ProcessAccounts {
  std::vector<ProcessName> processes;
  double user_ns = 0;
  double system_ns = 0;
  double run_ns = 0;  ///< Time on a CPU to the nanosecond; user and system are in clock ticks.
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
};

/// Sums over `pid` and its living descendants, all their threads; nothing where there is no such
/// process.
[[nodiscard]] std::optional<ProcessAccounts> read_accounts(std::int64_t pid, const HostFiles& host);

/// The threads of `pid` (role "main") and of its descendants (role `role`) as they are now, grouped
/// by policy, CPUs and memory policy as the kernel tells them; what they counted since they began.
[[nodiscard]] std::vector<ThreadGroup> read_thread_groups(std::int64_t pid, const std::string& role,
                                                          const HostFiles& host);

/// When the process started, in clock ticks since boot: with the pid, a name that no later process
/// has. Nothing where there is no such process.
[[nodiscard]] std::optional<std::uint64_t> start_time(std::int64_t pid, const HostFiles& host);

/// The most memory that this process has had resident so far; 0 where the kernel does not tell.
[[nodiscard]] std::uint64_t peak_memory_bytes();

/// "process=PID.START", the fragment of an endpoint; see named_process().
[[nodiscard]] std::string process_fragment(std::int64_t pid, const HostFiles& host);
/// The pid that the fragment names; nothing where it names none, or the process is not one of this
/// host (a server elsewhere, or in another container).
[[nodiscard]] std::optional<std::int64_t> named_process(const std::string& fragment,
                                                        const HostFiles& host);

}  // namespace krepro::http
