// CPU time of a thread, and forgetting the ramp.
#include "generators/randwrite/job_result.h"

namespace krepro::randwrite {

namespace {

std::int64_t nanoseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_usec * 1000;
}

}  // namespace

ThreadUsage ThreadUsage::now() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {nanoseconds(usage.ru_utime),
          nanoseconds(usage.ru_stime),
          usage.ru_nvcsw,
          usage.ru_nivcsw,
          usage.ru_minflt,
          usage.ru_majflt};
}

ThreadUsage& ThreadUsage::operator-=(const ThreadUsage& other) {
  user_ns -= other.user_ns;
  system_ns -= other.system_ns;
  voluntary_switches -= other.voluntary_switches;
  involuntary_switches -= other.involuntary_switches;
  minor_faults -= other.minor_faults;
  major_faults -= other.major_faults;
  return *this;
}

ThreadUsage& ThreadUsage::operator+=(const ThreadUsage& other) {
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  voluntary_switches += other.voluntary_switches;
  involuntary_switches += other.involuntary_switches;
  minor_faults += other.minor_faults;
  major_faults += other.major_faults;
  return *this;
}

void JobResult::clear_figures() {
  read.clear();
  write.clear();
  sync.clear();
  service.clear();
  reads = writes = bytes_read = bytes_written = syncs = 0;
  short_transfers = retries = passes = 0;
  series.fill(0);
}

}  // namespace krepro::randwrite
