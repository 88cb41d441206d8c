// Counters of all CPUs.
#include "suite/counters/host_perf.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/process/resource_limits.h"

namespace krepro {
namespace {

struct HostEvent {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::array<HostEvent, 1> software_events = {
    {{"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS}}};
/// Three, so that they fit into any unit beside the watchdog's own.
constexpr std::array<HostEvent, 3> hardware_events = {
    {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
     {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
     {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}};
constexpr std::size_t most_events = hardware_events.size();

/// Returns the descriptor, or minus errno.
int open_event(const HostEvent& event, int cpu, int leader) {
  perf_event_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.read_format =
      PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const long descriptor =
      syscall(SYS_perf_event_open, &attributes, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

/// What a read of a group gives (perf_event_open(2)).
struct GroupValues {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::array<std::uint64_t, most_events> values{};
};

}  // namespace

std::string perf_refusal(int error_number, const HostFiles& host) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return fmt::format(
          "not permitted: kernel.perf_event_paranoid is {}; 0 or less, or CAP_PERFMON, is needed",
          host.read_line("/proc/sys/kernel/perf_event_paranoid").value_or("unknown"));
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "no such counter on this machine (virtual machines often have none)";
    case ENOSYS:
      return "the kernel has no perf events, or a seccomp filter hides them";
    case EMFILE:
      return "too few file descriptors for a counter on every CPU (ulimit -n)";
    default:
      return std::strerror(error_number);
  }
}

HostPerf HostPerf::open(const std::vector<int>& cpus, const HostFiles& host) {
  HostPerf perf;
  // Raises the soft limit where it can; where it cannot, the open fails and says so.
  const std::size_t needed = cpus.size() * (software_events.size() + hardware_events.size());
  (void)find_shortfalls({.descriptors = needed + 64, .tasks = 0, .mappings = 0}, host);
  const auto fill = [&](Group& group, const auto& events) {
    for (const HostEvent& event : events) group.names.emplace_back(event.name);
    for (const int cpu : cpus) {
      int leader = -1;
      for (const HostEvent& event : events) {
        const int descriptor = open_event(event, cpu, leader);
        if (descriptor < 0) {
          group.problem = perf_refusal(-descriptor, host);
          close(group);
          return;
        }
        group.descriptors.push_back(descriptor);
        if (leader < 0) group.leaders.push_back(leader = descriptor);
      }
    }
    if (cpus.empty()) group.problem = "no CPU is known";
  };
  fill(perf.software_, software_events);
  fill(perf.hardware_, hardware_events);
  return perf;
}

HostPerf::HostPerf(HostPerf&& other) noexcept { take(other); }

HostPerf& HostPerf::operator=(HostPerf&& other) noexcept {
  if (this != &other) {
    close(software_);
    close(hardware_);
    take(other);
  }
  return *this;
}

HostPerf::~HostPerf() {
  close(software_);
  close(hardware_);
}

void HostPerf::take(HostPerf& other) {
  software_ = std::exchange(other.software_, {});
  hardware_ = std::exchange(other.hardware_, {});
}

void HostPerf::close(Group& group) {
  for (const int descriptor : group.descriptors) ::close(descriptor);
  group.descriptors.clear();
  group.leaders.clear();
}

PerfReading HostPerf::read(const Group& group) {
  PerfReading reading;
  for (const int leader : group.leaders) {
    GroupValues found;
    // A CPU that went offline reads as nothing.
    if (::read(leader, &found, sizeof found) <= 0) continue;
    const double share = found.enabled_ns == 0 ? 1
                                               : static_cast<double>(found.running_ns) /
                                                     static_cast<double>(found.enabled_ns);
    reading.running_share = std::min(reading.running_share, share);
    for (std::size_t i = 0; i < group.names.size() && i < found.count; ++i) {
      const auto value = static_cast<double>(found.values[i]);
      reading.values[group.names[i]] += share > 0 ? value / share : 0;
    }
  }
  return reading;
}

}  // namespace krepro
