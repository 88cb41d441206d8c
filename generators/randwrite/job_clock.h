// The times of one job: when its measured part begins, its seconds, its end, and the schedule of a
// rate. The loops compare one number per operation; the rest happens at the few moments that
// matter.
#pragma once

#include <cstdint>
#include <optional>

#include "common/generator/worker_pool.h"
#include "common/timing/pacer.h"
#include "generators/randwrite/job_result.h"
#include "generators/randwrite/settings.h"

namespace krepro::randwrite {

class JobClock {
 public:
  JobClock(const JobSettings& job, JobResult& result, const std::atomic<bool>* stop);

  /// Sleeps until the job's start, and returns the time.
  std::int64_t begin(std::int64_t trial_start_ns);
  /// Call with the time of each completed operation before it is counted. False: the runtime is
  /// over (the operation still counts).
  bool passes(std::int64_t now_ns) { return now_ns < event_ns_ || handle_event(now_ns); }
  /// Counts one data operation in its second.
  void count() { ++*second_; }
  [[nodiscard]] bool stopped() const { return stop_->load(std::memory_order_relaxed); }
  /// Closes the accounts.
  void finish(std::int64_t now_ns);

  /// Sleeps until `deadline_ns`, in pieces, so that a stop is seen; false where the job is over
  /// before.
  [[nodiscard]] bool sleep_until(std::int64_t deadline_ns);

 private:
  bool handle_event(std::int64_t now_ns);
  void set_next_event();

  const JobSettings* job_;
  JobResult* result_;
  const std::atomic<bool>* stop_;
  bool ramping_ = false;
  std::int64_t event_ns_ = 0;
  std::int64_t second_end_ns_ = 0;
  std::int64_t ramp_end_ns_ = 0;
  std::int64_t end_ns_ = 0;  ///< int64 max: none.
  std::size_t second_index_ = 0;
  std::uint64_t* second_ = nullptr;
  std::uint64_t ramp_operations_ = 0;
  ThreadUsage usage_at_start_;
};

/// The planned starts of a job with a rate, a schedule for each direction.
class JobPace {
 public:
  JobPace(const JobSettings& job, std::uint64_t seed, std::uint64_t stream, double phase);
  void start(std::int64_t start_ns);
  /// Which direction is next, given the mix's choice, and when it is due: the chosen one, unless
  /// it is ahead of its schedule and the other one is not, as fio has it.
  [[nodiscard]] std::int64_t due(Direction& direction, std::int64_t now_ns) const;
  /// That operation is issued.
  void advance(Direction direction);

 private:
  std::optional<Pacer> pacers_[2];
  std::int64_t due_ns_[2] = {0, 0};
  bool mixed_;
};

}  // namespace krepro::randwrite
