// Tracepoint counters by perf_event_open(2); see perf_events.h.
#include "suite/counters/perf_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/error.h"

namespace krepro {

namespace {

constexpr const char* tracing_roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/// Where tracefs can be read; throws not_possible with what to do where it cannot.
std::string tracing_root(const HostFiles& host) {
  for (const char* root : tracing_roots) {
    if (host.exists(fmt::format("{}/events/raw_syscalls/sys_enter/id", root))) return root;
  }
  if (geteuid() != 0) {
    throw not_possible("tracepoints cannot be read: tracefs is for root only", "run it as root");
  }
  throw not_possible("tracepoints cannot be read: tracefs is not mounted, or the kernel has none",
                     "mount -t tracefs nodev /sys/kernel/tracing");
}

/// The kernel's number of "sched:sched_waking".
std::uint64_t tracepoint_id(const std::string& tracepoint, const HostFiles& host) {
  std::string path = tracepoint;
  const std::size_t colon = path.find(':');
  if (colon != std::string::npos) path[colon] = '/';
  int error_number = 0;
  const std::string file = fmt::format("{}/events/{}/id", tracing_root(host), path);
  if (!host.read(file, &error_number)) {
    throw system_error(fmt::format("tracepoint {}: {}", tracepoint, file), error_number,
                       ExitCode::not_possible);
  }
  const std::optional<std::int64_t> id = host.read_number(file);
  if (!id) throw not_possible(fmt::format("tracepoint {}: {} is not a number", tracepoint, file));
  return static_cast<std::uint64_t>(*id);
}

int open_counter(const std::string& tracepoint, const HostFiles& host) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_TRACEPOINT;
  attributes.config = tracepoint_id(tracepoint, host);
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  // For this process on any CPU: an event bound to a CPU would be told of a wake-up twice, once for
  // the waker and once for the task that is woken.
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor >= 0) return static_cast<int>(descriptor);
  const int error_number = errno;
  if (error_number == EACCES || error_number == EPERM) {
    throw not_possible(
        fmt::format("tracepoint {}: not permitted by kernel.perf_event_paranoid = {}, or by a "
                    "seccomp filter",
                    tracepoint,
                    host.read_line("/proc/sys/kernel/perf_event_paranoid").value_or("unknown")),
        "run it as root, or with CAP_PERFMON");
  }
  throw system_error(fmt::format("tracepoint {}: perf_event_open", tracepoint), error_number,
                     ExitCode::not_possible);
}

void set_filter(int descriptor, const Tracepoint& tracepoint) {
  if (ioctl(descriptor, PERF_EVENT_IOC_SET_FILTER, tracepoint.filter.c_str()) == 0) return;
  throw system_error(
      fmt::format("tracepoint {}: filter \"{}\"", tracepoint.name, tracepoint.filter), errno,
      ExitCode::not_possible);
}

}  // namespace

TracepointCounters TracepointCounters::open(const std::vector<Tracepoint>& tracepoints,
                                            const HostFiles& host) {
  TracepointCounters counters;
  counters.descriptors_.reserve(tracepoints.size());
  for (const Tracepoint& tracepoint : tracepoints) {
    counters.descriptors_.push_back(open_counter(tracepoint.name, host));
    if (!tracepoint.filter.empty()) set_filter(counters.descriptors_.back(), tracepoint);
  }
  return counters;
}

TracepointCounters::TracepointCounters(TracepointCounters&& other) noexcept
    : descriptors_(std::exchange(other.descriptors_, {})) {}

TracepointCounters& TracepointCounters::operator=(TracepointCounters&& other) noexcept {
  if (this != &other) {
    close();
    descriptors_ = std::exchange(other.descriptors_, {});
  }
  return *this;
}

TracepointCounters::~TracepointCounters() { close(); }

void TracepointCounters::close() {
  for (const int descriptor : descriptors_) ::close(descriptor);
  descriptors_.clear();
}

std::vector<std::uint64_t> TracepointCounters::read() const {
  std::vector<std::uint64_t> counts;
  for (const int descriptor : descriptors_) {
    std::uint64_t count = 0;
    if (::read(descriptor, &count, sizeof count) != static_cast<ssize_t>(sizeof count)) {
      throw system_error("reading a tracepoint's counter", errno, ExitCode::not_possible);
    }
    counts.push_back(count);
  }
  return counts;
}

std::optional<std::string> tracepoint_problem(const HostFiles& host) {
  try {
    (void)TracepointCounters::open({{"raw_syscalls:sys_enter", ""}}, host);
  } catch (const Error& error) {
    return error.remedy().empty() ? error.what()
                                  : fmt::format("{} ({})", error.what(), error.remedy());
  }
  return std::nullopt;
}

const std::vector<SystemCallName>& system_call_names() {
  static const std::vector<SystemCallName> names = {
#include "system_call_names.inc"
  };
  return names;
}

Tracepoint system_call_tracepoint(long number) {
  return {"raw_syscalls:sys_enter", fmt::format("id == {}", number)};
}

Tracepoint light_system_call_tracepoint(const SystemCallName& call, const HostFiles& host) {
  const std::string event = fmt::format("sys_enter_{}", call.name);
  for (const char* root : tracing_roots) {
    if (host.exists(fmt::format("{}/events/syscalls/{}/id", root, event))) {
      return {"syscalls:" + event, ""};
    }
  }
  return system_call_tracepoint(call.number);
}

}  // namespace krepro
