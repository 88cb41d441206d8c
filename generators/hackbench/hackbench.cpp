// The order of one trial: limits, load, read-back, go, end. See hackbench.h.
#include "generators/hackbench/hackbench.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/affinity/cpu_order.h"
#include "common/affinity/cpu_set.h"
#include "common/affinity/memory_policy.h"
#include "common/affinity/scheduling.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "generators/hackbench/description.h"

namespace krepro::hackbench {

namespace {

constexpr const char* load_program = "/hackbench-load";
// What the kernel gives a pipe (sixteen pages of 4 KiB; bigger pages make it bigger).
constexpr std::int64_t usual_pipe_bytes = 65536;
// Between two looks at signals and the control pipe while workers are read back.
constexpr std::size_t workers_per_check = 256;

std::string shrunk_pipe_note(const LoadReport& report) {
  const auto limit = HostFiles::system().read_number("/proc/sys/fs/pipe-user-pages-soft");
  return fmt::format(
      "pipes hold as little as {} instead of {}: this user's pipes are past fs.pipe-user-pages-soft"
      "{}; it is another benchmark than with whole pipes (run as root, or raise the limit)",
      format_bytes(static_cast<double>(report.capacity_min_bytes)),
      format_bytes(static_cast<double>(std::max(report.capacity_max_bytes, usual_pipe_bytes))),
      limit ? fmt::format(" ({} pages)", *limit) : "");
}

}  // namespace

const Description& Hackbench::description() const { return hackbench::description(); }

void Hackbench::configure(const Options& options, Frame& frame) {
  setup_ = setup_from(options);
  list_workers_ = frame.all_threads();
  require_machine(setup_);
}

void Hackbench::prepare(Frame& frame) {
  load_ = std::make_unique<LoadProcess>(frame.program_directory() + load_program,
                                        load_arguments(setup_));
  load_->wait_until_ready([&frame] { frame.check_interrupted(); });
  if (setup_.channel == Channel::pipe && load_->report().capacity_min_bytes < usual_pipe_bytes) {
    frame.note(shrunk_pipe_note(load_->report()));
  }
  read_back(frame);
}

void Hackbench::read_back(Frame& frame) {
  read_back_.clear();
  // All inherited what this process has; without a policy there is nothing to walk mappings for.
  const bool has_memory_policy = read_memory_policy() != MemoryPolicy{};
  for (const WorkerProcess& worker : load_->report().workers) {
    if (!frame.worker_cpus().empty()) {
      const int cpu = cpu_of_worker(frame.worker_cpus(), read_back_.size());
      CpuSet(std::vector<int>{cpu}).apply(worker.id);
    }
    read_back_.push_back({to_string(read_scheduling(worker.id)),
                          CpuSet::allowed(worker.id).to_string(),
                          has_memory_policy ? memory_policy_of(worker.id) : "default"});
    if (read_back_.size() % workers_per_check == 0) {
      frame.check_interrupted();
    }
  }
}

nlohmann::json Hackbench::ready_details() {
  return {{"load_pid", load_->pid()}, {"tasks", load_->report().workers.size()}};
}

void Hackbench::start() {
  started_ns_ = now_ns();
  load_->go();
}

int Hackbench::done_fd() const { return load_->done_fd(); }

Progress Hackbench::progress() {
  return {0, fmt::format("{} tasks, running for {}", format_grouped(setup_.tasks()),
                         format_duration(static_cast<double>(now_ns() - started_ns_)))};
}

void Hackbench::stop() {
  stopped_ = true;
  load_->stop();
}

void Hackbench::add_facts(Sample& sample) const {
  const LoadReport& report = load_->report();
  sample.asked = {{"groups", setup_.groups},
                  {"tasks", setup_.tasks()},
                  {"channels", setup_.channels()},
                  {"messages", setup_.messages()}};
  sample.achieved = {{"tasks", report.workers.size()}, {"messages", sample.operations}};
  sample.threads = thread_groups(report, read_back_);
  sample.extra["sequence"] = sequence_digest(setup_);
  sample.extra["mode"] = setup_.threads ? "threads" : "process";
  sample.extra["channel"] = channel_name(setup_.channel);
  sample.extra["channel_capacity_bytes"] = {{"min", report.capacity_min_bytes},
                                            {"max", report.capacity_max_bytes}};
  if (setup_.threads) {
    sample.extra["thread_stack_bytes"] = report.stack_bytes;
  }
}

Sample Hackbench::finish() {
  const ChildEnd end = load_->read_to_end();
  const std::int64_t ended_ns = now_ns();
  const LoadReport& report = load_->report();
  Sample sample;
  if (report.ended) {
    sample = complete_sample(setup_, report, read_back_, list_workers_);
  } else {
    sample.duration_ns = ended_ns - started_ns_;
    sample.truncated = stopped_;
    if (!stopped_) {
      sample.errors["worker"] = 1;
      sample.error = report.worker_failure ? describe(*report.worker_failure, report)
                     : report.failure
                         ? set_up_error(*report.failure).what()
                         : fmt::format("hackbench-load ended before its end: {}", end.describe());
    }
  }
  add_facts(sample);
  return sample;
}

std::string Hackbench::human_result(const Sample& sample) const {
  return result_text(setup_, sample);
}

}  // namespace krepro::hackbench
