// What the null generator does wrong on purpose, so that the runner's handling of it can be tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/generator/options.h"
#include "common/generator/sample.h"

namespace krepro::null {

class Faults {
 public:
  Faults() = default;
  /// Decides from the seed and the trial's number whether this trial misbehaves ("fault-share",
  /// "fault-trial").
  Faults(const Options& options, std::uint64_t seed);

  [[nodiscard]] bool has(const char* fault) const;
  /// Ignores SIGTERM and SIGINT from here on, where asked.
  void ignore_signals() const;
  /// Sleeps for ever where `fault` is asked for.
  void hang_if(const char* fault) const;
  /// Writes bytes that are no protocol line to the protocol's descriptor, where asked.
  void print_garbage() const;
  /// Turns the sample into a lie, where asked.
  void falsify(Sample& sample) const;

  /// The names that the option takes.
  [[nodiscard]] static std::vector<std::string> names();

 private:
  std::vector<std::string> active_;
};

}  // namespace krepro::null
