// Checking what a row says of its roles and its original.
#include "suite/plan/row_roles.h"

#include <fmt/format.h>

#include "common/affinity/scheduling.h"
#include "common/base/error.h"
#include "suite/original/original.h"
#include "suite/placement/placement.h"

namespace krepro {

namespace {

bool check_role(const std::string& role, const char* what, const GeneratorInfo& generator,
                SourcePosition position, ProfileErrors& errors) {
  if (generator.has_role(role)) return true;
  errors.add(position, fmt::format("{}.{} has no effect: {} has no role \"{}\"", what, role,
                                   generator.name, role));
  return false;
}

/// False where the wording is wrong, which has then been reported.
bool check_wording(const ProfileText& text, ProfileErrors& errors) {
  try {
    check_placement_syntax(text.text);
    return true;
  } catch (const Error& error) {
    errors.add(text.position, error.what(), error.remedy());
    return false;
  }
}

}  // namespace

void set_scheduling(const Row& row, const GeneratorInfo& generator, Benchmark& benchmark,
                    ProfileErrors& errors) {
  for (const auto& [role, text] : row.scheduling) {
    if (!check_role(role, "scheduling", generator, text.position, errors)) continue;
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
    if (!check_role(role, "placement", generator, text.position, errors)) continue;
    if (!check_wording(text, errors)) return "";
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
