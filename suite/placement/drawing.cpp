// Machines as text for people and as JSON: one line per cache, cores by their threads.
#include "suite/placement/drawing.h"

#include <fmt/format.h>

#include <vector>

#include "suite/catalog/wrap.h"

namespace krepro {

namespace {

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "0+48": a core by its threads.
std::string core_text(const CpuSet& core) {
  std::string text;
  for (const int cpu : core.cpus()) text += fmt::format("{}{}", text.empty() ? "" : "+", cpu);
  return text;
}

/// A list of CPUs; a long one may be broken after its commas.
std::string breakable_list(const CpuSet& cpus) {
  constexpr std::size_t short_enough = 40;
  const std::string text = cpus.to_string();
  if (text.size() <= short_enough) return text;
  std::string broken;
  for (const char letter : text) {
    broken += letter;
    if (letter == ',') broken += ' ';
  }
  return broken;
}

class Drawing {
 public:
  explicit Drawing(const Machine& machine) : machine_(machine), smt_(machine.smt()) {}

  std::string text() {
    line(0, "cpus " + breakable_list(machine_.online));
    if (!machine_.offline.empty()) line(0, "offline " + breakable_list(machine_.offline));
    if (machine_.allowed != machine_.online) {
      line(0, fmt::format("allowed here {} (taskset or cpuset)", breakable_list(machine_.allowed)));
    }
    if (!machine_.has_topology()) {
      line(0, "no topology: " + machine_.topology_problem);
      return std::move(text_);
    }
    for (const CpuGroup& package : machine_.packages) draw_package(package);
    if (machine_.packages.empty()) draw_nodes(machine_.online, 0);
    for (std::size_t i = 0; i < machine_.kinds.size(); ++i) {
      const bool last = i + 1 == machine_.kinds.size();
      line(0, fmt::format("kind {} cpus {}{}", i, breakable_list(machine_.kinds[i]),
                          i == 0 ? ", the least capable"
                          : last ? ", the most capable"
                                 : ""));
    }
    return std::move(text_);
  }

 private:
  void line(std::size_t indent, const std::string& text) {
    text_ += wrapped(std::string(indent, ' '), text, indent + 4);
  }

  void draw_package(const CpuGroup& package) {
    line(0, fmt::format("package {}", package.number));
    draw_nodes(package.cpus, 2);
  }

  void draw_nodes(const CpuSet& within, std::size_t indent) {
    bool any = false;
    for (const CpuGroup& node : machine_.nodes) {
      const CpuSet cpus = node.cpus & within;
      if (cpus.empty()) continue;
      any = true;
      line(indent, fmt::format("node {}", node.number));
      draw_llcs(cpus, indent + 2);
    }
    if (!any) draw_llcs(within, indent);
  }

  void draw_llcs(const CpuSet& within, std::size_t indent) {
    if (machine_.llcs.empty()) {
      line(indent, fmt::format("last-level caches not known, cpus {}, {}", breakable_list(within),
                               cores_text(within)));
      return;
    }
    for (std::size_t i = 0; i < machine_.llcs.size(); ++i) {
      const CpuSet cpus = machine_.llcs[i] & within;
      if (cpus.empty()) continue;
      std::string text = cores_text(cpus);
      const CpuSet usable = cpus & machine_.allowed;
      if (usable != cpus) {
        text += usable.empty() ? "; not allowed here"
                               : fmt::format("; allowed here {}", breakable_list(usable));
      }
      const std::string lead = fmt::format("llc {:<3} cpus ", i);
      const std::string list = breakable_list(cpus);
      if (list.find(' ') == std::string::npos) {
        text_ += wrapped(std::string(indent, ' ') + fmt::format("{}{:<15} ", lead, list), text,
                         indent + 4);
      } else {
        line(indent, fmt::format("{}{}, {}", lead, list, text));
      }
      draw_clusters(cpus, indent + 2);
    }
  }

  void draw_clusters(const CpuSet& within, std::size_t indent) {
    for (std::size_t i = 0; i < machine_.clusters.size(); ++i) {
      const CpuSet cpus = machine_.clusters[i] & within;
      if (!cpus.empty()) line(indent, fmt::format("cluster {} cpus {}", i, breakable_list(cpus)));
    }
  }

  /// "4 cores: 0+48 1+49 2+50 3+51"; without SMT the list of CPUs has said it.
  std::string cores_text(const CpuSet& within) const {
    std::size_t count = 0;
    std::string names;
    for (const CpuSet& core : machine_.cores) {
      const CpuSet part = core & within;
      if (part.empty()) continue;
      ++count;
      names += " " + core_text(part);
    }
    return counted(count, "core") + (smt_ ? ":" + names : "");
  }

  const Machine& machine_;
  bool smt_;
  std::string text_;
};

nlohmann::json lists(const std::vector<CpuSet>& sets) {
  nlohmann::json json = nlohmann::json::array();
  for (const CpuSet& set : sets) json.push_back(set.to_string());
  return json;
}

nlohmann::json lists(const std::vector<CpuGroup>& groups) {
  nlohmann::json json = nlohmann::json::object();
  for (const CpuGroup& group : groups) {
    json[std::to_string(group.number)] = group.cpus.to_string();
  }
  return json;
}

}  // namespace

std::string draw_machine(const Machine& machine) {
  const std::string architecture =
      machine.architecture.empty() ? "architecture unknown" : machine.architecture;
  return wrapped("", fmt::format("{}, {}", summary(machine), architecture), 2) +
         Drawing(machine).text();
}

nlohmann::json machine_json(const Machine& machine) {
  nlohmann::json json = {{"summary", summary(machine)},
                         {"architecture", machine.architecture},
                         {"this_machine", machine.this_machine},
                         {"online", machine.online.to_string()},
                         {"allowed", machine.allowed.to_string()},
                         {"offline", machine.offline.to_string()},
                         {"packages", lists(machine.packages)},
                         {"nodes", lists(machine.nodes)},
                         {"llcs", lists(machine.llcs)},
                         {"clusters", lists(machine.clusters)},
                         {"cores", lists(machine.cores)},
                         {"kinds", lists(machine.kinds)}};
  if (!machine.has_topology()) json["topology_problem"] = machine.topology_problem;
  return json;
}

}  // namespace krepro
