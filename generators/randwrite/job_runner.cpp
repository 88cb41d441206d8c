// What both kinds of engines share.
#include "generators/randwrite/job_runner.h"

#include <cerrno>

#include "common/base/error.h"

namespace krepro::randwrite {

JobRunner::JobRunner(const JobPlan& plan, JobResult& result, std::size_t buffers)
    : plan_(plan),
      job_(*plan.job),
      result_(result),
      block_bytes_(plan.job->block_bytes),
      access_(*plan.target, *plan.job, plan.offsets.first_byte, plan.range_bytes),
      buffers_(plan.job->buffers, plan.job->block_bytes, buffers, plan.seed,
               plan.stream + buffer_stream),
      script_(*plan.job, plan.offsets, plan.operations, plan.seed, plan.stream + offset_stream),
      pace_(*plan.job, plan.seed, plan.stream + pace_stream, plan.phase) {}

void JobRunner::fail(Call call, int error_number, std::uint64_t offset) {
  if (failed()) return;  // the first one tells why
  result_.failure = {call, error_number, offset};
}

bool JobRunner::reopen() {
  ++result_.passes;
  try {
    access_.reopen();
    return true;
  } catch (const Error&) {
    fail(Call::open, errno, 0);
    return false;
  }
}

std::unique_ptr<JobRunner> make_runner(const JobPlan& plan, JobResult& result) {
  return plan.job->engine == Engine::io_uring ? make_ring_runner(plan, result)
                                              : make_sync_runner(plan, result);
}

}  // namespace krepro::randwrite
