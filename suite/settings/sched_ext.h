// A sched_ext scheduler for the time of some trials: started as a program of its own, told by the
// kernel's own name and count of enablings, so that one that was ejected (the kernel then goes on
// with its own scheduler, silently) fails the trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/host_files.h"
#include "common/process/child.h"

namespace krepro {

class SchedExt {
 public:
  explicit SchedExt(HostFiles host = HostFiles::system(), std::int64_t limit_ns = 30'000'000'000);

  /// `command`: for a shell ("scx_simple -f"), or "none": the kernel's own scheduler. Ends what
  /// this one started before, and waits until the kernel says that it is enabled. Throws
  /// not_possible with the reason (no CONFIG_SCHED_CLASS_EXT, the program ended, another scheduler
  /// is loaded already).
  void use(const std::string& command);
  /// What has happened to it since use(), one line: "ejected", "another one is loaded"; empty: it
  /// is still the same, enabled once.
  [[nodiscard]] std::string find_change() const;
  /// Ends it; the kernel's own scheduler is back.
  void end();
  /// Name and count as the kernel tells them now: "simple (enabled 3 times)"; "none".
  [[nodiscard]] std::string describe() const;

 private:
  struct State {
    bool enabled = false;
    std::string name;
    std::optional<std::int64_t> enable_count;
  };
  [[nodiscard]] State read() const;
  /// False where the time ran out, or the program ended.
  [[nodiscard]] bool wait_until(bool enabled);
  HostFiles host_;
  std::int64_t limit_ns_;
  std::string command_ = "none";
  std::optional<Child> child_;
  State expected_;
};

}  // namespace krepro
