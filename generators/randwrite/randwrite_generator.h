// The generator: from options to targets, jobs and workers, and from their results to the sample.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/generator/generator.h"
#include "common/generator/shared_array.h"
#include "common/generator/worker_pool.h"
#include "common/process/descriptor.h"
#include "generators/randwrite/disk_counters.h"
#include "generators/randwrite/file_system.h"
#include "generators/randwrite/job_plans.h"
#include "generators/randwrite/job_result.h"
#include "generators/randwrite/job_runner.h"
#include "generators/randwrite/settings.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

class RandwriteGenerator : public Generator {
 public:
  RandwriteGenerator();
  [[nodiscard]] const Description& description() const override { return description_; }
  void configure(const Options& options, Frame& frame) override;
  void prepare(Frame& frame) override;
  void start() override;
  [[nodiscard]] int done_fd() const override { return done_.get(); }
  [[nodiscard]] Progress progress() override;
  /// fio's first process wakes up as often and asks for each job's end.
  [[nodiscard]] int watch_interval_ms() const override;
  void watch() override;
  void stop() override;
  [[nodiscard]] Sample finish() override;
  [[nodiscard]] std::string human_result(const Sample& sample) const override;

 private:
  void make_workers(Frame& frame);
  void watch_for_the_end();
  /// One line for each worker that is stuck; empty: none.
  [[nodiscard]] std::string describe_stuck() const;
  void settle(Frame& frame);
  void note_rates(Sample& sample) const;

  Description description_;
  TrialSettings trial_;
  std::uint64_t seed_ = 0;
  bool all_threads_ = false;
  std::unique_ptr<TargetSet> targets_;
  std::vector<JobPlan> plans_;
  std::vector<std::unique_ptr<JobRunner>> runners_;  ///< Each made in its worker.
  std::unique_ptr<SharedArray<JobResult>> results_;
  std::unique_ptr<WorkerPool> pool_;  ///< Ends before the targets do: workers use them.
  Descriptor done_;                   ///< The pool's end, or the time when something is stuck.
  Descriptor timer_;
  std::int64_t start_ns_ = 0;
  bool settled_ = true;
  DirtyPages dirty_before_;
  std::vector<DiskCounters> disks_before_;
  std::vector<DiskCounters> disks_;  ///< Differences, after finish().
};

}  // namespace krepro::randwrite
