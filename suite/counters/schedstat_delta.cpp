// What moved between two readings of /proc/schedstat.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "suite/counters/schedstat.h"

namespace krepro {
namespace {

using nlohmann::json;

constexpr std::uint64_t wrap_32 = std::uint64_t{1} << 32U;

/// Most columns are 32 bits wide in the kernel and wrap. A column that went back by more than a
/// wrap explains was reset, and the domains with it.
std::optional<std::uint64_t> moved(std::uint64_t before, std::uint64_t after) {
  if (after >= before) return after - before;
  if (before >= wrap_32) return std::nullopt;
  const std::uint64_t difference = after + wrap_32 - before;
  if (difference >= wrap_32 / 2) return std::nullopt;
  return difference;
}

/// Adds the difference of two lines to `sums`; false where a column was reset.
bool add_moved(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after,
               std::vector<std::uint64_t>& sums) {
  if (before.size() != after.size()) return false;
  sums.resize(std::max(sums.size(), after.size()), 0);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto difference = moved(before[i], after[i]);
    if (!difference) return false;
    sums[i] += *difference;
  }
  return true;
}

/// All domains of one level, summed.
struct Level {
  std::size_t least_cpus = 0;
  std::size_t most_cpus = 0;
  std::vector<std::uint64_t> sums;
};

using DomainKey = std::pair<int, std::string>;  // CPU and span

std::map<DomainKey, const SchedstatDomain*> by_cpu_and_span(const Schedstat& reading) {
  std::map<DomainKey, const SchedstatDomain*> domains;
  for (const SchedstatDomain& domain : reading.domains) {
    domains[{domain.cpu, domain.span.to_string()}] = &domain;
  }
  return domains;
}

std::set<int> cpus_of(const Schedstat& reading) {
  std::set<int> cpus;
  for (const SchedstatCpu& cpu : reading.cpus) cpus.insert(cpu.cpu);
  return cpus;
}

std::string level_name(const SchedstatDomain& domain) {
  return domain.name.empty() ? fmt::format("domain{}", domain.level)
                             : fmt::format("domain{}-{}", domain.level, domain.name);
}

json named(const std::vector<std::uint64_t>& sums, const std::vector<std::string>& names) {
  json result = json::object();
  for (std::size_t i = 0; i < sums.size() && i < names.size(); ++i) {
    if (sums[i] != 0 && !names[i].empty()) result[names[i]] = sums[i];
  }
  return result;
}

bool sum_cpus(const Schedstat& before, const Schedstat& after, std::vector<std::uint64_t>& sums) {
  std::map<int, const SchedstatCpu*> earlier;
  for (const SchedstatCpu& cpu : before.cpus) earlier[cpu.cpu] = &cpu;
  for (const SchedstatCpu& cpu : after.cpus) {
    if (!add_moved(earlier.at(cpu.cpu)->values, cpu.values, sums)) return false;
  }
  return true;
}

bool sum_levels(const Schedstat& before, const Schedstat& after,
                std::map<std::string, Level>& levels) {
  const auto earlier = by_cpu_and_span(before);
  const auto later = by_cpu_and_span(after);
  if (earlier.size() != later.size()) return false;
  for (const auto& [key, domain] : later) {
    const auto match = earlier.find(key);
    if (match == earlier.end()) return false;
    Level& level = levels[level_name(*domain)];
    const std::size_t size = domain->span.size();
    level.least_cpus = level.sums.empty() ? size : std::min(level.least_cpus, size);
    level.most_cpus = std::max(level.most_cpus, size);
    if (!add_moved(match->second->values, domain->values, level.sums)) return false;
  }
  return true;
}

json levels_json(const std::map<std::string, Level>& levels,
                 const std::vector<std::string>& names) {
  json result = json::object();
  for (const auto& [name, level] : levels) {
    json entry = named(level.sums, names);
    entry["cpus"] = level.least_cpus == level.most_cpus
                        ? fmt::format("{}", level.most_cpus)
                        : fmt::format("{}-{}", level.least_cpus, level.most_cpus);
    result[name] = std::move(entry);
  }
  return result;
}

/// Sums without names, by line and column.
json columns_json(const std::vector<std::uint64_t>& cpus,
                  const std::map<std::string, Level>& levels) {
  json columns = {{"cpu", cpus}};
  for (const auto& [name, level] : levels) columns[name] = level.sums;
  return columns;
}

}  // namespace

json schedstat_delta(const Schedstat& before, const Schedstat& after, std::string& problem) {
  const bool readable = !before.cpus.empty() && !after.cpus.empty();
  problem = before.problem.empty() ? after.problem : before.problem;
  if (!readable) return nullptr;
  if (cpus_of(before) != cpus_of(after)) {
    problem = "CPUs went on- or offline during the trial";
    return nullptr;
  }
  std::vector<std::uint64_t> cpu_sums;
  std::map<std::string, Level> levels;
  if (before.version != after.version || before.layout != after.layout ||
      !sum_cpus(before, after, cpu_sums) || !sum_levels(before, after, levels)) {
    problem = "the scheduler's domains were rebuilt during the trial";
    return nullptr;
  }
  if (!problem.empty()) {
    return {{"version", after.version}, {"columns", columns_json(cpu_sums, levels)}};
  }
  json cpu = named(cpu_sums, schedstat_cpu_columns());
  // What was not local: woken from another CPU.
  const std::int64_t remote =
      cpu.value("wakeups", std::int64_t{0}) - cpu.value("wakeups_local", std::int64_t{0});
  if (remote > 0) cpu["wakeups_remote"] = remote;
  json result = {{"version", after.version},
                 {"cpu", std::move(cpu)},
                 {"domains", levels_json(levels, schedstat_domain_columns(after.layout))}};
  if (after.version != 17 && after.layout == SchedstatLayout::v17) result["layout"] = 17;
  return result;
}

}  // namespace krepro
