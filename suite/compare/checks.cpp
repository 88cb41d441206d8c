#include "suite/compare/checks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace krepro {
namespace {

template <typename Take>
std::set<std::string> collect(const Side& side, Take take) {
  std::set<std::string> values;
  for (const RunFacts& run : side.runs) values.insert(take(run));
  values.erase("");
  return values;
}

std::set<std::string> hosts_of(const Side& side) {
  std::set<std::string> hosts;
  for (const RunFacts& run : side.runs) {
    for (const BootFacts& boot : run.boots) hosts.insert(boot.host);
  }
  return hosts;
}

/// Build ids where known, else release and version together.
std::set<std::string> kernels_of(const Side& side) {
  const std::set<std::string> ids = collect(side, [](const RunFacts& run) { return run.build_id; });
  if (!ids.empty()) return ids;
  return collect(side, [](const RunFacts& run) {
    return run.kernel_release.empty() ? "" : run.kernel_release + " " + run.kernel_version;
  });
}

/// Labels that a matrix of settings made: "6.18+preempt=lazy" and "6.18+preempt=none", or "6.18".
bool differ_by_setting(const std::string& base, const std::string& other) {
  return base.substr(0, base.find('+')) == other.substr(0, other.find('+'));
}

bool same_kernel(const Side& base, const Side& other) {
  const std::set<std::string> kernels = kernels_of(base);
  return !kernels.empty() && kernels == kernels_of(other);
}

bool any_simulated(const Side& side) {
  return std::any_of(side.runs.begin(), side.runs.end(),
                     [](const RunFacts& run) { return run.simulated; });
}

/// Every boot of one side was before every boot of the other.
bool confounded_with_order(const Side& base, const Side& other) {
  const auto starts = [](const Side& side) {
    std::set<std::string> times;
    for (const RunFacts& run : side.runs) {
      for (const BootFacts& boot : run.boots) {
        if (!boot.started.empty() && !boot.simulated) times.insert(boot.started);
      }
    }
    return times;
  };
  const std::set<std::string> first = starts(base);
  const std::set<std::string> second = starts(other);
  if (first.size() < 2 || second.size() < 2) return false;
  return *first.rbegin() < *second.begin() || *second.rbegin() < *first.begin();
}

void check_pair(const Side& base, const Side& other, const std::string& key,
                const CompareOptions& options, SideChecks& checks) {
  std::string refusal;
  const bool about_setting = options.same_kernel_allowed || options.judge.paired ||
                             differ_by_setting(base.label, other.label);
  if (same_kernel(base, other) && !about_setting) {
    refusal = "both sides ran the same kernel";
    checks.warnings.push_back(fmt::format(
        "base and {} ran the same kernel: no kernel verdict (settings are compared with "
        "--same-kernel, or --paired within one boot)",
        key));
  }
  if (any_simulated(base) != any_simulated(other)) {
    refusal = "one side is simulated, the other is not";
    checks.warnings.push_back(fmt::format("base and {}: {}", key, refusal));
  }
  checks.refusals.push_back(refusal);
  std::vector<std::string> shared;
  const std::set<std::string> base_hosts = hosts_of(base);
  const std::set<std::string> other_hosts = hosts_of(other);
  std::set_intersection(base_hosts.begin(), base_hosts.end(), other_hosts.begin(),
                        other_hosts.end(), std::back_inserter(shared));
  if (!base_hosts.empty() && !other_hosts.empty() && shared.empty()) {
    checks.warnings.push_back(
        fmt::format("base and {} ran on different hosts: no kernel verdict without a host that ran "
                    "both",
                    key));
  } else if (shared.size() < std::max(base_hosts.size(), other_hosts.size())) {
    checks.warnings.push_back(fmt::format("base and {}: only the {} host{} that ran both count",
                                          key, shared.size(), shared.size() == 1 ? "" : "s"));
  }
  if (confounded_with_order(base, other)) {
    checks.warnings.push_back(fmt::format(
        "all boots of one side came before those of {}: a drift of the machine would look the "
        "same; alternate the kernels' boots",
        key));
  }
  if (options.judge.paired) {
    if (const std::size_t count = count_unsettled_switches(base, other); count > 0) {
      checks.warnings.push_back(
          fmt::format("{} trials came right after a switch to or from {}, without a settling "
                      "trial: state such as new-idle costs survives a switch",
                      count, key));
    }
  }
}

void check_machines(const std::vector<Side>& sides, SideChecks& checks) {
  std::set<std::string> machines;
  for (const Side& side : sides) {
    machines.merge(collect(side, [](const RunFacts& run) { return run.machine; }));
  }
  if (machines.size() > 1) {
    checks.warnings.push_back(fmt::format("the machines differ: {}", fmt::join(machines, "; ")));
  }
}

void check_runs(const Side& side, const std::string& key, SideChecks& checks) {
  std::set<std::string> said;
  for (const RunFacts& run : side.runs) {
    if (run.simulated) said.insert("is simulated: it says nothing about a kernel");
    if (run.fitted) said.insert("was scaled with --fit: not the published load");
    if (!run.foreign.empty()) {
      said.insert("was imported from " + run.foreign + ": its kernel and machine are not known");
    }
  }
  for (const std::string& text : said) checks.warnings.push_back(key + " " + text);
}

/// "loops 100 and 10000"
std::vector<std::string> differing_keys(const nlohmann::json& base, const nlohmann::json& other) {
  std::vector<std::string> list;
  std::set<std::string> names;
  for (const nlohmann::json* object : {&base, &other}) {
    if (!object->is_object()) continue;
    for (const auto& [name, value] : object->items()) names.insert(name);
  }
  names.erase("seed");
  for (const std::string& name : names) {
    const auto value_of = [&](const nlohmann::json& object) {
      const auto found = object.find(name);
      return found == object.end() ? std::string("(default)")
             : found->is_string()  ? found->get<std::string>()
                                   : found->dump();
    };
    if (value_of(base) != value_of(other)) {
      list.push_back(fmt::format("{} {} and {}", name, value_of(base), value_of(other)));
    }
  }
  return list;
}

}  // namespace

std::string find_benchmark_difference(const BenchmarkFacts& base, const BenchmarkFacts& other) {
  if (base.generator != other.generator) {
    return fmt::format("generators differ: {} and {}", base.generator, other.generator);
  }
  for (const auto& [what, left, right] :
       {std::tuple{"options", &base.options, &other.options},
        std::tuple{"placement", &base.placement, &other.placement},
        std::tuple{"pinning", &base.pinning, &other.pinning},
        std::tuple{"memory", &base.memory, &other.memory},
        std::tuple{"scheduling", &base.scheduling, &other.scheduling}}) {
    const std::vector<std::string> keys = differing_keys(*left, *right);
    if (!keys.empty()) return fmt::format("{} differ: {}", what, fmt::join(keys, ", "));
  }
  if (base.source_hash != other.source_hash && !base.source_hash.empty() &&
      !other.source_hash.empty()) {
    return "the generator's sources differ: another load";
  }
  return {};
}

std::size_t count_unsettled_switches(const Side& base, const Side& other) {
  // Boot, time, order, side, warm-up: sorted, they are each boot's history.
  using Step = std::tuple<std::string, std::string, std::size_t, bool, bool>;
  std::vector<Step> steps;
  for (const auto& [side, is_other] : {std::pair{&base, false}, std::pair{&other, true}}) {
    for (const RunFacts& run : side->runs) {
      for (const TrialFacts& trial : run.trials) {
        steps.emplace_back(trial.boot_id, trial.started, trial.order, is_other, trial.warmup);
      }
    }
  }
  std::sort(steps.begin(), steps.end());
  std::size_t count = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const bool same_boot = std::get<0>(steps[i]) == std::get<0>(steps[i - 1]);
    const bool switched = std::get<3>(steps[i]) != std::get<3>(steps[i - 1]);
    if (same_boot && switched && !std::get<4>(steps[i])) ++count;
  }
  return count;
}

SideChecks check_sides(const std::vector<Side>& sides, const std::vector<std::string>& keys,
                       const CompareOptions& options) {
  SideChecks checks;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    check_pair(sides[0], sides[i], keys[i], options, checks);
  }
  check_machines(sides, checks);
  for (std::size_t i = 0; i < sides.size(); ++i) check_runs(sides[i], keys[i], checks);
  return checks;
}

}  // namespace krepro
