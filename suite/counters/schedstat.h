// /proc/schedstat in the layouts of its versions 15, 16 and 17, with named columns. The version
// alone does not tell the layout: one development commit prints that of 17 and still says 16, so
// the columns are counted. What is not known is not interpreted. Reading the file, and when, is
// counter_reader.h's business.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/affinity/cpu_set.h"

namespace krepro {

/// Which columns the `domain` lines have, and in which order of the idle types.
enum class SchedstatLayout : std::uint8_t { unknown, v15, v16, v17 };

/// One `domainN` line.
struct SchedstatDomain {
  int cpu = 0;       ///< Under whose `cpuN` line it stands.
  int level = 0;     ///< N, counted from the smallest domain.
  std::string name;  ///< "SMT", "MC", ...; empty before version 17.
  CpuSet span;
  std::vector<std::uint64_t> values;
};

/// One `cpuN` line.
struct SchedstatCpu {
  int cpu = 0;
  std::vector<std::uint64_t> values;
};

struct Schedstat {
  int version = 0;
  SchedstatLayout layout = SchedstatLayout::unknown;
  std::vector<SchedstatCpu> cpus;
  std::vector<SchedstatDomain> domains;
  /// Why it cannot be interpreted, one line: "torn: ...", "version 18 is not known"; else empty.
  /// Where the lines could be split all the same, cpus and domains hold them without their meaning.
  std::string problem;
};

/// Names of the columns, in the file's order: of `cpuN` lines, and of `domainN` lines by layout
/// (none for unknown). "newidle_attempts" are calls of newidle balance, "newidle_pulled" the tasks
/// it moved. A column without a name is one that no kernel fills.
[[nodiscard]] const std::vector<std::string>& schedstat_cpu_columns();
[[nodiscard]] const std::vector<std::string>& schedstat_domain_columns(SchedstatLayout layout);

/// Never throws: the text may be anything.
[[nodiscard]] Schedstat parse_schedstat(std::string_view text);

/// What moved between two readings: {"version", "cpu": {NAME: n}, "domains": {"domain0-SMT":
/// {"cpus": "2", NAME: n}}}, summed over the CPUs and over the domains of a level, without zeros.
/// Domains are matched by CPU and span. Of a layout that is not known {"version", "columns": {...}}
/// with nameless sums, so that a later reader can make something of them. Null, with the reason in
/// `problem`, where a reading is torn, where CPUs went on- or offline or domains were rebuilt in
/// between.
[[nodiscard]] nlohmann::json schedstat_delta(const Schedstat& before, const Schedstat& after,
                                             std::string& problem);

}  // namespace krepro
