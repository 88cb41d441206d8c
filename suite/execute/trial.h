// One trial: a generator (and its server) started, set up, released, measured and ended; or the
// original program in its place. Whatever goes wrong with it is part of the record, not an
// exception: the run goes on with the next trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/counters/counter_reader.h"
#include "suite/execute/interruption.h"
#include "suite/execute/observer.h"
#include "suite/plan/plan.h"
#include "suite/record/run_file.h"

namespace krepro {

/// How long the suite waits before it calls a trial hung.
struct TrialLimits {
  std::int64_t setup_ns = 120'000'000'000;  ///< From the start of the process to `ready`.
  std::optional<std::int64_t> run_ns;       ///< From `go` to the sample; else derived, see
                                            ///< run_limit_ns().
  /// From the sample, or from `stop`, to the end. Long: removing a file waits for its writeback,
  /// and the result is there already.
  std::int64_t stop_ns = 60'000'000'000;
};

/// How the roles are started besides what the benchmark says.
struct RoleSetup {
  std::map<std::string, std::string> scheduling;  ///< Role -> policy, instead of the benchmark's.
  std::map<std::string, std::filesystem::path> cgroup;  ///< Role -> folder.
};

struct TrialRequest {
  const Benchmark* benchmark = nullptr;
  Trial trial;
  const GeneratorInfo* generator = nullptr;
  const CounterReader* counters = nullptr;
  RoleSetup roles;
  std::uint64_t seed = 0;                      ///< For generators whose options name none.
  std::optional<std::int64_t> simulated_boot;  ///< Identity for options that mean the boot.
  TrialLimits limits;
  Observer* observer = nullptr;  ///< Watches the trial; nullptr: nobody does.
  /// Called about once a second with what the generator says of its rate; empty: nobody looks, and
  /// nothing wakes up.
  std::function<void(const std::string&)> on_progress;
};

/// Runs it. `boot_id` and `started` of the result are left to the caller.
[[nodiscard]] RecordedTrial run_trial(const TrialRequest& request,
                                      const Interruption& interruption);

/// Where the limit is not given: with a runtime option one and a half times that and a minute; else
/// an hour, or 20 times the expected length where that is longer.
[[nodiscard]] std::int64_t run_limit_ns(const Benchmark& benchmark, const GeneratorInfo& generator,
                                        const TrialLimits& limits);

}  // namespace krepro
