// Comparing the beginning of a run with its continuation.
#include "suite/execute/resume_check.h"

#include <fmt/core.h>

#include <fstream>
#include <sstream>

#include "common/base/error.h"
#include "common/generator/options.h"
#include "suite/environment/environment.h"
#include "suite/record/run_lines.h"

namespace krepro {
namespace {

using nlohmann::json;

json member(const json& object, const char* name) {
  return object.is_object() ? object.value(name, json()) : json();
}

[[noreturn]] void refuse(const RunFile& file, const std::string& what, const std::string& remedy) {
  throw usage_error(fmt::format("{}: {}", file.path.string(), what), remedy);
}

void check_kernel(const RunFile& file, const json& now) {
  const json then = member(file.run, "kernel");
  for (const char* name : {"release", "build_id", "version"}) {
    if (member(then, name) == member(now, name)) continue;
    refuse(file,
           fmt::format("begun on another kernel ({} {}, now {} {})",
                       value_text(member(then, "release")), value_text(member(then, name)),
                       value_text(member(now, "release")), value_text(member(now, name))),
           "boot that kernel to go on, or begin a new run for this one");
  }
}

void check_host(const RunFile& file, const json& environment) {
  if (file.boots.empty()) return;
  const json then = member(file.boots.front(), "environment");
  for (const char* name : {"host.name", "host.model", "cpu.model", "cpu.online"}) {
    const json before = environment_value(then, name);
    const json after = environment_value(environment, name);
    if (before == after) continue;
    refuse(file,
           fmt::format("begun on another host or set-up: {} was {}, is {}", name,
                       value_text(before), value_text(after)),
           "go on where it was begun, or begin a new run here");
  }
}

void check_generators(const RunFile& file, const Catalog& catalog) {
  const json now = generator_identities(file.plan, catalog);
  const json recorded = member(file.run, "generators");
  for (const auto& [name, then] : recorded.items()) {
    if (!now.contains(name)) refuse(file, catalog.reason_for_absence(name), "build it again");
    // The sources are what shapes the load; the same sources built again may go on.
    const char* hash =
        value_text(member(then, "source_hash")).empty() ? "binary_hash" : "source_hash";
    if (member(then, hash) == member(now[name], hash)) continue;
    refuse(file, fmt::format("generator {} has changed since the run began", name),
           "check out and build what it was begun with, or begin a new run");
  }
}

void check_profile(const RunFile& file) {
  const json profile = member(file.run, "profile");
  const json path = member(profile, "path");
  if (!path.is_string()) return;
  std::ifstream stream(path.get<std::string>(), std::ios::binary);
  // The plan is in the run file: a profile that is gone is not needed.
  if (!stream) return;
  std::ostringstream text;
  text << stream.rdbuf();
  if (member(profile, "text") == text.str()) return;
  refuse(file, fmt::format("profile {} has changed since the run began", path.get<std::string>()),
         "undo the change, or begin a new run");
}

}  // namespace

void check_resume(const RunFile& file, const ResumeSituation& now) {
  check_kernel(file, now.kernel);
  check_host(file, now.environment);
  check_generators(file, *now.catalog);
  check_profile(file);
}

void check_same_plan(const RunFile& file, const Plan& plan) {
  const json then = to_json(file.plan);
  const json now = to_json(plan);
  for (const char* name : {"profile_name", "order", "benchmarks", "trials"}) {
    if (member(then, name) == member(now, name)) continue;
    refuse(file,
           fmt::format("its plan is not the one that this command line gives: {} differ", name),
           fmt::format("leave the profile and its settings away: krepro run --resume {}",
                       file.path.string()));
  }
}

}  // namespace krepro
