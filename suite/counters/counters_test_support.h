// A made-up machine like an EPYC 7R32: 96 CPUs, CPU n and n+48 share a core, 12 last-level caches
// of 4 cores ({0-3,48-51}, {4-7,52-55}, ...); its /proc/schedstat in any version, and a tree of
// files that stands for it. For tests only.
#pragma once

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/base/host_files.h"

namespace krepro::test {

inline constexpr int made_up_cpus = 96;

inline CpuSet core_of(int cpu) { return CpuSet({cpu % 48, cpu % 48 + 48}); }

inline CpuSet cache_of(int cpu) {
  std::vector<int> cpus;
  const int first = cpu % 48 / 4 * 4;
  for (int i = 0; i < 4; ++i) {
    cpus.push_back(first + i);
    cpus.push_back(first + i + 48);
  }
  return CpuSet(cpus);
}

inline CpuSet all_cpus() {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < made_up_cpus; ++cpu) cpus.push_back(cpu);
  return CpuSet(cpus);
}

/// As the kernel prints a mask of 96 bits: three groups of 32, the highest first.
inline std::string mask_of(const CpuSet& cpus) {
  std::vector<std::uint32_t> words(3, 0);
  for (const int cpu : cpus.cpus()) {
    words[static_cast<std::size_t>(cpu / 32)] |= std::uint32_t{1}
                                                 << static_cast<unsigned>(cpu % 32);
  }
  return fmt::format("{:08x},{:08x},{:08x}", words[2], words[1], words[0]);
}

/// The value of a column: of a `cpu` line with level -1, else of its domain `level`.
using ColumnValue = std::function<std::uint64_t(int cpu, int level, std::size_t column)>;

struct SchedstatShape {
  int version = 17;          ///< As printed.
  std::size_t columns = 45;  ///< Of a domain line, behind the mask.
  bool named = true;         ///< Domains have names.
  std::size_t cpu_columns = 9;
  int cpus = made_up_cpus;  ///< Those from here on are offline.
};

inline SchedstatShape shape_of_version(int version) {
  SchedstatShape shape;
  shape.version = version;
  if (version < 17) {
    shape.columns = 36;
    shape.named = false;
  }
  return shape;
}

inline std::string schedstat_text(const SchedstatShape& shape, const ColumnValue& value) {
  std::string text = fmt::format("version {}\ntimestamp 4295000000\n", shape.version);
  const std::vector<std::pair<const char*, std::function<CpuSet(int)>>> levels = {
      {"SMT", core_of}, {"MC", cache_of}, {"PKG", [](int) { return all_cpus(); }}};
  for (int cpu = 0; cpu < shape.cpus; ++cpu) {
    text += fmt::format("cpu{}", cpu);
    for (std::size_t c = 0; c < shape.cpu_columns; ++c) {
      text += fmt::format(" {}", value(cpu, -1, c));
    }
    text += "\n";
    for (int level = 0; level < 3; ++level) {
      const auto& [name, span] = levels[static_cast<std::size_t>(level)];
      text += fmt::format("domain{}{}{} {}", level, shape.named ? " " : "", shape.named ? name : "",
                          mask_of(span(cpu)));
      for (std::size_t c = 0; c < shape.columns; ++c) {
        text += fmt::format(" {}", value(cpu, level, c));
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace krepro::test
