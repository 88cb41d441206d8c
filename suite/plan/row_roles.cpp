// Checking what a row says of its roles and its original.
#include "suite/plan/row_roles.h"

#include <fmt/format.h>

#include <functional>

#include "common/affinity/cpu_order.h"
#include "common/affinity/scheduling.h"
#include "common/base/error.h"
#include "suite/original/original.h"
#include "suite/placement/pinning.h"
#include "suite/placement/placement.h"

namespace krepro {

namespace {

bool check_role(const std::string& role, const char* what, const GeneratorInfo& generator,
                const Benchmark& benchmark, SourcePosition position, ProfileErrors& errors) {
  if (!generator.has_role(role)) {
    errors.add(position, fmt::format("{}.{} has no effect: {} has no role \"{}\"", what, role,
                                     generator.name, role));
    return false;
  }
  if (role == "serve" && generator.names_a_server(benchmark.options)) {
    errors.add(position,
               fmt::format("{}.serve has no effect: the row names a server that runs", what),
               "leave out one of them");
    return false;
  }
  return true;
}

/// False where `check` finds the wording wrong, which has then been reported.
bool check_wording(const ProfileText& text, ProfileErrors& errors,
                   const std::function<void(const std::string&)>& check) {
  try {
    check(text.text);
    return true;
  } catch (const Error& error) {
    errors.add(text.position, error.what(), error.remedy());
    return false;
  }
}

/// The role's CPUs: its placement's, or all that may be used.
CpuSet role_cpus(const Benchmark& benchmark, const std::string& role, const Machine& machine) {
  const auto found = benchmark.cpus.find(role);
  return found == benchmark.cpus.end() ? machine.allowed : CpuSet::parse(found->get<std::string>());
}

}  // namespace

void set_scheduling(const Row& row, const GeneratorInfo& generator, Benchmark& benchmark,
                    ProfileErrors& errors) {
  for (const auto& [role, text] : row.scheduling) {
    if (!check_role(role, "scheduling", generator, benchmark, text.position, errors)) continue;
    try {
      (void)parse_scheduling(text.text);
      benchmark.scheduling[role] = text.text;
    } catch (const Error& error) {
      errors.add(text.position, error.what(), error.remedy());
    }
  }
}

std::string set_placement(const Row& row, const GeneratorInfo& generator, const Machine& machine,
                          Benchmark& benchmark, ProfileErrors& errors) {
  std::map<std::string, std::string> roles;
  SourcePosition position;
  for (const auto& [role, text] : row.placement) {
    if (!check_role(role, "placement", generator, benchmark, text.position, errors)) continue;
    if (!check_wording(text, errors, check_placement_syntax)) return "";
    roles[role] = text.text;
    benchmark.placement[role] = text.text;
    position = text.position;
  }
  try {
    for (const auto& [role, cpus] : resolve_placements(roles, machine)) {
      benchmark.cpus[role] = cpus.to_string();
    }
  } catch (const Error& error) {
    if (error.code() == ExitCode::not_possible) return error.what();
    errors.add(position, error.what(), error.remedy());
  }
  return "";
}

std::string set_pinning(const Row& row, const GeneratorInfo& generator, const Machine& machine,
                        Benchmark& benchmark, ProfileErrors& errors) {
  for (const auto& [role, text] : row.pinning) {
    if (!check_role(role, "pinning", generator, benchmark, text.position, errors)) continue;
    if (!check_wording(text, errors, [](const std::string& word) { (void)parse_pinning(word); })) {
      continue;
    }
    const Pinning pinning = parse_pinning(text.text);
    benchmark.pinning[role] = text.text;
    if (pinning == Pinning::floating) continue;
    if (row.from->upstream) {
      errors.add(text.position, "pinning: the workers of an original cannot be pinned",
                 "give it a placement, or leave upstream out");
      continue;
    }
    try {
      benchmark.worker_cpus[role] =
          to_string(pinning_order(pinning, role_cpus(benchmark, role, machine), machine));
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

std::string set_memory(const Row& row, const GeneratorInfo& generator, const Machine& machine,
                       Benchmark& benchmark, ProfileErrors& errors) {
  for (const auto& [role, text] : row.memory) {
    if (!check_role(role, "memory", generator, benchmark, text.position, errors)) continue;
    if (!check_wording(text, errors, check_memory_syntax)) continue;
    benchmark.memory[role] = text.text;
    try {
      benchmark.memory_policy[role] =
          resolve_memory(text.text, role_cpus(benchmark, role, machine), machine);
    } catch (const Error& error) {
      return error.what();
    }
  }
  return "";
}

std::string upstream_obstacle(const Row& row, const GeneratorInfo& generator,
                              const Benchmark& benchmark, ProfileErrors& errors) {
  if (!row.from->upstream) return "";
  try {
    const OriginalProgram original = OriginalProgram::from_description(generator.described);
    (void)original.arguments_from_json(benchmark.options);
    original.require_installed();
  } catch (const Error& error) {
    if (error.code() == ExitCode::not_possible) {
      return error.remedy().empty() ? std::string(error.what())
                                    : fmt::format("{}: {}", error.what(), error.remedy());
    }
    errors.add(row.from->position, fmt::format("upstream: {}", error.what()), error.remedy());
  }
  return "";
}

}  // namespace krepro
