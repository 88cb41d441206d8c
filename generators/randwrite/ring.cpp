// Set-up of a ring, with the flags that fio takes where the kernel knows them, and the diagnosis of
// a refusal.
#include "generators/randwrite/ring.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "generators/randwrite/job_runner.h"

namespace krepro::randwrite {

namespace {

/// A filter of system calls is at work on this process.
bool has_seccomp_filter(const HostFiles& host) {
  std::istringstream lines(host.read("/proc/self/status").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
  }
  return false;
}

constexpr const char* filter_remedy =
    "run it where the filter allows io_uring_setup, io_uring_enter and io_uring_register (podman "
    "and "
    "docker: --security-opt seccomp=unconfined), or take another ioengine";

Error refused_by_permission(const HostFiles& host) {
  const std::int64_t disabled = host.read_number("/proc/sys/kernel/io_uring_disabled").value_or(0);
  if (disabled == 2) {
    return not_possible("io_uring is switched off: kernel.io_uring_disabled is 2",
                        "sysctl kernel.io_uring_disabled=0, or take another ioengine");
  }
  if (disabled == 1) {
    return not_possible(
        fmt::format("io_uring is for privileged users only: kernel.io_uring_disabled is 1, and the "
                    "user is not in kernel.io_uring_group ({})",
                    host.read_line("/proc/sys/kernel/io_uring_group").value_or("none")),
        "run it as root, join that group, or sysctl kernel.io_uring_disabled=0");
  }
  if (has_seccomp_filter(host)) {
    return not_possible("io_uring is blocked by a seccomp filter (kernel.io_uring_disabled is 0)",
                        filter_remedy);
  }
  return not_possible(
      "io_uring is refused, though kernel.io_uring_disabled is 0 and there is no seccomp filter: a "
      "security module forbids it",
      "look into the kernel log for its message, or take another ioengine");
}

Error out_of_memory(const std::string& what, const HostFiles& host) {
  static_cast<void>(host);
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string value = limit.rlim_cur == RLIM_INFINITY
                                ? "unlimited"
                                : format_bytes(static_cast<double>(limit.rlim_cur));
  return not_possible(
      fmt::format("io_uring: {}: no memory may be locked: RLIMIT_MEMLOCK is {} for all of the "
                  "user's rings together",
                  what, value),
      "raise it (ulimit -l unlimited; LimitMEMLOCK= of a service), or lower iodepth or numjobs");
}

Error diagnosis(int error_number, const std::string& what, const HostFiles& host) {
  switch (error_number) {
    case EPERM:
    case EACCES:
      return refused_by_permission(host);
    case ENOSYS:
      if (has_seccomp_filter(host)) {
        return not_possible(
            "io_uring is not there: a seccomp filter hides it, or the kernel lacks CONFIG_IO_URING",
            filter_remedy);
      }
      return not_possible("this kernel has no io_uring (CONFIG_IO_URING)", "take another ioengine");
    case ENOMEM:
      return out_of_memory(what, host);
    default:
      return not_possible(fmt::format("io_uring: {}: {}", what, std::strerror(error_number)),
                          "take another ioengine");
  }
}

}  // namespace

Ring::Ring(const RingSettings& settings, const HostFiles& host) {
  io_uring_params parameters{};
  parameters.flags = IORING_SETUP_CQSIZE | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER |
                     IORING_SETUP_DEFER_TASKRUN;
  if (settings.polling_thread) {
    parameters.flags |= IORING_SETUP_SQPOLL;
    if (settings.polling_cpu >= 0) {
      parameters.flags |= IORING_SETUP_SQ_AFF;
      parameters.sq_thread_cpu = static_cast<unsigned>(settings.polling_cpu);
    }
  }
  parameters.cq_entries = settings.depth;
  // Older kernels know fewer flags, and some exclude each other: the newest are given up first.
  constexpr unsigned given_up_in_turn[] = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                                           IORING_SETUP_COOP_TASKRUN, IORING_SETUP_CQSIZE};
  int result = 0;
  for (std::size_t attempt = 0;; ++attempt) {
    io_uring_params tried = parameters;
    result = io_uring_queue_init_params(settings.depth, &ring_, &tried);
    if (result != -EINVAL || attempt == std::size(given_up_in_turn)) break;
    parameters.flags &= ~given_up_in_turn[attempt];
  }
  if (result < 0) throw diagnosis(-result, fmt::format("a ring of {}", settings.depth), host);
}

Ring::~Ring() { io_uring_queue_exit(&ring_); }

bool Ring::has_plain_requests() {
  io_uring_probe* probe = io_uring_get_probe_ring(&ring_);
  if (probe == nullptr) return false;
  const bool has = io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                   io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0;
  io_uring_free_probe(probe);
  return has;
}

void Ring::register_buffers(std::byte* first, std::size_t block_bytes, std::size_t count,
                            const HostFiles& host) {
  std::vector<iovec> parts(count);
  for (std::size_t i = 0; i < count; ++i) parts[i] = {first + i * block_bytes, block_bytes};
  const int result =
      io_uring_register_buffers(&ring_, parts.data(), static_cast<unsigned>(parts.size()));
  if (result < 0) throw diagnosis(-result, "registered buffers (fixedbufs)", host);
}

void Ring::register_file(int fd) {
  const int result = file_registered_ ? io_uring_register_files_update(&ring_, 0, &fd, 1)
                                      : io_uring_register_files(&ring_, &fd, 1);
  if (result < 0) {
    throw not_possible(fmt::format("io_uring: registered file: {}", std::strerror(-result)),
                       "leave out registerfiles");
  }
  file_registered_ = true;
}

bool Ring::overflowed() const { return *ring_.cq.koverflow != 0; }

void require_io_uring(const JobSettings& job, const HostFiles& host) {
  const Ring probe(job.ring, host);
}

}  // namespace krepro::randwrite
