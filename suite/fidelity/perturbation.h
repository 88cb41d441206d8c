// A change under which both programs run, to see whether ours reacts as the original does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/process/child.h"
#include "suite/fidelity/programs.h"

namespace krepro::fidelity {

struct Perturbation {
  std::string name;         ///< As asked.
  std::string explanation;  ///< What is done, for people.
  std::optional<Scheduling> scheduling;
  bool competitors = false;  ///< One busy process of nice 0 on every CPU of the load.
  bool fewer_cpus = false;   ///< Half of the CPUs; for the floating placement only.

  /// The conditions changed by it.
  [[nodiscard]] Conditions apply(const Conditions& conditions) const;
};

/// "NICE" (nice 5, beside one busy process per CPU), "SCHED_BATCH", "SCHED_IDLE", "FEWER_CPUS", or
/// a scheduling text such as "other,slice:3ms" (common/affinity/scheduling.h). Throws usage_error.
[[nodiscard]] Perturbation parse_perturbation(const std::string& text);

/// Busy processes, one per CPU, while the object lives.
class Competitors {
 public:
  explicit Competitors(const CpuSet& cpus);

 private:
  std::vector<Child> children_;
};

}  // namespace krepro::fidelity
