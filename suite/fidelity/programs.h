// One run of one of the two programs under comparison, and what the same ruler says of both: its
// own figures, wait4's resource usage of everything it started, and its length. Which runs are
// made, and in which order, is decided elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/affinity/scheduling.h"
#include "suite/fidelity/ratio.h"
#include "suite/original/original.h"

namespace krepro::fidelity {

/// Where and how both programs run.
struct Conditions {
  std::optional<CpuSet> cpus;  ///< Nothing: wherever the caller may run.
  std::optional<Scheduling> scheduling;
};

struct RunRequest {
  Side side = Side::original;
  std::vector<std::string> arguments;  ///< OriginalProgram::arguments(), the same for both sides.
  double operations = 0;  ///< What the row says the run does; 0: the program itself says it.
  Conditions conditions;
  std::uint64_t seed = 0;           ///< Given to ours; the originals take none.
  std::vector<std::string> prefix;  ///< Command in front of the program ("strace", "-f" ...).
};

struct RunFigures {
  Side side = Side::original;
  std::string problem;  ///< Why it does not count, one line; empty: it counts.
  std::map<std::string, double> metrics;
  double operations = 0;
  double elapsed_s = 0;
  double user_s = 0;
  double system_s = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] bool valid() const { return problem.empty(); }
  [[nodiscard]] double switches_per_operation() const;
};
[[nodiscard]] nlohmann::json to_json(const RunFigures& figures);

class Programs {
 public:
  /// `own_arguments`: of krepro's own options, given to ours alone.
  Programs(OriginalProgram original, std::filesystem::path ours,
           std::vector<std::string> own_arguments = {})
      : original_(std::move(original)),
        ours_(std::move(ours)),
        own_arguments_(std::move(own_arguments)) {}

  [[nodiscard]] const OriginalProgram& original() const { return original_; }
  [[nodiscard]] const std::filesystem::path& ours() const { return ours_; }
  [[nodiscard]] const std::vector<std::string>& own_arguments() const { return own_arguments_; }
  /// The command line of a run; ours prints its sample, so that nothing is left of a killed run.
  [[nodiscard]] std::vector<std::string> command(const RunRequest& request) const;
  /// Runs it to its end. What goes wrong with the program is its `problem`, not an exception.
  [[nodiscard]] RunFigures run(const RunRequest& request) const;

 private:
  OriginalProgram original_;
  std::filesystem::path ours_;
  std::vector<std::string> own_arguments_;
};

/// The figures of ours from its sample: metrics, operations, or the problem that it states.
void read_sample(const nlohmann::json& sample, RunFigures& figures);

}  // namespace krepro::fidelity
