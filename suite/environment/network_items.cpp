// Items about the network stack and interrupts: settings that move work between CPUs.
#include <fmt/core.h>

#include <map>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

constexpr const char* interfaces_directory = "/sys/class/net";
constexpr std::size_t most_interfaces = 16;
constexpr std::size_t most_queues = 64;
constexpr std::size_t most_interrupts = 512;

/// "00000000,0000000f" has a CPU in it.
bool names_a_cpu(const std::string& mask) {
  return mask.find_first_not_of("0,") != std::string::npos;
}

/// How many of the queues have a mask of their own: {"rx": 8, "rps": 0, "tx": 8, "xps": 8}.
nlohmann::json steering_of(const HostFiles& host, const std::string& queues) {
  std::map<std::string, std::int64_t> counts = {{"rx", 0}, {"rps", 0}, {"tx", 0}, {"xps", 0}};
  std::size_t looked_at = 0;
  for (const std::string& queue : host.list(queues)) {
    if (++looked_at > most_queues) break;
    const bool receives = queue.starts_with("rx-");
    ++counts[receives ? "rx" : "tx"];
    const char* file = receives ? "rps_cpus" : "xps_cpus";
    const std::string mask = host.read_line(queues + "/" + queue + "/" + file).value_or("");
    if (names_a_cpu(mask)) ++counts[receives ? "rps" : "xps"];
  }
  return counts;
}

Finding interfaces_item(const HostFiles& host) {
  nlohmann::json interfaces = nlohmann::json::object();
  for (const std::string& name : host.list(interfaces_directory)) {
    if (interfaces.size() == most_interfaces) break;
    const std::string directory = fmt::format("{}/{}/", interfaces_directory, name);
    nlohmann::json interface = steering_of(host, directory + "queues");
    for (const char* file :
         {"threaded", "mtu", "speed", "gro_flush_timeout", "napi_defer_hard_irqs", "operstate"}) {
      if (const auto text = host.read_line(directory + file)) {
        interface[file] = number_or_text(*text);
      }
    }
    interfaces[name] = std::move(interface);
  }
  if (interfaces.empty()) return not_found("absent", interfaces_directory);
  return found(std::move(interfaces), interfaces_directory);
}

/// How many interrupts may go to which CPUs: {"0-95": 120, "3": 1}.
Finding interrupt_affinity_item(const HostFiles& host) {
  const std::string directory = "/proc/irq";
  std::map<std::string, std::int64_t> counts;
  std::size_t looked_at = 0;
  for (const std::string& name : host.list(directory)) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (++looked_at > most_interrupts) break;
    if (const auto cpus = host.read_line(directory + "/" + name + "/smp_affinity_list")) {
      ++counts[*cpus];
    }
  }
  const std::string source = directory + "/*/smp_affinity_list";
  if (counts.empty()) return not_found(looked_at > 0 ? "no permission" : "absent", source);
  return found(counts, source);
}

}  // namespace

std::vector<EnvironmentItem> network_items() {
  using Host = const HostFiles&;
  return {
      {"network.interfaces", interfaces_item},
      {"network.rps_sock_flow_entries",
       [](Host host) { return number_of(host, "/proc/sys/net/core/rps_sock_flow_entries"); }},
      {"network.busy_poll",
       [](Host host) { return number_of(host, "/proc/sys/net/core/busy_poll"); }},
      {"network.default_qdisc",
       [](Host host) { return line_of(host, "/proc/sys/net/core/default_qdisc"); }},
      {"network.congestion_control",
       [](Host host) { return line_of(host, "/proc/sys/net/ipv4/tcp_congestion_control"); }},
      {"network.netdev_budget",
       [](Host host) { return number_of(host, "/proc/sys/net/core/netdev_budget"); }},
      {"network.tcp_tw_reuse",
       [](Host host) { return number_of(host, "/proc/sys/net/ipv4/tcp_tw_reuse"); }},
      {"interrupts.default_affinity",
       [](Host host) { return line_of(host, "/proc/irq/default_smp_affinity"); }},
      {"interrupts.affinity", interrupt_affinity_item},
  };
}

}  // namespace krepro
