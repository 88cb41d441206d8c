// A run under way: plan, file and what is done already. How it begins (new, or from a file) is
// run_start.cpp's business, how it goes on run_command.cpp's.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "suite/execute/run_command.h"
#include "suite/execute/run_settings.h"
#include "suite/plan/plan_command.h"
#include "suite/record/run_file.h"

namespace krepro {

/// A trial of one boot: boots are numbered from 1 where they are simulated, else 0.
struct PendingTrial {
  std::int64_t boot = 0;
  std::size_t index = 0;  ///< Into Plan::trials.
};

struct RunSession {
  Catalog catalog;
  Plan plan;
  std::string label;
  std::string machine;  ///< One line.
  nlohmann::json environment;
  std::optional<std::int64_t> simulated_boots;
  std::uint64_t simulation = 0;  ///< From seed and label: tells simulated boots of runs apart.
  RunFileWriter writer;
  std::unique_ptr<RunSettings> settings;
  std::set<std::string> observed;     ///< Rows that a tool has watched already.
  std::set<std::string> known_boots;  ///< Ids that have a `boot` line.
  std::vector<PendingTrial> pending;
  std::size_t total = 0;           ///< Trials of the whole run.
  std::vector<std::string> notes;  ///< For the user, before the first trial.
  nlohmann::json checkup;          ///< doctor_json() of this host; null: not examined.
};

/// Everything is checked here, and nothing of a load has run when it returns or throws.
[[nodiscard]] RunSession start_new_run(const RunArguments& arguments);
/// Refuses another kernel, another host, changed generators and a changed profile.
[[nodiscard]] RunSession start_resumed_run(const RunArguments& arguments);

/// The identity of simulated boot number `boot` for the generator: the same seed and label, the
/// same boots.
[[nodiscard]] std::int64_t simulated_boot_identity(const RunSession& session, std::int64_t boot);

/// The seed of a trial. Repetitions differ; all benchmarks of one repetition share it, so that a
/// comparison of rows is one of loads. Trials of simulated boots must be independent, so there
/// every one differs.
[[nodiscard]] std::uint64_t seed_of(const RunSession& session, const PendingTrial& pending);

/// The label of a trial's variant; the run's own where nothing is varied.
[[nodiscard]] std::string label_of(const RunSession& session, const Trial& trial);

/// The id of boot number `boot` (see PendingTrial).
[[nodiscard]] std::string boot_id_of(const RunSession& session, std::int64_t boot);

}  // namespace krepro
