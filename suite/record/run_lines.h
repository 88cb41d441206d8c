// The `run`, `boot` and `note` lines of a run file, made from what the run knows. `sample` lines
// are RecordedTrial's.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/host_files.h"
#include "suite/catalog/catalog.h"
#include "suite/plan/plan.h"
#include "suite/profile/profile.h"

namespace krepro {

/// What a `run` line is made of.
struct RunDescription {
  std::string label;
  std::string machine;  ///< One line: "2 CPUs, 1 LLC, no SMT, virtual machine"
  std::optional<std::int64_t> simulated_boots;
  const Profile* profile = nullptr;
  const Plan* plan = nullptr;
  const Catalog* catalog = nullptr;
  nlohmann::json settings = nlohmann::json::object();  ///< As given on the command line.
};

[[nodiscard]] nlohmann::json make_run_line(const RunDescription& run,
                                           const HostFiles& host = HostFiles::system());

/// `environment`: see suite/environment.
[[nodiscard]] nlohmann::json make_boot_line(const std::string& boot_id, bool simulated,
                                            const nlohmann::json& environment);

/// `kind`: "warning", "resume", "torn", "interrupted", "harness", "counters", "settings",
/// "doctor", "environment".
[[nodiscard]] nlohmann::json make_note_line(const std::string& kind, const std::string& text);

/// {"release", "version", "build_id"}: what a kernel is told by.
[[nodiscard]] nlohmann::json kernel_identity(const HostFiles& host = HostFiles::system());

/// {name: {"source_hash", "binary_hash"}} of the plan's generators.
[[nodiscard]] nlohmann::json generator_identities(const Plan& plan, const Catalog& catalog);

}  // namespace krepro
