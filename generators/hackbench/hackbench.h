// The generator: runs one hackbench-load and turns its report into a sample.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/generator/generator.h"
#include "generators/hackbench/load_process.h"
#include "generators/hackbench/sample_of.h"
#include "generators/hackbench/setup.h"

namespace krepro::hackbench {

class Hackbench : public Generator {
 public:
  [[nodiscard]] const Description& description() const override;
  void configure(const Options& options, Frame& frame) override;
  void prepare(Frame& frame) override;
  /// Process id of hackbench-load, and the tasks that wait: {"load_pid": ..., "tasks": ...}.
  [[nodiscard]] nlohmann::json ready_details() override;
  void start() override;
  [[nodiscard]] int done_fd() const override;
  [[nodiscard]] Progress progress() override;
  void stop() override;
  [[nodiscard]] Sample finish() override;
  [[nodiscard]] std::string human_result(const Sample& sample) const override;

 private:
  void read_back(Frame& frame);
  /// What is known of a load whatever its end: counts, workers, capacities.
  void add_facts(Sample& sample) const;

  LoadSetup setup_;
  bool list_workers_ = false;
  std::unique_ptr<LoadProcess> load_;
  std::vector<ReadBack> read_back_;  ///< Of the report's workers, in their order.
  std::int64_t started_ns_ = 0;
  bool stopped_ = false;
};

}  // namespace krepro::hackbench
