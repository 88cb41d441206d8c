// Options to counts, counts to needs, needs against limits; see setup.h.
#include "generators/hackbench/setup.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <sstream>

#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro::hackbench {

namespace {

// stdin, stdout, stderr, and two ends each of the ready and the wake-up channel.
constexpr std::uint64_t shared_descriptors = 7;
// What the program itself maps, with room for another libc.
constexpr std::uint64_t own_mappings = 64;
// A thread's stack and its guard page.
constexpr std::uint64_t mappings_per_thread = 2;
// glibc makes at most eight arenas a CPU, two mappings each; receivers make them at their end.
constexpr std::uint64_t arena_mappings_per_cpu = 16;
// Beside the message, a worker's stack holds the environment, arguments and a few frames.
constexpr std::uint64_t stack_reserve_bytes = 256U << 10U;

std::uint64_t unsigned_of(const Options& options, const char* name) {
  return static_cast<std::uint64_t>(options.integer(name));
}

void require_stack(const LoadSetup& setup) {
  rlimit stack{};
  if (setup.threads || getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY) {
    return;
  }
  const std::uint64_t needed = setup.datasize_bytes + stack_reserve_bytes;
  if (stack.rlim_cur < needed) {
    throw not_possible(
        fmt::format("messages of {} bytes, which lie on each worker's stack, need RLIMIT_STACK of "
                    "at least {} (now {})",
                    format_grouped(setup.datasize_bytes), format_grouped(needed),
                    format_grouped(stack.rlim_cur)),
        fmt::format("ulimit -s {}, or lower --datasize", (needed + 1023) / 1024));
  }
}

void require_ports(const LoadSetup& setup, const HostFiles& host) {
  const auto range = host.read_line("/proc/sys/net/ipv4/ip_local_port_range");
  if (setup.channel != Channel::inet || !range) {
    return;
  }
  std::istringstream text(*range);
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  text >> first >> last;
  // One port listens, one connects; two more such pairs are the ready and the wake-up channel.
  const std::uint64_t needed = 2 * (setup.channels() + 2);
  const std::uint64_t available = last >= first ? last - first + 1 : 0;
  if (available < needed) {
    throw not_possible(
        fmt::format("{} TCP connections need {} ports; net.ipv4.ip_local_port_range has {} ({})",
                    format_grouped(setup.channels()), format_grouped(needed),
                    format_grouped(available), *range),
        needed <= 64000 ? "sysctl -w net.ipv4.ip_local_port_range=\"1500 65535\", or lower --groups"
                        : "lower --groups or --fds: there are no more than 65,535 ports");
  }
}

}  // namespace

LoadSetup setup_from(const Options& options) {
  if (options.flag("pipe") && options.flag("inet")) {
    throw usage_error("--pipe and --inet cannot be used together");
  }
  if (options.flag("threads") && options.flag("process")) {
    throw usage_error("--threads and --process cannot be used together");
  }
  LoadSetup setup;
  setup.threads = options.flag("threads");
  setup.channel = options.flag("pipe")   ? Channel::pipe
                  : options.flag("inet") ? Channel::inet
                                         : Channel::unix_socket;
  setup.groups = unsigned_of(options, "groups");
  setup.fds = unsigned_of(options, "fds");
  setup.loops = unsigned_of(options, "loops");
  setup.datasize_bytes = unsigned_of(options, "datasize");
  setup.fifo = options.flag("fifo");
  std::uint64_t messages = 0;
  if (__builtin_mul_overflow(setup.groups * setup.fds, setup.fds * setup.loops, &messages)) {
    throw usage_error("groups x fds x fds x loops is more messages than can be counted",
                      "lower --loops, --fds or --groups");
  }
  return setup;
}

ResourceNeeds needs_of(const LoadSetup& setup) {
  ResourceNeeds needs;
  needs.tasks = setup.tasks() + 1;
  // A connection being made needs three at once; of those made, threads keep both ends, and a
  // parent of processes keeps the write ends of one group.
  const std::uint64_t being_made = setup.channel == Channel::inet ? 3 : 2;
  needs.descriptors =
      shared_descriptors + being_made + (setup.threads ? 2 * setup.channels() : setup.fds);
  needs.mappings = own_mappings;
  if (setup.threads) {
    const auto cpus = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
    needs.mappings += mappings_per_thread * setup.tasks() + arena_mappings_per_cpu * cpus;
  }
  return needs;
}

namespace {

/// The most groups that the machine's limits allow; 0 where not even one fits.
std::uint64_t most_groups(LoadSetup setup, const HostFiles& host) {
  std::uint64_t fits = 0;
  std::uint64_t too_many = setup.groups;
  while (too_many - fits > 1) {
    setup.groups = fits + (too_many - fits) / 2;
    (find_shortfalls(needs_of(setup), host).empty() ? fits : too_many) = setup.groups;
  }
  return fits;
}

void require_limits(const LoadSetup& setup, const HostFiles& host) {
  try {
    require_resources(needs_of(setup), host);
  } catch (const Error& error) {
    const std::uint64_t groups = most_groups(setup, host);
    const std::string fewer =
        groups > 0 ? fmt::format("lower --groups to {}", groups) : "lower --groups and --fds";
    throw Error(error.code(), error.what(),
                fmt::format("{}; or {}; see docs/limits.md", error.remedy(), fewer));
  }
}

}  // namespace

void require_machine(const LoadSetup& setup, const HostFiles& host) {
  require_limits(setup, host);
  require_stack(setup);
  require_ports(setup, host);
}

std::vector<std::string> load_arguments(const LoadSetup& setup) {
  return {setup.threads ? "threads" : "process",
          channel_name(setup.channel),
          std::to_string(setup.groups),
          std::to_string(setup.fds),
          std::to_string(setup.loops),
          std::to_string(setup.datasize_bytes),
          setup.fifo ? "fifo" : "-"};
}

std::uint64_t sequence_digest(const LoadSetup& setup) {
  std::uint64_t digest = 14695981039346656037ULL;  // FNV-1a over the arguments.
  for (const std::string& argument : load_arguments(setup)) {
    for (const char letter : argument + " ") {
      digest = (digest ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
    }
  }
  return digest;
}

std::string channel_name(Channel channel) {
  switch (channel) {
    case Channel::pipe:
      return "pipe";
    case Channel::unix_socket:
      return "socket";
    case Channel::inet:
      return "inet";
  }
  return "";
}

}  // namespace krepro::hackbench
