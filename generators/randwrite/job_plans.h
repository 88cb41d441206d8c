// From settings to what each worker does: which target, which range of it, how many operations.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "generators/randwrite/job_runner.h"
#include "generators/randwrite/settings.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

/// The targets of all jobs, each checked and laid out once.
class TargetSet {
 public:
  /// Opens them all, or throws.
  TargetSet(const TrialSettings& trial, const HostFiles& host, Frame& frame);

  /// The target of a job's copy.
  [[nodiscard]] Target& of(std::size_t job, unsigned copy);
  [[nodiscard]] std::vector<const TargetFacts*> all() const;

 private:
  std::map<std::pair<std::size_t, unsigned>, std::string> paths_;
  std::map<std::string, std::unique_ptr<Target>> targets_;
};

/// One plan for each copy of each job. Throws a usage error where a job's range does not fit its
/// target, or its blocks do not fit O_DIRECT.
[[nodiscard]] std::vector<JobPlan> make_plans(const TrialSettings& trial, TargetSet& targets,
                                              std::uint64_t seed);

}  // namespace krepro::randwrite
