// The workers of a load: threads, or processes forked while the program is still single-threaded.
// Each sets itself up, has its policy and CPUs applied and read back, parks, is released with all
// others at one moment, and leaves its own accounts when it ends.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/affinity/scheduling.h"
#include "common/generator/generator.h"
#include "common/generator/sample.h"
#include "common/generator/shared_array.h"

namespace krepro {

enum class WorkerKind : std::uint8_t { threads, processes };

struct WorkerPlan {
  WorkerKind kind = WorkerKind::threads;
  std::size_t count = 1;
  std::string role = "worker";
  std::vector<CpuSet> cpus;  ///< Empty: as inherited; one: all share it; else one per worker.
  std::optional<Scheduling> scheduling;  ///< Applied by each worker to itself.
};

/// What a worker's loop gets.
struct WorkerContext {
  std::size_t index = 0;
  std::int64_t start_ns = 0;                ///< The common start.
  const std::atomic<bool>* stop = nullptr;  ///< Look at it once per operation: a plain load.
  [[nodiscard]] bool stopped() const { return stop->load(std::memory_order_relaxed); }
};

class WorkerPool {
 public:
  /// `setup` runs in the worker before it parks (may be empty); `body` after the start. An Error
  /// thrown by setup is thrown by park(); what body throws is an internal error: operations that
  /// fail are counted in the results instead.
  WorkerPool(WorkerPlan plan, std::function<void(std::size_t)> setup,
             std::function<void(const WorkerContext&)> body);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  ///< Ends what still runs.

  /// Creates the workers and waits until all are parked. Calls frame.check_interrupted() while it
  /// waits.
  void park(Frame& frame);
  /// Releases all at once; `start_ns` is the common start.
  void start(std::int64_t start_ns);
  void request_stop();
  /// Becomes readable when the last worker has ended, however it ended.
  [[nodiscard]] int done_fd() const { return done_read_; }
  /// Reaps all; call after done_fd() is readable. Returns what went wrong with workers ("worker 3
  /// was killed by signal 9"), empty when nothing.
  [[nodiscard]] std::string join();
  /// The workers grouped by policy and CPU set as read back; after join().
  [[nodiscard]] std::vector<ThreadGroup> groups() const;
  /// Every worker on its own; for --all-threads.
  [[nodiscard]] nlohmann::json all_threads() const;
  /// Workers that have not ended their body yet, to name those that hang.
  struct Unfinished {
    std::size_t index = 0;
    pid_t tid = 0;
  };
  [[nodiscard]] std::vector<Unfinished> unfinished() const;
  /// CPU time and context switches of all workers; after join().
  struct Usage {
    double user_ns = 0;
    double system_ns = 0;
    std::uint64_t voluntary_switches = 0;
    std::uint64_t involuntary_switches = 0;
  };
  [[nodiscard]] Usage usage() const;

 private:
  struct Shared;
  struct Account;
  void run_worker(std::size_t index);
  void set_up_worker(std::size_t index);
  /// Frame::worker_cpus() as CPUs of the plan. Throws usage_error where the plan has some.
  void take_pinning(const std::vector<int>& order);
  void create_processes();
  void create_threads();
  void end_all();

  WorkerPlan plan_;
  std::function<void(std::size_t)> setup_;
  std::function<void(const WorkerContext&)> body_;
  std::unique_ptr<SharedArray<Shared>> shared_;
  std::unique_ptr<SharedArray<Account>> accounts_;
  std::vector<pid_t> processes_;
  std::vector<std::thread> threads_;
  std::string failure_;
  int done_read_ = -1;
  int done_write_ = -1;
};

}  // namespace krepro
