// Operations per second of the run, second by second. All slots are made before the run, so that
// counting allocates nothing. Seconds beyond the last slot are counted in the last.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace krepro {

class Series {
 public:
  /// `seconds`: how many slots are made at once (runtime plus a grace).
  explicit Series(std::size_t seconds) : slots_(seconds == 0 ? 1 : seconds) {}
  void start(std::int64_t start_ns) {
    next_ns_ = start_ns + one_second_ns;
    current_ = 0;
  }
  /// Counts `operations` that ended at `now_ns` (one worker's clock, not going back).
  void add(std::int64_t now_ns, std::uint64_t operations = 1) {
    while (now_ns >= next_ns_) [[unlikely]] {
        next_ns_ += one_second_ns;
        if (current_ + 1 < slots_.size()) ++current_;
      }
    slots_[current_] += operations;
  }
  /// Adds the other's seconds to these.
  void merge(const Series& other);
  [[nodiscard]] const std::vector<std::uint64_t>& slots() const { return slots_; }
  /// Seconds up to and including the last that was reached.
  [[nodiscard]] std::size_t length() const { return current_ + 1; }

 private:
  static constexpr std::int64_t one_second_ns = 1'000'000'000;
  std::vector<std::uint64_t> slots_;
  std::int64_t next_ns_ = 0;
  std::size_t current_ = 0;
};

/// A plain array of counts, one per second.
void to_json(nlohmann::json& json, const Series& series);

}  // namespace krepro
