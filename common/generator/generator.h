// The frame of a generator's main(): command line or control protocol, signals, progress, the
// sample's way out. A generator implements this interface and calls generator_main(); see
// generators/null for the smallest one.
//
// Order of calls in one process: configure, prepare, start, (progress)*, [stop], finish. The
// frame's thread runs only an event loop on the control pipe, signals and done_fd(); load runs in
// workers (threads, or processes forked in prepare() while the process is still single-threaded).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/generator/description.h"
#include "common/generator/options.h"
#include "common/generator/sample.h"

namespace krepro {

enum class Role : std::uint8_t { load, serve };

/// What a generator may ask of the frame while it prepares.
class Frame {
 public:
  virtual ~Frame() = default;
  [[nodiscard]] virtual Role role() const = 0;
  [[nodiscard]] virtual std::uint64_t seed() const = 0;
  /// The seed was given by the user; otherwise seed() is a fresh one.
  [[nodiscard]] virtual bool seed_given() const { return true; }
  /// Puts another seed in the place of a fresh one, for originals that repeat themselves unless
  /// they are told not to; it is the one that the sample records.
  virtual void use_seed(std::uint64_t /*seed*/) {}
  /// The endpoint of the server that a load is to use; empty for generators without one.
  [[nodiscard]] virtual const std::string& server() const = 0;
  /// The sample is to list every thread, not only the groups.
  [[nodiscard]] virtual bool all_threads() const = 0;
  /// Worker i is to run on the i-th of these CPUs alone, and again from the start; empty: workers
  /// float. WorkerPool does it by itself; a generator with workers of another kind binds them
  /// before `ready`.
  [[nodiscard]] virtual const std::vector<int>& worker_cpus() const {
    static const std::vector<int> none;
    return none;
  }
  /// Looks at signals and the control pipe; throws an Error with ExitCode::interrupted when the
  /// trial must end. Call it at least every 100 ms of preparing.
  virtual void check_interrupted() = 0;
  /// A remark for the user: on stderr by hand, in the sample's notes always.
  virtual void note(const std::string& text) = 0;
  /// Directory of the running program, to find companions.
  [[nodiscard]] virtual const std::string& program_directory() const = 0;
};

struct Progress {
  std::uint64_t operations = 0;  ///< So far; 0 where it cannot be known without changing the load.
  std::string text;              ///< "1.2 M messages/s"; may be empty
};

class Generator {
 public:
  virtual ~Generator() = default;
  [[nodiscard]] virtual const Description& description() const = 0;
  /// Checks the options against each other and the machine's limits, before anything is made.
  virtual void configure(const Options& options, Frame& frame) = 0;
  /// Everything before `go`: files laid out, connections open, workers parked and their policy and
  /// CPUs read back.
  virtual void prepare(Frame& frame) = 0;
  /// What `ready` carries beside the event name (serve: {"endpoint": ...}).
  [[nodiscard]] virtual nlohmann::json ready_details() { return nlohmann::json::object(); }
  /// Releases the workers and returns at once.
  virtual void start() = 0;
  /// Readable when the load has ended by itself.
  [[nodiscard]] virtual int done_fd() const = 0;
  /// Called about once a second only when somebody looks (terminal or control); must not disturb
  /// the workers.
  [[nodiscard]] virtual Progress progress() { return {}; }
  /// Milliseconds between calls of watch() while the load runs, for originals whose first process
  /// wakes up to look at its jobs: that wakes a CPU, and is a part of their load. 0: never.
  [[nodiscard]] virtual int watch_interval_ms() const { return 0; }
  virtual void watch() {}
  /// Asks the load to end soon; may be called more than once. done_fd() becomes readable soon
  /// after.
  virtual void stop() = 0;
  /// After done: collects, reaps, and returns the sample (operations, errors, metrics, latency
  /// ...). The frame fills in generator, seed, options, notes and frame.
  [[nodiscard]] virtual Sample finish() = 0;
  /// The human-readable result for stdout; by default metrics, latencies and notes in a table.
  [[nodiscard]] virtual std::string human_result(const Sample& sample) const;
};

/// Runs the program and returns its exit status. `source_hash`: KREPRO_SOURCE_HASH of the generated
/// "source_hash.h", the hash of the sources that shape the load.
int generator_main(Generator& generator, int argc, char** argv, std::string_view source_hash);

}  // namespace krepro
