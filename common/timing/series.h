// Operations per second of the run, second by second. All slots are made before the run, so that
// counting allocates nothing. Seconds beyond the last slot are counted in the last: no operation is
// lost, and the sum of the slots is the number of operations.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/base/units.h"

namespace krepro {

class Series {
 public:
  /// `seconds`: how many slots are made at once (runtime plus a grace).
  explicit Series(std::size_t seconds) : slots_(seconds == 0 ? 1 : seconds) {}
  void start(std::int64_t start_ns) {
    next_ns_ = start_ns + one_second_ns;
    current_ = 0;
  }
  /// Counts `operations` that ended at `now_ns` (one worker's clock, not going back). Call it with
  /// 0 operations at the end of the run: a worker that was stalled at the end then shows its zeros.
  void add(std::int64_t now_ns, std::uint64_t operations = 1) {
    if (now_ns >= next_ns_) [[unlikely]] {
      advance(now_ns);
    }
    slots_[current_] += operations;
  }
  /// Adds the other's seconds to these; both were started at the same time. Not for the hot path:
  /// the slots grow where the other has more.
  void merge(const Series& other);
  [[nodiscard]] const std::vector<std::uint64_t>& slots() const { return slots_; }
  /// Seconds up to and including the last that was reached; that one is as a rule not a whole one.
  [[nodiscard]] std::size_t length() const { return current_ + 1; }

 private:
  void advance(std::int64_t now_ns);

  std::vector<std::uint64_t> slots_;
  std::int64_t next_ns_ = 0;
  std::size_t current_ = 0;
};

/// A plain array of counts, one per second, length() of them.
void to_json(nlohmann::json& json, const Series& series);

}  // namespace krepro
