// The text of fio's lines, number by number.
#include "generators/randwrite/fio_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace krepro::randwrite {

namespace {

double per_second(std::uint64_t count, std::int64_t duration_ns) {
  return duration_ns <= 0 ? 0 : static_cast<double>(count) * 1e9 / static_cast<double>(duration_ns);
}

std::int64_t milliseconds(std::int64_t nanoseconds) { return (nanoseconds + 999'999) / 1'000'000; }

/// The unit that fio would take for latencies from `low` to `high`.
struct LatencyUnit {
  const char* name;
  double nanoseconds;
};
LatencyUnit unit_for(const Histogram& latency) {
  const double low = static_cast<double>(latency.min());
  const double high = static_cast<double>(latency.max());
  if (low > 2e6 && high > 99'999e3) return {"msec", 1e6};
  if (low > 2e3 && high > 99'999) return {"usec", 1e3};
  return {"nsec", 1};
}

double deviation_of(const Histogram& latency) {
  if (latency.count() < 2) return 0;
  const double mean = latency.mean();
  double sum = 0;
  for (std::size_t i = 0; i < Histogram::bucket_count; ++i) {
    if (latency.bucket(i) == 0) continue;
    const double middle = (static_cast<double>(Histogram::bucket_low(i)) +
                           static_cast<double>(Histogram::bucket_low(i + 1)) - 1) /
                          2;
    sum += static_cast<double>(latency.bucket(i)) * (middle - mean) * (middle - mean);
  }
  return std::sqrt(sum / static_cast<double>(latency.count() - 1));
}

std::string summary_of(const char* indent, const char* title, const Histogram& latency) {
  const LatencyUnit unit = unit_for(latency);
  return fmt::format("{}{} ({}): min={:.0f}, max={:.0f}, avg={:.2f}, stdev={:.2f}\n", indent, title,
                     unit.name, std::floor(static_cast<double>(latency.min()) / unit.nanoseconds),
                     std::floor(static_cast<double>(latency.max()) / unit.nanoseconds),
                     latency.mean() / unit.nanoseconds, deviation_of(latency) / unit.nanoseconds);
}

std::string percentiles_of(const char* indent, const char* title, const Histogram& latency) {
  constexpr std::array<double, 17> shares{1,  5,  10, 20, 30,   40,   50,    60,   70,
                                          80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
  const LatencyUnit unit = unit_for(latency);
  const auto shown = [&](double share) {
    return std::floor(static_cast<double>(latency.percentile(share / 100)) / unit.nanoseconds);
  };
  const std::size_t width = std::max<std::size_t>(2, fmt::format("{:.0f}", shown(99.99)).size());
  std::string out = fmt::format("{}{} percentiles ({}):\n", indent, title, unit.name);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (i % 4 == 0) out += fmt::format("{} | ", indent);
    out += fmt::format("{:5.2f}th=[{:>{}.0f}]{}", shares[i], shown(shares[i]), width,
                       i + 1 == shares.size() ? "\n"
                       : i % 4 == 3           ? ",\n"
                                              : ", ");
  }
  return out;
}

std::string direction_lines(const char* name, std::uint64_t operations, std::uint64_t bytes,
                            std::int64_t duration_ns, const Histogram& latency) {
  if (operations == 0) return {};
  return fmt::format("  {}: IOPS={}, BW={}({}/{}msec)\n", name,
                     fio_number(per_second(operations, duration_ns), 1000),
                     fio_bandwidth(per_second(bytes, duration_ns)),
                     fio_bytes(static_cast<double>(bytes), 1024), milliseconds(duration_ns)) +
         summary_of("    ", "clat", latency) + percentiles_of("    ", "clat", latency);
}

std::string status_line(const char* name, std::uint64_t bytes, double slowest, double fastest,
                        const JobReport& all) {
  if (bytes == 0) return {};
  const auto amount = static_cast<double>(bytes);
  return fmt::format("  {:>5}: bw={}, {}/s-{}/s ({}/s-{}/s), io={} ({}), run={}-{}msec\n", name,
                     fio_bandwidth(per_second(bytes, all.longest_ns)), fio_bytes(slowest, 1024),
                     fio_bytes(fastest, 1024), fio_bytes(slowest, 1000), fio_bytes(fastest, 1000),
                     fio_bytes(amount, 1024), fio_bytes(amount, 1000),
                     milliseconds(all.shortest_ns), milliseconds(all.longest_ns));
}

void widen(double& slowest, double& fastest, double value, bool first) {
  slowest = first ? value : std::min(slowest, value);
  fastest = std::max(fastest, value);
}

}  // namespace

void JobReport::add(const JobResult& result) {
  const bool first = longest_ns == 0;
  const std::int64_t duration_ns = result.duration_ns();
  widen(slowest_read, fastest_read, per_second(result.bytes_read, duration_ns), first);
  widen(slowest_write, fastest_write, per_second(result.bytes_written, duration_ns), first);
  shortest_ns = first ? duration_ns : std::min(shortest_ns, duration_ns);
  longest_ns = std::max(longest_ns, duration_ns);
  reads += result.reads;
  writes += result.writes;
  bytes_read += result.bytes_read;
  bytes_written += result.bytes_written;
  syncs += result.syncs;
  short_transfers += result.short_transfers;
  read_latency.merge(result.read);
  write_latency.merge(result.write);
  sync_latency.merge(result.sync);
  usage += result.usage;
  if (error_number == 0) error_number = result.failure.error_number;
}

std::string fio_number(double value, unsigned base) {
  constexpr std::array<const char*, 7> small{"", "k", "M", "G", "T", "P", "E"};
  constexpr std::array<const char*, 7> binary{"", "K", "M", "G", "T", "P", "E"};
  constexpr double four_digits = 9999.5;
  std::size_t prefix = 0;
  while (value >= four_digits && prefix + 1 < small.size()) {
    value /= base;
    ++prefix;
  }
  const int decimals = prefix == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}", value, decimals, base == 1024 ? binary[prefix] : small[prefix]);
}

std::string fio_bytes(double value, unsigned base) {
  const std::string number = fio_number(value, base);
  const bool prefixed = number.find_first_not_of("0123456789.") != std::string::npos;
  return number + (base == 1024 && prefixed ? "iB" : "B");
}

std::string fio_bandwidth(double bytes_per_second) {
  return fmt::format("{}/s ({}/s)", fio_bytes(bytes_per_second, 1024),
                     fio_bytes(bytes_per_second, 1000));
}

std::string job_lines(const JobReport& report) {
  const double duration_ns =
      static_cast<double>(std::max<std::int64_t>(1, report.longest_ns)) * report.jobs;
  std::string out = fmt::format(
      "{}: (groupid=0, jobs={}): err={:2}{}\n", report.name, report.jobs, report.error_number,
      report.error_number == 0 ? std::string()
                               : fmt::format(" ({})", std::strerror(report.error_number)));
  out += direction_lines("read", report.reads, report.bytes_read, report.longest_ns,
                         report.read_latency);
  out += direction_lines("write", report.writes, report.bytes_written, report.longest_ns,
                         report.write_latency);
  if (report.syncs > 0) {
    out += "  fsync/fdatasync/sync_file_range:\n" +
           summary_of("    ", "sync", report.sync_latency) +
           percentiles_of("    ", "sync", report.sync_latency);
  }
  out += fmt::format("  cpu          : usr={:.2f}%, sys={:.2f}%, ctx={}, majf={}, minf={}\n",
                     static_cast<double>(report.usage.user_ns) * 100 / duration_ns,
                     static_cast<double>(report.usage.system_ns) * 100 / duration_ns,
                     report.usage.voluntary_switches + report.usage.involuntary_switches,
                     report.usage.major_faults, report.usage.minor_faults);
  out += fmt::format("     issued rwts: total={},{},0,{} short={},0,0,0 dropped=0,0,0,0\n",
                     report.reads, report.writes, report.syncs, report.short_transfers);
  return out;
}

std::string status_lines(const JobReport& all) {
  return "\nRun status group 0 (all jobs):\n" +
         status_line("READ", all.bytes_read, all.slowest_read, all.fastest_read, all) +
         status_line("WRITE", all.bytes_written, all.slowest_write, all.fastest_write, all);
}

std::string disk_lines(const std::vector<DiskCounters>& disks, std::int64_t duration_ns) {
  if (disks.empty()) return {};
  std::string out = "\nDisk stats (read/write):\n";
  for (const DiskCounters& disk : disks) {
    const double busy = static_cast<double>(disk.busy_ms) * 1e8 /
                        static_cast<double>(std::max<std::int64_t>(1, duration_ns));
    out += fmt::format("  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2f}%\n",
                       disk.name, disk.reads, disk.writes, disk.reads_merged, disk.writes_merged,
                       disk.read_ms, disk.write_ms, disk.queue_ms, std::min(busy, 100.0));
  }
  return out;
}

}  // namespace krepro::randwrite
