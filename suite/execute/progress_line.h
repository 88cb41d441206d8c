// Progress on stderr: one line, rewritten in place on a terminal, nothing elsewhere. Results never
// go this way.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "suite/plan/plan.h"

namespace krepro {

class ProgressLine {
 public:
  /// Nothing is shown where `quiet`, where stderr is no terminal, or where TERM is "dumb" or unset.
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool shown() const { return shown_; }
  /// Replaces the line, cut to the terminal's width.
  void show(const std::string& text);
  void clear();

 private:
  bool shown_ = false;
  bool drawn_ = false;
};

/// How long the rest of a plan will take, learned from the trials that ran.
class TimeLeft {
 public:
  explicit TimeLeft(const Plan& plan) : plan_(plan) {}
  /// A trial of benchmark `benchmark` took `seconds`.
  void learn(std::size_t benchmark, double seconds);
  /// Of the trials `pending` (indices into Plan::trials); negative where nothing is known yet.
  [[nodiscard]] double estimate_seconds(const std::vector<std::size_t>& pending) const;

 private:
  struct Known {
    double seconds = 0;
    int count = 0;
  };
  const Plan& plan_;
  std::map<std::size_t, Known> known_;
};

}  // namespace krepro
