// Reads a topology with hwloc into plain data. The only file that knows hwloc.
#include "suite/placement/machine.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "common/base/error.h"
#include "common/base/host_files.h"

namespace krepro {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

Topology make_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw not_possible("hwloc cannot be initialised");
  // CPUs outside the cpuset stay visible: caches and cores keep their numbers and sizes.
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return Topology(topology);
}

CpuSet to_cpu_set(hwloc_const_bitmap_t bitmap) {
  std::vector<int> cpus;
  if (bitmap == nullptr || hwloc_bitmap_weight(bitmap) < 0) return {};
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu)) {
    cpus.push_back(cpu);
  }
  return CpuSet(std::move(cpus));
}

std::vector<hwloc_obj_t> objects(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  hwloc_obj_t object = nullptr;
  while ((object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr) {
    found.push_back(object);
  }
  return found;
}

/// The outermost cache that a CPU's data goes through, as the kernel's scheduler domains see it;
/// nullptr where the topology tells of no cache.
hwloc_obj_t last_level_cache(hwloc_obj_t cpu) {
  hwloc_obj_t last = nullptr;
  for (hwloc_obj_t object = cpu->parent; object != nullptr; object = object->parent) {
    if (hwloc_obj_type_is_dcache(object->type) != 0) last = object;
  }
  return last;
}

void sort_by_lowest_cpu(std::vector<CpuSet>& sets) {
  std::sort(sets.begin(), sets.end(),
            [](const CpuSet& a, const CpuSet& b) { return a.cpus().front() < b.cpus().front(); });
}

std::vector<CpuSet> read_llcs(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> caches;
  for (hwloc_obj_t cpu : objects(topology, HWLOC_OBJ_PU)) {
    hwloc_obj_t cache = last_level_cache(cpu);
    if (cache == nullptr) continue;
    if (std::find(caches.begin(), caches.end(), cache) == caches.end()) caches.push_back(cache);
  }
  std::vector<CpuSet> sets;
  sets.reserve(caches.size());
  for (hwloc_obj_t cache : caches) sets.push_back(to_cpu_set(cache->cpuset));
  sort_by_lowest_cpu(sets);
  return sets;
}

std::vector<CpuSet> read_cores(hwloc_topology_t topology, const CpuSet& online) {
  std::vector<CpuSet> sets;
  CpuSet covered;
  for (hwloc_obj_t core : objects(topology, HWLOC_OBJ_CORE)) {
    sets.push_back(to_cpu_set(core->cpuset));
    covered = covered | sets.back();
  }
  const CpuSet without_core = online - covered;
  for (const int cpu : without_core.cpus()) sets.emplace_back(std::vector<int>{cpu});
  std::erase_if(sets, [](const CpuSet& set) { return set.empty(); });
  sort_by_lowest_cpu(sets);
  return sets;
}

std::vector<CpuGroup> read_groups(hwloc_topology_t topology, hwloc_obj_type_t type) {
  std::vector<CpuGroup> groups;
  for (hwloc_obj_t object : objects(topology, type)) {
    const unsigned number =
        object->os_index == HWLOC_UNKNOWN_INDEX ? object->logical_index : object->os_index;
    const CpuSet cpus = to_cpu_set(object->cpuset);
    if (!cpus.empty()) groups.push_back({static_cast<int>(number), cpus});
  }
  std::sort(groups.begin(), groups.end(),
            [](const CpuGroup& a, const CpuGroup& b) { return a.number < b.number; });
  return groups;
}

/// What groups cores below the last-level cache: caches of several cores, and the kernel's
/// clusters.
std::vector<CpuSet> read_clusters(hwloc_topology_t topology, const std::vector<CpuSet>& cores,
                                  const std::vector<CpuSet>& llcs) {
  std::vector<CpuSet> sets;
  const auto consider = [&](hwloc_obj_t object) {
    const CpuSet cpus = to_cpu_set(object->cpuset);
    const bool known = std::find(sets.begin(), sets.end(), cpus) != sets.end();
    const bool whole_core = std::find(cores.begin(), cores.end(), cpus) != cores.end();
    const bool within_llc = std::any_of(llcs.begin(), llcs.end(), [&](const CpuSet& llc) {
      return llc != cpus && (cpus - llc).empty();
    });
    if (!cpus.empty() && !known && !whole_core && within_llc) sets.push_back(cpus);
  };
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_GROUP}) {
    for (hwloc_obj_t object : objects(topology, type)) consider(object);
  }
  // Of nested ones the smallest: neighbours within it are the nearest.
  std::erase_if(sets, [&, all = sets](const CpuSet& set) {
    const bool part_of_core = std::any_of(cores.begin(), cores.end(),
                                          [&](const CpuSet& core) { return (set - core).empty(); });
    return part_of_core || std::any_of(all.begin(), all.end(), [&](const CpuSet& other) {
             return other != set && (other - set).empty();
           });
  });
  sort_by_lowest_cpu(sets);
  return sets;
}

std::vector<CpuSet> read_kinds(hwloc_topology_t topology) {
  std::vector<CpuSet> kinds;
  const int count = hwloc_cpukinds_get_nr(topology, 0);
  hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
  // hwloc ranks them by efficiency: the least capable first. Unranked ones tell nothing.
  for (int i = 0; count > 1 && i < count; ++i) {
    int efficiency = -1;
    if (hwloc_cpukinds_get_info(topology, static_cast<unsigned>(i), cpus, &efficiency, nullptr,
                                nullptr, 0) == 0 &&
        efficiency >= 0) {
      kinds.push_back(to_cpu_set(cpus));
    }
  }
  hwloc_bitmap_free(cpus);
  std::erase_if(kinds, [](const CpuSet& kind) { return kind.empty(); });
  return kinds.size() > 1 ? kinds : std::vector<CpuSet>();
}

std::string own_architecture() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "";
}

bool sysfs_tells_caches(const CpuSet& online) {
  const HostFiles& host = HostFiles::system();
  return std::any_of(online.cpus().begin(), online.cpus().end(), [&](int cpu) {
    return host.exists(fmt::format("/sys/devices/system/cpu/cpu{}/cache/index0", cpu));
  });
}

Machine convert(hwloc_topology_t topology) {
  Machine machine;
  machine.this_machine = hwloc_topology_is_thissystem(topology) != 0;
  machine.online = to_cpu_set(hwloc_topology_get_topology_cpuset(topology));
  machine.allowed = machine.online;
  machine.offline = to_cpu_set(hwloc_topology_get_complete_cpuset(topology)) - machine.online;
  machine.cores = read_cores(topology, machine.online);
  machine.llcs = read_llcs(topology);
  machine.clusters = read_clusters(topology, machine.cores, machine.llcs);
  machine.kinds = read_kinds(topology);
  machine.nodes = read_groups(topology, HWLOC_OBJ_NUMANODE);
  machine.packages = read_groups(topology, HWLOC_OBJ_PACKAGE);
  if (machine.this_machine) {
    machine.architecture = own_architecture();
    machine.llcs_by_cpuid = !machine.llcs.empty() && !sysfs_tells_caches(machine.online);
  } else if (const char* text =
                 hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "Architecture")) {
    machine.architecture = text;
  }
  return machine;
}

/// Some containers hide what is in it; hwloc ends the process over it.
bool has_empty_node_directory(const HostFiles& host) {
  constexpr const char* directory = "/sys/devices/system/node";
  const std::vector<std::string> names = host.list(directory);
  return host.exists(directory) &&
         std::none_of(names.begin(), names.end(),
                      [](const std::string& name) { return name.starts_with("node"); });
}

/// Without sysfs (some containers hide it) hwloc guesses from CPUID alone, and says so in its way.
bool read_from_sysfs(hwloc_topology_t topology) {
  const char* backend = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "Backend");
  return backend != nullptr && std::string_view(backend) == "Linux";
}

/// Keeps hwloc's own complaints off stderr while it loads: what matters of them is said by us.
class QuietHwloc {
 public:
  QuietHwloc() : was_set_(std::getenv(variable) != nullptr) { setenv(variable, "2", 0); }
  ~QuietHwloc() {
    if (!was_set_) unsetenv(variable);
  }
  QuietHwloc(const QuietHwloc&) = delete;
  QuietHwloc& operator=(const QuietHwloc&) = delete;

 private:
  static constexpr const char* variable = "HWLOC_HIDE_ERRORS";
  bool was_set_;
};

Machine load(const Topology& topology, const std::string& what) {
  const QuietHwloc quiet;
  if (hwloc_topology_load(topology.get()) != 0) {
    throw usage_error(fmt::format("{}: hwloc cannot load this topology", what));
  }
  return convert(topology.get());
}

}  // namespace

bool Machine::smt() const {
  return std::any_of(cores.begin(), cores.end(),
                     [](const CpuSet& core) { return core.size() > 1; });
}

Machine machine_without_topology(const CpuSet& cpus, const std::string& problem) {
  Machine machine;
  machine.online = cpus;
  machine.allowed = cpus;
  machine.architecture = own_architecture();
  machine.topology_problem = problem;
  return machine;
}

Machine read_machine() {
  const CpuSet allowed = CpuSet::allowed();
  if (has_empty_node_directory(HostFiles("/"))) {
    return machine_without_topology(allowed, "/sys/devices/system/node shows no node");
  }
  try {
    const Topology topology = make_topology();
    Machine machine = load(topology, "this machine");
    if (!machine.this_machine) return machine;
    const CpuSet unknown = allowed - machine.online;
    if (!read_from_sysfs(topology.get()) || !unknown.empty()) {
      return machine_without_topology(allowed, "/sys/devices/system/cpu does not show it");
    }
    machine.allowed = allowed;
    return machine;
  } catch (const Error& error) {
    return machine_without_topology(allowed, error.what());
  }
}

Machine read_machine_from_xml(const std::filesystem::path& path) {
  const Topology topology = make_topology();
  if (hwloc_topology_set_xml(topology.get(), path.c_str()) != 0) {
    throw usage_error(fmt::format("{}: not a topology in hwloc's XML", path.string()),
                      "lstopo FILE.xml writes one");
  }
  Machine machine = load(topology, path.string());
  machine.this_machine = false;
  return machine;
}

Machine read_machine_from_synthetic(const std::string& description) {
  const Topology topology = make_topology();
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0) {
    throw usage_error(fmt::format("\"{}\" is not a synthetic topology of hwloc", description));
  }
  Machine machine = load(topology, description);
  machine.this_machine = false;
  return machine;
}

void take_offline(Machine& machine, const CpuSet& cpus) {
  machine.offline = machine.offline | (machine.online & cpus);
  machine.online = machine.online - cpus;
  machine.allowed = machine.allowed - cpus;
  for (std::vector<CpuSet>* sets :
       {&machine.cores, &machine.llcs, &machine.clusters, &machine.kinds}) {
    for (CpuSet& set : *sets) set = set - cpus;
    std::erase_if(*sets, [](const CpuSet& set) { return set.empty(); });
  }
  // A cluster that is left with one core groups nothing.
  std::erase_if(machine.clusters, [&](const CpuSet& cluster) {
    return std::find(machine.cores.begin(), machine.cores.end(), cluster) != machine.cores.end();
  });
  for (std::vector<CpuSet>* sets : {&machine.cores, &machine.llcs, &machine.clusters}) {
    sort_by_lowest_cpu(*sets);
  }
  for (std::vector<CpuGroup>* groups : {&machine.nodes, &machine.packages}) {
    for (CpuGroup& group : *groups) group.cpus = group.cpus - cpus;
    std::erase_if(*groups, [](const CpuGroup& group) { return group.cpus.empty(); });
  }
}

std::string summary(const Machine& machine) {
  const auto count = [](std::size_t number, const char* noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
  };
  std::string text = count(machine.online.size(), "CPU");
  if (machine.allowed.size() != machine.online.size()) {
    text += fmt::format(" ({} allowed)", machine.allowed.size());
  }
  if (!machine.has_topology()) return text + ", topology unknown";
  text += machine.llcs.empty() ? ", LLCs unknown" : ", " + count(machine.llcs.size(), "LLC");
  if (machine.llcs_by_cpuid) text += " (by CPUID)";
  if (!machine.clusters.empty()) text += ", " + count(machine.clusters.size(), "cluster");
  if (!machine.kinds.empty()) text += ", " + count(machine.kinds.size(), "kind") + " of CPUs";
  if (machine.packages.size() > 1) text += ", " + count(machine.packages.size(), "package");
  if (machine.nodes.size() > 1) text += ", " + count(machine.nodes.size(), "NUMA node");
  return text + (machine.smt() ? ", SMT" : ", no SMT");
}

}  // namespace krepro
