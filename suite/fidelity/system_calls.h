// System calls by name and operation, of either program: counted in runs that nobody times, once
// with a shorter and once with a longer load. What set-up and tear-down call is the same in both
// and cancels in the difference.
//
// A counter costs the load time, and a client that is nearly as busy as its server then finds more
// at each epoll_wait. So all calls are counted at once only to learn which ones matter; those are
// then counted by their own tracepoints, which disturb least.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/counters/perf_events.h"
#include "suite/fidelity/programs.h"

namespace krepro::fidelity {

/// Calls by name; as counts of one run, or per operation.
using CallCounts = std::map<std::string, double>;

/// What `strace -f -c` wrote: calls by name.
[[nodiscard]] CallCounts parse_strace_summary(const std::string& text);

/// Calls per operation, from two runs: (longer - shorter) / extra operations.
[[nodiscard]] CallCounts calls_per_operation(const CallCounts& shorter, const CallCounts& longer,
                                             double extra_operations);

/// Median, least and most of one call over the repetitions.
struct CallSpread {
  double median = 0;
  double low = 0;
  double high = 0;
};
using CallSpreads = std::map<std::string, CallSpread>;
[[nodiscard]] CallSpreads spread_of(const std::vector<CallCounts>& repetitions);

/// The row's options with its scaling option set to `value` (a plain number, in the option's own
/// unit).
struct ScaledRow {
  std::vector<std::string> arguments;
  double operations = 0;  ///< 0: the program says it.
};
[[nodiscard]] ScaledRow scale_row(const OriginalProgram& original, const FidelityRow& row,
                                  std::int64_t value);
/// The value of the row's scaling option (durations in ns); nothing where the original has none.
[[nodiscard]] std::optional<std::int64_t> scale_of(const OriginalProgram& original,
                                                   const FidelityRow& row);

/// How calls are counted on this machine.
enum class CallCounter : std::uint8_t { tracepoints, strace, none };

class SystemCallCounting {
 public:
  /// Picks the counter: tracepoints where they can be read, else strace, else none.
  explicit SystemCallCounting(const Programs& programs);

  [[nodiscard]] CallCounter counter() const { return counter_; }
  /// "tracepoints", "strace -f -c (tracepoints cannot be read: ...)", or why nothing is counted.
  [[nodiscard]] const std::string& description() const { return description_; }
  /// Calls per operation of one side, over three repetitions (strace: one). Throws an Error
  /// (failed) where a run fails. Call only where counter() is not none.
  [[nodiscard]] CallSpreads count(Side side, const FidelityRow& row, const Conditions& conditions);

 private:
  struct Counted {
    CallCounts calls;
    double operations = 0;
  };
  struct Lengths {
    ScaledRow shorter;
    ScaledRow longer;
  };
  /// Calls per operation, once a repetition.
  [[nodiscard]] std::vector<CallCounts> count_differences(
      int repetitions, const Lengths& lengths,
      const std::function<Counted(const ScaledRow&)>& count_run) const;
  [[nodiscard]] RunRequest request_for(Side side, const ScaledRow& row,
                                       const Conditions& conditions) const;
  /// The calls of `names_` by name, and what remains.
  [[nodiscard]] Counted count_all(Side side, const ScaledRow& row,
                                  const Conditions& conditions) const;
  [[nodiscard]] Counted count_lightly(Side side, const ScaledRow& row, const Conditions& conditions,
                                      const std::vector<SystemCallName>& calls) const;
  [[nodiscard]] Counted count_by_strace(RunRequest request) const;
  /// Finds which calls the row makes, with one counter for every call there is, some at a time,
  /// since every task of the load carries them all; true where some are new. Done only where calls
  /// turn up that have no name yet.
  bool discover(Side side, const ScaledRow& row, const Conditions& conditions);

  const Programs* programs_;
  CallCounter counter_ = CallCounter::none;
  std::string description_;
  std::vector<SystemCallName> names_;  ///< Calls seen so far; only these are counted by name.
};

}  // namespace krepro::fidelity
