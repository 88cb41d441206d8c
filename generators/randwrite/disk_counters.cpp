// Lines of /proc/diskstats: MAJOR MINOR NAME and up to 17 numbers.
#include "generators/randwrite/disk_counters.h"

#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

namespace krepro::randwrite {

std::optional<DiskCounters> read_disk_counters(DeviceNumber number, const HostFiles& host) {
  constexpr std::uint64_t sector_bytes = 512;
  std::istringstream lines(host.read("/proc/diskstats").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    DeviceNumber found;
    DiskCounters counters;
    if (!(words >> found.major >> found.minor >> counters.name) || found != number) continue;
    std::array<std::uint64_t, 17> values{};
    for (std::uint64_t& value : values) {
      if (!(words >> value)) break;
    }
    counters.reads = values[0];
    counters.reads_merged = values[1];
    counters.read_bytes = values[2] * sector_bytes;
    counters.read_ms = values[3];
    counters.writes = values[4];
    counters.writes_merged = values[5];
    counters.written_bytes = values[6] * sector_bytes;
    counters.write_ms = values[7];
    counters.busy_ms = values[9];
    counters.queue_ms = values[10];
    counters.flushes = values[15];
    return counters;
  }
  return std::nullopt;
}

DiskCounters difference(const DiskCounters& after, const DiskCounters& before) {
  DiskCounters result = after;
  result.reads -= before.reads;
  result.reads_merged -= before.reads_merged;
  result.read_bytes -= before.read_bytes;
  result.read_ms -= before.read_ms;
  result.writes -= before.writes;
  result.writes_merged -= before.writes_merged;
  result.written_bytes -= before.written_bytes;
  result.write_ms -= before.write_ms;
  result.busy_ms -= before.busy_ms;
  result.queue_ms -= before.queue_ms;
  result.flushes -= before.flushes;
  return result;
}

void to_json(nlohmann::json& json, const DiskCounters& counters) {
  json = {{"name", counters.name},
          {"reads", counters.reads},
          {"reads_merged", counters.reads_merged},
          {"read_bytes", counters.read_bytes},
          {"read_ms", counters.read_ms},
          {"writes", counters.writes},
          {"writes_merged", counters.writes_merged},
          {"written_bytes", counters.written_bytes},
          {"write_ms", counters.write_ms},
          {"busy_ms", counters.busy_ms},
          {"queue_ms", counters.queue_ms},
          {"flushes", counters.flushes}};
}

}  // namespace krepro::randwrite
