// The result in the shape of fio's, for readers and scripts that know it. Only text is made here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/timing/histogram.h"
#include "generators/randwrite/disk_counters.h"
#include "generators/randwrite/job_result.h"

namespace krepro::randwrite {

/// Figures of one job, or of several that are reported together.
struct JobReport {
  std::string name;
  unsigned jobs = 1;
  int error_number = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t syncs = 0;
  std::uint64_t short_transfers = 0;
  std::int64_t shortest_ns = 0;  ///< Of the jobs' durations.
  std::int64_t longest_ns = 0;
  double slowest_read = 0;  ///< Bytes/s of the slowest and fastest job.
  double fastest_read = 0;
  double slowest_write = 0;
  double fastest_write = 0;
  Histogram read_latency;
  Histogram write_latency;
  Histogram sync_latency;
  ThreadUsage usage;

  void add(const JobResult& result);
};

/// fio's way of printing a number: at most four characters, and a unit: "12.3M", "1024K", "9500".
/// `base` 1000 or 1024.
[[nodiscard]] std::string fio_number(double value, unsigned base);
/// "1024KiB" or "1049kB"
[[nodiscard]] std::string fio_bytes(double value, unsigned base);
/// "478MiB/s (501MB/s)"
[[nodiscard]] std::string fio_bandwidth(double bytes_per_second);

/// The block of one report: "benchmark: (groupid=0, jobs=4): err= 0 ..." and what follows.
[[nodiscard]] std::string job_lines(const JobReport& report);
/// "Run status group 0 (all jobs):" and the READ and WRITE lines.
[[nodiscard]] std::string status_lines(const JobReport& all);
/// "Disk stats (read/write):" and a line for each.
[[nodiscard]] std::string disk_lines(const std::vector<DiskCounters>& disks,
                                     std::int64_t duration_ns);

}  // namespace krepro::randwrite
