// What sysfs tells per CPU: caches and idle states.
#include <algorithm>
#include <string_view>

#include "common/base/kernel_text.h"
#include "suite/counters/system_counters.h"

namespace krepro {
namespace {

constexpr const char* cpu_folder = "/sys/devices/system/cpu";

/// Numbers of the folders cpu0, cpu1, ...: of offline CPUs too.
std::vector<int> cpu_numbers(const HostFiles& host) {
  std::vector<int> numbers;
  for (const std::string& name : host.list(cpu_folder)) {
    if (!name.starts_with("cpu")) continue;
    const auto number = number_in(std::string_view(name).substr(3));
    if (number) numbers.push_back(static_cast<int>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string folder_of(int cpu) { return std::string(cpu_folder) + "/cpu" + std::to_string(cpu); }

}  // namespace

std::map<int, std::string> last_level_caches(const HostFiles& host) {
  std::map<int, std::string> caches;
  for (const int cpu : cpu_numbers(host)) {
    std::int64_t highest = 0;
    const std::string folder = folder_of(cpu) + "/cache";
    for (const std::string& index : host.list(folder)) {
      const auto level = host.read_number(folder + "/" + index + "/level");
      if (!level || *level <= highest) continue;
      const auto shared = host.read_line(folder + "/" + index + "/shared_cpu_list");
      if (!shared || shared->empty()) continue;
      highest = *level;
      caches[cpu] = *shared;
    }
  }
  return caches;
}

std::vector<IdleState> find_idle_states(const HostFiles& host) {
  std::vector<IdleState> states;
  for (const int cpu : cpu_numbers(host)) {
    const std::string folder = folder_of(cpu) + "/cpuidle";
    for (const std::string& state : host.list(folder)) {
      if (!state.starts_with("state")) continue;
      const std::string place = folder + "/" + state;
      const auto name = host.read_line(place + "/name");
      if (name && !name->empty()) states.push_back({*name, place});
    }
  }
  return states;
}

CounterGroup read_idle_states(const HostFiles& host, const std::vector<IdleState>& states) {
  CounterGroup group;
  if (states.empty()) group.problem = "/sys/devices/system/cpu/cpu*/cpuidle: absent";
  for (const IdleState& state : states) {
    group.values[state.name + ".entries"] += host.read_number(state.folder + "/usage").value_or(0);
    // In microseconds there.
    group.values[state.name + ".time_ns"] +=
        host.read_number(state.folder + "/time").value_or(0) * 1000;
  }
  return group;
}

}  // namespace krepro
