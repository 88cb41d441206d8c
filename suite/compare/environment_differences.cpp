#include "suite/compare/environment_differences.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace krepro {
namespace {

struct Suspicion {
  std::string_view prefix;
  int level;
};

/// The first prefix that matches counts. What is known to have moved published results comes first.
constexpr std::array suspicions = {
    Suspicion{"kernel.preemption", 9},
    Suspicion{"memory.huge_pages", 9},
    Suspicion{"memory.thp", 9},
    Suspicion{"scheduler.features", 9},
    Suspicion{"scheduler.base_slice", 9},
    Suspicion{"cpu.governor", 8},
    Suspicion{"kernel.cmdline", 8},
    Suspicion{"kernel.mitigations", 8},
    Suspicion{"cgroup.", 8},
    Suspicion{"scheduler.", 8},
    Suspicion{"cpu.smt", 7},
    Suspicion{"cpu.boost", 7},
    Suspicion{"cpu.count", 7},
    Suspicion{"cpu.model", 7},
    Suspicion{"cpu.microcode", 6},
    Suspicion{"kernel.config", 6},
    Suspicion{"kernel.clock_source", 6},
    Suspicion{"virtualisation.kind", 6},
    Suspicion{"memory.total", 6},
    Suspicion{"cpu.", 5},
    Suspicion{"kernel.", 4},
    Suspicion{"memory.", 4},
    Suspicion{"limits.pipe_user_pages", 4},
    Suspicion{"limits.", 2},
};

/// They differ with every boot, or are what is compared.
constexpr std::array<std::string_view, 11> expected_to_differ = {"kernel.release",
                                                                 "kernel.version",
                                                                 "kernel.build_id",
                                                                 "kernel.boot_id",
                                                                 "host.name",
                                                                 "virtualisation.steal_share",
                                                                 "load.",
                                                                 "memory.available_bytes",
                                                                 "kernel.tainted_by",
                                                                 "clock.",
                                                                 "host.id"};

int suspicion_of(const std::string& item) {
  for (const Suspicion& suspicion : suspicions) {
    if (item.starts_with(suspicion.prefix)) return suspicion.level;
  }
  return 3;
}

bool is_expected(const std::string& item) {
  return std::any_of(expected_to_differ.begin(), expected_to_differ.end(),
                     [&](std::string_view prefix) { return item.starts_with(prefix); });
}

std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Items as text by name. Objects and the command line are taken apart, so that a difference shows
/// the part that differs.
void flatten(const std::string& name, const nlohmann::json& value,
             std::map<std::string, std::string>& items) {
  if (value.is_object()) {
    for (const auto& [key, part] : value.items()) flatten(name + "." + key, part, items);
  } else if (name == "kernel.cmdline" && value.is_string()) {
    std::istringstream words(value.get<std::string>());
    for (std::string word; words >> word;) {
      // They name the image and the root device, which differ between kernels by design.
      if (word.starts_with("BOOT_IMAGE=") || word.starts_with("initrd=") ||
          word.starts_with("root=")) {
        continue;
      }
      const std::size_t equals = word.find('=');
      items[name + " " + word.substr(0, equals)] =
          equals == std::string::npos ? "set" : word.substr(equals + 1);
    }
  } else if (!value.is_null()) {
    items[name] = plain(value);
  }
}

std::map<std::string, std::string> items_of(const nlohmann::json& environment) {
  std::map<std::string, std::string> items;
  if (!environment.is_object()) return items;
  for (const auto& [name, finding] : environment.items()) {
    if (is_expected(name) || !finding.is_object() || finding.value("identity", false) ||
        finding.value("varies", false)) {
      continue;
    }
    const auto value = finding.find("value");
    if (value != finding.end()) flatten(name, *value, items);
  }
  return items;
}

struct SideItems {
  std::size_t boots = 0;
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> seen;  ///< In how many boots.
};

SideItems items_of(const Side& side) {
  SideItems result;
  for (const RunFacts& run : side.runs) {
    for (const BootFacts& boot : run.boots) {
      if (boot.environment.empty()) continue;
      ++result.boots;
      for (const auto& [name, value] : items_of(boot.environment)) {
        result.values[name].insert(value);
        ++result.seen[name];
      }
    }
  }
  for (auto& [name, values] : result.values) {
    if (result.seen[name] < result.boots) values.insert("-");
  }
  return result;
}

std::string shorten(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

}  // namespace

std::vector<EnvironmentDifference> find_environment_differences(const std::vector<Side>& sides) {
  std::vector<SideItems> all;
  std::set<std::string> names;
  for (const Side& side : sides) {
    all.push_back(items_of(side));
    if (all.back().boots == 0) return {};  // Foreign results: nothing is known of their machine.
    for (const auto& [name, values] : all.back().values) names.insert(name);
  }
  std::vector<EnvironmentDifference> differences;
  for (const std::string& name : names) {
    EnvironmentDifference difference;
    difference.item = name;
    difference.suspicion = suspicion_of(name);
    for (const SideItems& side : all) {
      const auto values = side.values.find(name);
      difference.values.push_back(
          values == side.values.end() ? "-" : fmt::format("{}", fmt::join(values->second, "|")));
    }
    const auto differs = [&](const std::string& value) { return value != difference.values[0]; };
    if (std::any_of(difference.values.begin(), difference.values.end(), differs)) {
      differences.push_back(std::move(difference));
    }
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const EnvironmentDifference& left, const EnvironmentDifference& right) {
                     return left.suspicion > right.suspicion;
                   });
  return differences;
}

std::string difference_text(const EnvironmentDifference& difference,
                            const std::vector<std::string>& keys) {
  // Columns with one value are named together: "base and B preempt=none".
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string& value = difference.values[i];
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& known) { return known.first == value; });
    if (group == groups.end()) {
      groups.push_back({value, {keys[i]}});
    } else {
      group->second.push_back(keys[i]);
    }
  }
  std::string text = difference.item + ":";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string value = groups[i].first == "-" ? "(absent)" : shorten(groups[i].first, 48);
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", fmt::join(groups[i].second, " and "), value);
  }
  return text;
}

std::string build_difference(const std::vector<EnvironmentDifference>& differences) {
  for (const EnvironmentDifference& difference : differences) {
    if (difference.item == "kernel.config" || difference.item.starts_with("kernel.config.")) {
      return "the kernels were configured or compiled differently: a verdict here is about these "
             "images, not about a commit";
    }
  }
  return {};
}

}  // namespace krepro
