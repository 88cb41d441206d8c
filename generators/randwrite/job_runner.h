// One job at work. It is made in its worker before the start (file opened, memory filled, ring set
// up), and runs to its end without allocating, locking or throwing.
#pragma once

#include <memory>

#include "common/generator/worker_pool.h"
#include "generators/randwrite/access.h"
#include "generators/randwrite/buffers.h"
#include "generators/randwrite/job_clock.h"
#include "generators/randwrite/job_result.h"
#include "generators/randwrite/script.h"
#include "generators/randwrite/settings.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

/// What one worker is to do.
struct JobPlan {
  const JobSettings* job = nullptr;
  const TargetFacts* target = nullptr;
  OffsetPlan offsets;
  std::uint64_t operations = 0;  ///< Of the whole job; 0: as many as the time allows.
  std::uint64_t range_bytes = 0;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;  ///< The first of the job's streams of random numbers.
  double phase = 0;          ///< Shift of a rate's schedule, so that jobs do not fire together.
  unsigned copy = 0;         ///< Which of the job's copies.
};

/// Random streams that a job uses, from its first on.
inline constexpr std::uint64_t streams_per_job = 8;
inline constexpr std::uint64_t offset_stream = 0;  ///< and the next one for the mix
inline constexpr std::uint64_t buffer_stream = 2;
inline constexpr std::uint64_t pace_stream = 3;  ///< and the next one

/// What both kinds of engines share.
class JobRunner {
 public:
  JobRunner(const JobPlan& plan, JobResult& result, std::size_t buffers);
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;
  virtual ~JobRunner() = default;
  virtual void run(const WorkerContext& context) = 0;

 protected:
  /// Counts a completed data operation. `from_ns`: where its latency begins.
  void count_data(Direction direction, std::int64_t from_ns, std::int64_t end_ns) {
    if (direction == Direction::read) {
      ++result_.reads;
      result_.bytes_read += block_bytes_;
      result_.read.record(end_ns - from_ns);
    } else {
      ++result_.writes;
      result_.bytes_written += block_bytes_;
      result_.write.record(end_ns - from_ns);
    }
  }
  void count_sync(std::int64_t from_ns, std::int64_t end_ns) {
    ++result_.syncs;
    result_.sync.record(end_ns - from_ns);
  }
  void fail(Call call, int error_number, std::uint64_t offset);
  [[nodiscard]] bool failed() const { return result_.failure.call != Call::none; }
  /// Opens the file anew between two loops; false where that failed.
  [[nodiscard]] bool reopen();

  const JobPlan& plan_;
  const JobSettings& job_;
  JobResult& result_;
  std::uint64_t block_bytes_;
  Access access_;
  Buffers buffers_;
  Script script_;
  JobPace pace_;
};

/// The runner of the job's engine. Throws where the engine is not possible here.
[[nodiscard]] std::unique_ptr<JobRunner> make_runner(const JobPlan& plan, JobResult& result);
[[nodiscard]] std::unique_ptr<JobRunner> make_sync_runner(const JobPlan& plan, JobResult& result);
[[nodiscard]] std::unique_ptr<JobRunner> make_ring_runner(const JobPlan& plan, JobResult& result);

/// Throws not_possible, with the cause and the remedy, where io_uring cannot be used as the job
/// wants it. Leaves nothing behind.
void require_io_uring(const JobSettings& job, const HostFiles& host);

}  // namespace krepro::randwrite
