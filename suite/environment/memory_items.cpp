// Items about memory: how much, huge pages, how it is laid out and written back.
#include <fmt/core.h>

#include <sstream>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

/// "16303916 kB" as bytes.
Finding memory_bytes(const HostFiles& host, const std::string& field) {
  Finding finding = field_of(host, "/proc/meminfo", field);
  if (!finding.value.is_string()) return finding;
  std::istringstream words(finding.value.get<std::string>());
  std::int64_t kibibytes = 0;
  if (words >> kibibytes) finding.value = kibibytes * 1024;
  return finding;
}

/// Free blocks of each size by node and zone: how fragmented memory is. "Node 0, zone Normal 1 2
/// 3".
Finding buddyinfo_item(const HostFiles& host) {
  const std::string path = "/proc/buddyinfo";
  const Finding text = line_of(host, path);
  if (!text.value.is_string()) return text;
  nlohmann::json zones = nlohmann::json::object();
  std::istringstream lines(text.value.get<std::string>());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string node_word;
    std::string node;
    std::string zone_word;
    std::string zone;
    if (!(words >> node_word >> node >> zone_word >> zone)) continue;
    while (node.ends_with(',')) node.pop_back();
    nlohmann::json counts = nlohmann::json::array();
    for (std::int64_t count = 0; words >> count;) counts.push_back(count);
    zones[fmt::format("node{} {}", node, zone)] = std::move(counts);
  }
  if (zones.empty()) return not_found("not in the known form", path);
  return found(std::move(zones), path);
}

/// {"2048kB": 0, "1048576kB": 0}
Finding huge_page_pools_item(const HostFiles& host) {
  const std::string directory = "/sys/kernel/mm/hugepages";
  nlohmann::json pools = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    const auto pages = host.read_number(directory + "/" + name + "/nr_hugepages");
    if (pages && name.starts_with("hugepages-")) pools[name.substr(10)] = *pages;
  }
  if (pools.empty()) return not_found("absent", directory);
  return found(std::move(pools), directory + "/*/nr_hugepages");
}

/// {"64kB": "never", "2048kB": "inherit"}: what each size of transparent huge pages is set to.
Finding thp_sizes_item(const HostFiles& host) {
  const std::string directory = "/sys/kernel/mm/transparent_hugepage";
  nlohmann::json sizes = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    if (!name.starts_with("hugepages-")) continue;
    const Finding chosen = chosen_of(host, directory + "/" + name + "/enabled");
    if (!chosen.value.is_null()) sizes[name.substr(10)] = chosen.value;
  }
  if (sizes.empty()) return not_found("absent", directory + "/hugepages-*/enabled");
  return found(std::move(sizes), directory + "/hugepages-*/enabled");
}

Finding writeback_item(const HostFiles& host) {
  nlohmann::json values = nlohmann::json::object();
  const std::string directory = "/proc/sys/vm/";
  for (const char* name :
       {"dirty_ratio", "dirty_bytes", "dirty_background_ratio", "dirty_background_bytes",
        "dirty_expire_centisecs", "dirty_writeback_centisecs", "dirtytime_expire_seconds"}) {
    if (const auto number = host.read_number(directory + name)) values[name] = *number;
  }
  if (values.empty()) return not_found("absent", directory + "dirty_*");
  return found(std::move(values), directory + "dirty_*");
}

/// The devices in use, without their names' paths: {"zram0": "partition 512 kB"}.
Finding swaps_item(const HostFiles& host) {
  const std::string path = "/proc/swaps";
  const Finding text = line_of(host, path);
  if (!text.value.is_string()) return text;
  nlohmann::json devices = nlohmann::json::object();
  std::istringstream lines(text.value.get<std::string>());
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::string type;
    std::int64_t size = 0;
    std::int64_t used = 0;
    if (!(words >> name >> type >> size >> used)) continue;
    devices[name] = {{"type", type}, {"size_bytes", size * 1024}};
  }
  return found(std::move(devices), path);
}

Finding swap_used_item(const HostFiles& host) {
  const Finding total = memory_bytes(host, "SwapTotal");
  const Finding left = memory_bytes(host, "SwapFree");
  if (!total.value.is_number() || !left.value.is_number()) return total;
  return found(total.value.get<std::int64_t>() - left.value.get<std::int64_t>(), total.source);
}

}  // namespace

std::vector<EnvironmentItem> memory_items() {
  using Host = const HostFiles&;
  return {
      {"memory.total_bytes", [](Host host) { return memory_bytes(host, "MemTotal"); }},
      {"memory.available_bytes", [](Host host) { return memory_bytes(host, "MemAvailable"); },
       true},
      {"memory.dirty_bytes", [](Host host) { return memory_bytes(host, "Dirty"); }, true},
      {"memory.swap_total_bytes", [](Host host) { return memory_bytes(host, "SwapTotal"); }},
      {"memory.swap_used_bytes", swap_used_item, true},
      {"memory.swaps", swaps_item},
      {"memory.swappiness", [](Host host) { return number_of(host, "/proc/sys/vm/swappiness"); }},
      {"memory.overcommit",
       [](Host host) { return number_of(host, "/proc/sys/vm/overcommit_memory"); }},
      {"memory.zone_reclaim_mode",
       [](Host host) { return number_of(host, "/proc/sys/vm/zone_reclaim_mode"); }},
      {"memory.huge_pages", [](Host host) { return number_of(host, "/proc/sys/vm/nr_hugepages"); }},
      {"memory.huge_page_pools", huge_page_pools_item},
      {"memory.thp",
       [](Host host) { return chosen_of(host, "/sys/kernel/mm/transparent_hugepage/enabled"); }},
      {"memory.thp_defrag",
       [](Host host) { return chosen_of(host, "/sys/kernel/mm/transparent_hugepage/defrag"); }},
      {"memory.thp_shmem",
       [](Host host) {
         return chosen_of(host, "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
       }},
      {"memory.thp_sizes", thp_sizes_item},
      {"memory.khugepaged",
       [](Host host) {
         return number_of(host, "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag");
       }},
      {"memory.ksm", [](Host host) { return number_of(host, "/sys/kernel/mm/ksm/run"); }},
      {"memory.page_shuffle",
       [](Host host) { return line_of(host, "/sys/module/page_alloc/parameters/shuffle"); }},
      {"memory.writeback", writeback_item},
      {"memory.fragmentation", buddyinfo_item, true},
  };
}

}  // namespace krepro
