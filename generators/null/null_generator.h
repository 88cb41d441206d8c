// The null generator: no I/O, a known latency distribution and rate, and faults on request. In
// virtual time it is done at once and its figures follow from the seed alone; in real time it
// measures what the frame itself costs per operation.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "common/generator/generator.h"
#include "common/generator/shared_array.h"
#include "common/generator/worker_pool.h"
#include "common/timing/histogram.h"
#include "generators/null/faults.h"
#include "generators/null/latency_model.h"

namespace krepro::null {

class NullGenerator : public Generator {
 public:
  NullGenerator();
  [[nodiscard]] const Description& description() const override { return description_; }
  void configure(const Options& options, Frame& frame) override;
  void prepare(Frame& frame) override;
  void start() override;
  [[nodiscard]] int done_fd() const override { return pool_->done_fd(); }
  [[nodiscard]] Progress progress() override;
  void stop() override;
  [[nodiscard]] Sample finish() override;

 private:
  static constexpr std::size_t series_seconds = 3600;
  /// What a worker leaves for the parent.
  struct Result {
    Histogram latency;
    std::atomic<std::uint64_t> operations{0};
    std::int64_t end_ns = 0;
    std::array<std::uint64_t, series_seconds> per_second{};
    void count(std::int64_t end_after_ns);
  };
  void run_virtual(const WorkerContext& context);
  void run_real(const WorkerContext& context);
  /// Over the first worker's first latencies: equal for equal seeds.
  [[nodiscard]] std::uint64_t sequence_digest() const;
  void add_metrics(Sample& sample) const;

  Description description_;
  std::optional<Options> options_;
  std::optional<LatencyModel> model_;
  Faults faults_;
  bool virtual_time_ = false;
  std::uint64_t seed_ = 0;
  bool all_threads_ = false;
  std::int64_t start_ns_ = 0;
  std::unique_ptr<SharedArray<Result>> results_;
  std::unique_ptr<WorkerPool> pool_;
};

}  // namespace krepro::null
