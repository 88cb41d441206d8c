// What the words of a placement mean on a machine.
#include "suite/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/error.h"
#include "suite/placement/expression.h"

namespace krepro {

namespace {

/// "0-3,8" of the numbers for which there is a group.
std::string numbers_of(const std::vector<CpuGroup>& groups) {
  std::vector<int> numbers;
  numbers.reserve(groups.size());
  for (const CpuGroup& group : groups) numbers.push_back(group.number);
  return CpuSet(std::move(numbers)).to_string();
}

std::vector<CpuGroup> numbered(const std::vector<CpuSet>& sets) {
  std::vector<CpuGroup> groups;
  groups.reserve(sets.size());
  for (const CpuSet& set : sets) groups.push_back({static_cast<int>(groups.size()), set});
  return groups;
}

class Evaluator {
 public:
  Evaluator(const Machine& machine, std::optional<CpuSet> rest)
      : machine_(machine), rest_(std::move(rest)) {}

  CpuSet evaluate(const PlacementExpression& expression) const {
    if (expression.operation == 0) return evaluate_word(expression);
    const CpuSet left = evaluate(expression.operands[0]);
    const CpuSet right = evaluate(expression.operands[1]);
    if (expression.operation == '+') return left | right;
    return expression.operation == '&' ? left & right : left - right;
  }

 private:
  CpuSet evaluate_word(const PlacementExpression& expression) const {
    switch (expression.word) {
      case PlacementWord::all:
        return machine_.allowed;
      case PlacementWord::rest:
        return rest(expression);
      case PlacementWord::one_per_core:
        require_topology(expression);
        return first_of_each(machine_.cores);
      case PlacementWord::one_per_llc:
        require_llcs(expression);
        return first_of_each(machine_.llcs);
      case PlacementWord::spread_llc:
        require_llcs(expression);
        return spread(expression);
      case PlacementWord::llc:
        require_llcs(expression);
        return groups(expression, numbered(machine_.llcs), "last-level caches");
      case PlacementWord::cluster:
        require_sets(expression, machine_.clusters, "this machine has no clusters of cores");
        return groups(expression, numbered(machine_.clusters), "clusters");
      case PlacementWord::one_per_cluster:
        require_sets(expression, machine_.clusters, "this machine has no clusters of cores");
        return first_of_each(machine_.clusters);
      case PlacementWord::kind:
        require_sets(expression, machine_.kinds, "the CPUs of this machine are all of one kind");
        return groups(expression, numbered(machine_.kinds), "kinds of CPUs");
      case PlacementWord::node:
        require_topology(expression);
        return groups(expression, machine_.nodes, "NUMA nodes");
      case PlacementWord::package:
        require_topology(expression);
        return groups(expression, machine_.packages, "packages");
      case PlacementWord::cpus:
        return listed(expression);
      case PlacementWord::siblings_of:
        break;
    }
    require_topology(expression);
    return siblings(expression);
  }

  static Error impossible(const PlacementExpression& expression, const std::string& why) {
    return not_possible(fmt::format("placement {}: {}", expression.text, why));
  }

  void require_topology(const PlacementExpression& expression) const {
    if (machine_.has_topology()) return;
    throw impossible(expression, fmt::format("the topology is not known here ({}); all and cpus: "
                                             "work without it",
                                             machine_.topology_problem));
  }

  void require_sets(const PlacementExpression& expression, const std::vector<CpuSet>& sets,
                    const char* otherwise) const {
    require_topology(expression);
    if (sets.empty()) throw impossible(expression, otherwise);
  }

  void require_llcs(const PlacementExpression& expression) const {
    require_sets(expression, machine_.llcs, "the last-level caches are not known here");
  }

  CpuSet rest(const PlacementExpression& expression) const {
    if (rest_) return *rest_;
    throw usage_error(
        fmt::format("placement {}: there is no other side to leave CPUs", expression.text));
  }

  CpuSet first_of_each(const std::vector<CpuSet>& sets) const {
    std::vector<int> cpus;
    for (const CpuSet& set : sets) {
      const CpuSet usable = set & machine_.allowed;
      if (!usable.empty()) cpus.push_back(usable.cpus().front());
    }
    return CpuSet(std::move(cpus));
  }

  /// Of one cache `count` CPUs: a CPU of each core first, then the cores' second ones, and so on.
  std::vector<int> spread_within(const CpuSet& cache, std::size_t count) const {
    std::vector<std::pair<std::size_t, int>> by_turn;
    for (const CpuSet& core : machine_.cores) {
      const CpuSet usable = core & cache & machine_.allowed;
      for (std::size_t turn = 0; turn < usable.size(); ++turn) {
        by_turn.emplace_back(turn, usable.cpus()[turn]);
      }
    }
    std::sort(by_turn.begin(), by_turn.end());
    std::vector<int> cpus;
    for (std::size_t i = 0; i < std::min(count, by_turn.size()); ++i) {
      cpus.push_back(by_turn[i].second);
    }
    return cpus;
  }

  CpuSet spread(const PlacementExpression& expression) const {
    const auto count = static_cast<std::size_t>(expression.numbers.cpus().front());
    std::vector<int> cpus;
    for (std::size_t i = 0; i < machine_.llcs.size(); ++i) {
      const std::vector<int> chosen = spread_within(machine_.llcs[i], count);
      if (chosen.size() < count) {
        throw impossible(expression, fmt::format("llc {} has {} allowed CPUs", i, chosen.size()));
      }
      cpus.insert(cpus.end(), chosen.begin(), chosen.end());
    }
    return CpuSet(std::move(cpus));
  }

  CpuSet groups(const PlacementExpression& expression, const std::vector<CpuGroup>& all,
                const char* what) const {
    std::vector<CpuGroup> usable;
    for (const CpuGroup& group : all) {
      if (!(group.cpus & machine_.allowed).empty()) usable.push_back(group);
    }
    CpuSet result;
    for (const int number : expression.numbers.cpus()) {
      const auto found = std::find_if(usable.begin(), usable.end(), [&](const CpuGroup& group) {
        return group.number == number;
      });
      if (found == usable.end()) {
        throw impossible(expression,
                         fmt::format("{} is not there or has no CPU allowed here; {} here: {}",
                                     number, what, numbers_of(usable)));
      }
      result = result | (found->cpus & machine_.allowed);
    }
    return result;
  }

  void require_allowed(const PlacementExpression& expression) const {
    const CpuSet missing = expression.numbers - machine_.allowed;
    if (missing.empty()) return;
    throw impossible(
        expression,
        fmt::format("cpus {} are not on this machine or not allowed here; allowed: "
                    "{}{}",
                    missing.to_string(), machine_.allowed.to_string(),
                    machine_.offline.empty() ? "" : "; offline: " + machine_.offline.to_string()));
  }

  CpuSet listed(const PlacementExpression& expression) const {
    require_allowed(expression);
    return expression.numbers;
  }

  CpuSet siblings(const PlacementExpression& expression) const {
    require_allowed(expression);
    CpuSet result;
    for (const CpuSet& core : machine_.cores) {
      if (!(core & expression.numbers).empty()) result = result | core;
    }
    result = (result & machine_.allowed) - expression.numbers;
    if (result.empty()) throw impossible(expression, "they have no SMT siblings that may be used");
    return result;
  }

  const Machine& machine_;
  std::optional<CpuSet> rest_;
};

CpuSet resolve(const std::string& text, const PlacementExpression& expression,
               const Machine& machine, std::optional<CpuSet> rest) {
  CpuSet cpus = Evaluator(machine, std::move(rest)).evaluate(expression);
  if (cpus.empty()) throw not_possible(fmt::format("placement \"{}\" leaves no CPU here", text));
  return cpus;
}

}  // namespace

void check_placement_syntax(const std::string& text) { (void)parse_placement(text); }

CpuSet resolve_placement(const std::string& text, const Machine& machine) {
  return resolve(text, parse_placement(text), machine, std::nullopt);
}

std::map<std::string, CpuSet> resolve_placements(const std::map<std::string, std::string>& roles,
                                                 const Machine& machine) {
  std::map<std::string, CpuSet> result;
  std::map<std::string, PlacementExpression> waiting;
  CpuSet taken;
  for (const auto& [role, text] : roles) {
    PlacementExpression expression = parse_placement(text);
    if (expression.uses_rest()) {
      waiting.emplace(role, std::move(expression));
      continue;
    }
    result[role] = resolve(text, expression, machine, std::nullopt);
    taken = taken | result[role];
  }
  if (waiting.size() > 1) {
    throw usage_error("placement: only one side can be placed on the rest of the other");
  }
  for (const auto& [role, expression] : waiting) {
    std::optional<CpuSet> rest;
    if (!result.empty()) rest = machine.allowed - taken;
    result[role] = resolve(roles.at(role), expression, machine, std::move(rest));
  }
  return result;
}

}  // namespace krepro
