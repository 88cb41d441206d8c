// Orders of CPUs by what they share, and nodes of memory policies.
#include "suite/placement/pinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/affinity/memory_policy.h"
#include "common/base/error.h"

namespace krepro {

namespace {

constexpr std::array pinning_words = {"float", "pin-compact", "pin-spread"};

/// Where a CPU stands: numbers of its package, node, cache, cluster and core, and its turn within
/// the core.
using Position = std::array<int, 6>;
constexpr std::size_t thread_level = 5;

class Positions {
 public:
  explicit Positions(const Machine& machine) {
    for (const int cpu : machine.online.cpus()) positions_[cpu] = Position{};
    number(machine.packages, 0);
    number(machine.nodes, 1);
    number(machine.llcs, 2);
    number(machine.clusters, 3);
    number(machine.cores, 4);
    for (const CpuSet& core : machine.cores) {
      int turn = 0;
      for (const int cpu : core.cpus()) positions_[cpu][thread_level] = turn++;
    }
  }
  [[nodiscard]] const Position& of(int cpu) const { return positions_.at(cpu); }

 private:
  void number(const std::vector<CpuGroup>& groups, std::size_t level) {
    for (const CpuGroup& group : groups) {
      for (const int cpu : group.cpus.cpus()) positions_[cpu][level] = group.number;
    }
  }
  void number(const std::vector<CpuSet>& sets, std::size_t level) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const int cpu : sets[i].cpus()) positions_[cpu][level] = static_cast<int>(i);
    }
  }
  std::map<int, Position> positions_;
};

/// `cpus`, in the order given, dealt out in turn: of each package, therein of each node, and so on.
std::vector<int> dealt(const std::vector<int>& cpus, const Positions& positions,
                       std::size_t level) {
  if (level == thread_level) return cpus;
  std::map<int, std::vector<int>> parts;
  for (const int cpu : cpus) parts[positions.of(cpu)[level]].push_back(cpu);
  for (auto& [number, part] : parts) part = dealt(part, positions, level + 1);
  std::vector<int> result;
  for (std::size_t turn = 0; result.size() < cpus.size(); ++turn) {
    for (const auto& [number, part] : parts) {
      if (turn < part.size()) result.push_back(part[turn]);
    }
  }
  return result;
}

std::vector<int> compact(const CpuSet& cpus, const Positions& positions) {
  std::vector<int> order = cpus.cpus();
  std::stable_sort(order.begin(), order.end(),
                   [&](int left, int right) { return positions.of(left) < positions.of(right); });
  return order;
}

/// A thread of each core first, whatever else they share; then the cores' second threads.
std::vector<int> spread(const CpuSet& cpus, const Machine& machine, const Positions& positions) {
  std::map<std::size_t, std::vector<int>> by_turn;
  for (const CpuSet& core : machine.cores) {
    const CpuSet used = core & cpus;
    for (std::size_t turn = 0; turn < used.size(); ++turn) {
      by_turn[turn].push_back(used.cpus()[turn]);
    }
  }
  std::vector<int> order;
  for (const auto& [turn, threads] : by_turn) {
    const std::vector<int> part = dealt(threads, positions, 0);
    order.insert(order.end(), part.begin(), part.end());
  }
  return order;
}

std::string node_list(const std::vector<CpuGroup>& nodes) {
  std::vector<int> numbers;
  for (const CpuGroup& node : nodes) numbers.push_back(node.number);
  return CpuSet(std::move(numbers)).to_string();
}

CpuSet nodes_of(const CpuSet& cpus, const Machine& machine) {
  std::vector<int> numbers;
  for (const CpuGroup& node : machine.nodes) {
    if (!(node.cpus & cpus).empty()) numbers.push_back(node.number);
  }
  return CpuSet(std::move(numbers));
}

struct MemoryText {
  std::string mode;
  std::string nodes;  ///< "" and "all" are for the machine to fill in.
  [[nodiscard]] bool takes_nodes() const { return mode != "local" && mode != "default"; }
  [[nodiscard]] bool open() const { return takes_nodes() && (nodes.empty() || nodes == "all"); }
};

MemoryText split_memory(const std::string& text) {
  const std::size_t colon = text.find(':');
  MemoryText parts{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (colon != std::string::npos && parts.nodes.empty()) parts.nodes = ":";  // nothing behind it
  return parts;
}

}  // namespace

Pinning parse_pinning(const std::string& text) {
  const auto* const found = std::find(pinning_words.begin(), pinning_words.end(), text);
  if (found != pinning_words.end()) {
    return static_cast<Pinning>(found - pinning_words.begin());
  }
  const std::string near = nearest(text, {pinning_words.begin(), pinning_words.end()});
  throw usage_error(fmt::format("unknown pinning \"{}\"", text),
                    near.empty() ? "known are float, pin-compact and pin-spread"
                                 : fmt::format("did you mean \"{}\"?", near));
}

std::vector<int> pinning_order(Pinning pinning, const CpuSet& cpus, const Machine& machine) {
  if (pinning == Pinning::floating) return {};
  if (!machine.has_topology()) {
    throw not_possible(
        fmt::format("{}: the topology is not known here ({})",
                    pinning_words.at(static_cast<std::size_t>(pinning)), machine.topology_problem),
        "use float");
  }
  const Positions positions(machine);
  const CpuSet usable = cpus & machine.online;
  return pinning == Pinning::compact ? compact(usable, positions)
                                     : spread(usable, machine, positions);
}

void check_memory_syntax(const std::string& text) {
  const MemoryText parts = split_memory(text);
  if (parts.open() &&
      (parts.mode == "bind" || parts.mode == "interleave" || parts.mode == "preferred")) {
    return;
  }
  (void)parse_memory_policy(text);
}

std::string resolve_memory(const std::string& text, const CpuSet& cpus, const Machine& machine) {
  check_memory_syntax(text);
  const MemoryText parts = split_memory(text);
  if (!parts.takes_nodes()) return text;
  const std::string where = fmt::format("memory {}", text);
  if (machine.nodes.empty()) {
    throw not_possible(fmt::format("{}: the NUMA nodes are not known here", where));
  }
  CpuSet nodes;
  if (parts.nodes == "all") {
    nodes = CpuSet::parse(node_list(machine.nodes));
  } else {
    nodes = parts.nodes.empty() ? nodes_of(cpus, machine) : CpuSet::parse(parts.nodes);
  }
  const CpuSet missing = nodes - CpuSet::parse(node_list(machine.nodes));
  if (nodes.empty() || !missing.empty()) {
    throw not_possible(fmt::format("{}: node {} is not there; NUMA nodes here: {}", where,
                                   missing.to_string(), node_list(machine.nodes)));
  }
  if (parts.mode == "preferred" && nodes.size() > 1) {
    throw not_possible(
        fmt::format("{}: these are nodes {}, and preferred takes one", where, nodes.to_string()),
        "name it: preferred:N");
  }
  return fmt::format("{}:{}", parts.mode, nodes.to_string());
}

}  // namespace krepro
