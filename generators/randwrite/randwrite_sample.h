// From the jobs' results to the sample: metrics, latencies, errors by kind, facts.
#pragma once

#include <string>
#include <vector>

#include "common/generator/sample.h"
#include "common/generator/shared_array.h"
#include "generators/randwrite/job_plans.h"
#include "generators/randwrite/job_result.h"

namespace krepro::randwrite {

/// Operations, duration, latencies, series, errors, and the metrics: those only where no job
/// failed, since a rate up to a failure is no result.
void fill_sample(Sample& sample, const std::vector<JobPlan>& plans,
                 const SharedArray<JobResult>& results);
/// "benchmark 2: write at 8192 of /tmp/x: No space left on device"
[[nodiscard]] std::string describe_failure(const JobPlan& plan, const JobFailure& failure);

}  // namespace krepro::randwrite
