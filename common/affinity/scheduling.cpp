// Scheduling attributes applied and read back: see scheduling.h. The text format is
// scheduling_text.cpp's.
#include "common/affinity/scheduling.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/base/error.h"
#include "common/base/host_files.h"

namespace krepro {
namespace {

/// struct sched_attr of linux/sched/types.h (that header and libc's <sched.h> cannot be included
/// together everywhere), with the utilisation clamps of Linux 5.3.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
  std::uint32_t util_min = 0;
  std::uint32_t util_max = 0;
};
static_assert(sizeof(Attributes) == 56);

constexpr std::uint64_t flag_util_min = 0x20;
constexpr std::uint64_t flag_util_max = 0x40;
constexpr std::uint32_t util_whole = 1024;
constexpr int pr_sched_core = 62;
constexpr int pr_sched_core_get = 0;
constexpr int pr_sched_core_create = 1;
constexpr int scope_thread = 0;
constexpr int cap_sys_nice = 23;

constexpr std::uint32_t kernel_policies[] = {0, 3, 5, 1, 2, 6, 7};  // By SchedulingClass.

std::uint32_t policy_number(SchedulingClass policy) {
  return kernel_policies[static_cast<std::size_t>(policy)];
}

bool is_real_time(SchedulingClass policy) {
  return policy == SchedulingClass::fifo || policy == SchedulingClass::rr;
}

bool has_nice(SchedulingClass policy) {
  return policy == SchedulingClass::other || policy == SchedulingClass::batch ||
         policy == SchedulingClass::ext;
}

/// 0, or errno.
int get_attributes(pid_t tid, Attributes& attributes) {
  return syscall(SYS_sched_getattr, tid, &attributes, sizeof attributes, 0U) == 0 ? 0 : errno;
}

std::string subject(pid_t tid) { return tid == 0 ? "" : fmt::format(" for thread {}", tid); }

std::string kernel_release() {
  utsname name = {};
  uname(&name);
  return name.release;
}

/// Whether this process has CAP_SYS_NICE in force.
bool may_set_any_priority() {
  const auto status = HostFiles("/").read("/proc/self/status");
  const std::size_t at = status ? status->find("CapEff:") : std::string::npos;
  if (at == std::string::npos) {
    return geteuid() == 0;
  }
  return (std::strtoull(status->c_str() + at + 7, nullptr, 16) >> cap_sys_nice & 1U) != 0;
}

rlim_t soft_limit(__rlimit_resource resource) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  return limit.rlim_cur;
}

Error no_permission(const Scheduling& scheduling, const std::string& what) {
  const bool privileged = may_set_any_priority();
  if (scheduling.policy == SchedulingClass::deadline) {
    return privileged ? not_possible(
                            what + ": the thread may not run on all CPUs of its scheduling domain",
                            "DEADLINE needs a thread that is not bound to some of the CPUs; use "
                            "an exclusive cpuset to confine it")
                      : not_possible(what + ": this needs CAP_SYS_NICE", "run as root");
  }
  if (is_real_time(scheduling.policy)) {
    return privileged
               ? not_possible(what + ": this control group has no real-time share",
                              "give cpu.rt_runtime_us of the group a value, or move to the root "
                              "group")
               : not_possible(
                     fmt::format("{}: this needs CAP_SYS_NICE or RLIMIT_RTPRIO of at least {} (now "
                                 "{})",
                                 what, scheduling.priority, soft_limit(RLIMIT_RTPRIO)),
                     "run as root, or raise rtprio in /etc/security/limits.conf");
  }
  return not_possible(fmt::format("{}: this needs CAP_SYS_NICE or RLIMIT_NICE of at least {} (now "
                                  "{})",
                                  what, 20 - scheduling.nice, soft_limit(RLIMIT_NICE)),
                      "run as root, or raise nice in /etc/security/limits.conf");
}

/// Why sched_setattr(2) refused.
Error refusal(const Scheduling& scheduling, pid_t tid, int error) {
  const std::string what = fmt::format("scheduling {}{}", to_string(scheduling), subject(tid));
  const bool clamps = scheduling.uclamp_min || scheduling.uclamp_max;
  if (error == EPERM || error == EACCES) {
    return no_permission(scheduling, what);
  }
  if (clamps && (error == EOPNOTSUPP || error == E2BIG || error == EINVAL)) {
    return not_possible(
        fmt::format("{}: kernel {} has no utilisation clamps", what, kernel_release()),
        "use a kernel from 5.3 with CONFIG_UCLAMP_TASK=y");
  }
  if (error == EINVAL && scheduling.policy == SchedulingClass::ext) {
    return not_possible(fmt::format("{}: kernel {} has no sched_ext", what, kernel_release()),
                        "use a kernel from 6.12 with CONFIG_SCHED_CLASS_EXT=y");
  }
  if (error == EINVAL && scheduling.policy == SchedulingClass::deadline) {
    return not_possible(what + ": the kernel does not accept these parameters",
                        "periods must lie within kernel.sched_deadline_period_min_us and _max_us");
  }
  if (error == EBUSY && scheduling.policy == SchedulingClass::deadline) {
    return not_possible(what + ": not enough bandwidth is left for it",
                        "lower runtime/period; kernel.sched_rt_runtime_us bounds the sum");
  }
  return system_error(what, error, ExitCode::not_possible);
}

Attributes to_attributes(const Scheduling& scheduling, const Attributes& before) {
  Attributes attributes;
  attributes.policy = policy_number(scheduling.policy);
  // IDLE keeps the nice value that it ignores: lowering it could need a privilege.
  attributes.nice = has_nice(scheduling.policy) ? scheduling.nice : before.nice;
  attributes.priority =
      is_real_time(scheduling.policy) ? static_cast<std::uint32_t>(scheduling.priority) : 0U;
  attributes.runtime_ns = static_cast<std::uint64_t>(scheduling.slice_ns);
  if (scheduling.policy == SchedulingClass::deadline) {
    attributes.runtime_ns = static_cast<std::uint64_t>(scheduling.deadline_runtime_ns);
    attributes.deadline_ns = static_cast<std::uint64_t>(scheduling.deadline_deadline_ns);
    attributes.period_ns = static_cast<std::uint64_t>(scheduling.deadline_period_ns);
  }
  if (scheduling.uclamp_min) {
    attributes.flags |= flag_util_min;
    attributes.util_min = *scheduling.uclamp_min;
  }
  if (scheduling.uclamp_max) {
    attributes.flags |= flag_util_max;
    attributes.util_max = *scheduling.uclamp_max;
  }
  return attributes;
}

/// Whether the thread has a core-scheduling cookie. The kernel answers for whole cores only, so
/// where it knows no such thing (no SMT, not configured) the answer is no.
bool has_cookie(pid_t tid) {
  std::uint64_t cookie = 0;
  return prctl(pr_sched_core, pr_sched_core_get, tid, scope_thread, &cookie) == 0 && cookie != 0;
}

void make_cookie(pid_t tid) {
  if (prctl(pr_sched_core, pr_sched_core_create, tid, scope_thread, 0UL) == 0) {
    return;
  }
  const int error = errno;
  const std::string what = "core-scheduling cookie" + subject(tid);
  if (error == EINVAL) {
    throw not_possible(fmt::format("{}: kernel {} has no core scheduling", what, kernel_release()),
                       "use a kernel from 5.14 with CONFIG_SCHED_CORE=y");
  }
  if (error == ENODEV) {
    throw not_possible(what + ": this machine has no SMT, or it is off",
                       "leave the cookie out: no other thread can run on the same core");
  }
  throw system_error(what, error, ExitCode::not_possible);
}

/// Throws where the kernel took the call and did something else.
void check_read_back(const Scheduling& scheduling, pid_t tid, const Attributes& asked) {
  Attributes actual;
  if (const int error = get_attributes(tid, actual); error != 0) {
    throw system_error("read the scheduling back" + subject(tid), error);
  }
  const std::string what = fmt::format("scheduling {}{}", to_string(scheduling), subject(tid));
  if (scheduling.slice_ns != 0 && actual.runtime_ns != asked.runtime_ns) {
    throw not_possible(fmt::format("{}: kernel {} did not take the slice (it says {} ns)", what,
                                   kernel_release(), actual.runtime_ns),
                       "custom slices need a kernel from 6.12");
  }
  const bool deadline = scheduling.policy == SchedulingClass::deadline;
  const bool same = actual.policy == asked.policy && actual.priority == asked.priority &&
                    (!has_nice(scheduling.policy) || actual.nice == asked.nice) &&
                    (!deadline || (actual.runtime_ns == asked.runtime_ns &&
                                   actual.deadline_ns == asked.deadline_ns &&
                                   actual.period_ns == asked.period_ns)) &&
                    (!scheduling.uclamp_min || actual.util_min == asked.util_min) &&
                    (!scheduling.uclamp_max || actual.util_max == asked.util_max) &&
                    (!scheduling.core_cookie || has_cookie(tid));
  if (!same) {
    throw not_possible(
        fmt::format("{}: the kernel has it as {} instead", what, to_string(read_scheduling(tid))));
  }
}

/// The slice that threads have which nobody gave one; 0 where it cannot be told.
std::uint64_t usual_slice_ns() {
  Attributes init;
  return get_attributes(1, init) == 0 ? init.runtime_ns : 0;
}

void read_clamps(const Attributes& attributes, Scheduling& scheduling) {
  if (attributes.util_min == 0 && attributes.util_max == 0) {
    return;  // No clamps in this kernel.
  }
  const std::uint32_t usual_min = is_real_time(scheduling.policy) ? util_whole : 0;
  if (attributes.util_min != usual_min) {
    scheduling.uclamp_min = attributes.util_min;
  }
  if (attributes.util_max != util_whole) {
    scheduling.uclamp_max = attributes.util_max;
  }
}

}  // namespace

const char* kernel_name(SchedulingClass policy) {
  static constexpr const char* names[] = {"SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE",
                                          "SCHED_FIFO",  "SCHED_RR",    "SCHED_DEADLINE",
                                          "SCHED_EXT"};
  return names[static_cast<std::size_t>(policy)];
}

void apply_scheduling(const Scheduling& scheduling, pid_t tid) {
  Attributes before;
  if (const int error = get_attributes(tid, before); error != 0) {
    throw system_error("read the scheduling" + subject(tid), error);
  }
  Attributes asked = to_attributes(scheduling, before);
  if (syscall(SYS_sched_setattr, tid, &asked, 0U) != 0) {
    throw refusal(scheduling, tid, errno);
  }
  if (scheduling.core_cookie) {
    make_cookie(tid);
  }
  check_read_back(scheduling, tid, asked);
}

Scheduling read_scheduling(pid_t tid) {
  Attributes attributes;
  if (const int error = get_attributes(tid, attributes); error != 0) {
    throw system_error("read the scheduling" + subject(tid), error);
  }
  Scheduling scheduling;
  for (std::size_t policy = 0; policy < std::size(kernel_policies); ++policy) {
    if (kernel_policies[policy] == attributes.policy) {
      scheduling.policy = static_cast<SchedulingClass>(policy);
    }
  }
  if (has_nice(scheduling.policy)) {
    scheduling.nice = attributes.nice;
  }
  if (is_real_time(scheduling.policy)) {
    scheduling.priority = static_cast<int>(attributes.priority);
  }
  if (scheduling.policy == SchedulingClass::deadline) {
    scheduling.deadline_runtime_ns = static_cast<std::int64_t>(attributes.runtime_ns);
    scheduling.deadline_deadline_ns = static_cast<std::int64_t>(attributes.deadline_ns);
    scheduling.deadline_period_ns = static_cast<std::int64_t>(attributes.period_ns);
  } else if ((scheduling.policy == SchedulingClass::other ||
              scheduling.policy == SchedulingClass::batch) &&
             attributes.runtime_ns != usual_slice_ns()) {
    scheduling.slice_ns = static_cast<std::int64_t>(attributes.runtime_ns);
  }
  read_clamps(attributes, scheduling);
  scheduling.core_cookie = has_cookie(tid);
  return scheduling;
}

}  // namespace krepro
