// What of a series is not in the hot path.
#include "common/timing/series.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace krepro {

void Series::advance(std::int64_t now_ns) {
  const std::int64_t seconds = (now_ns - next_ns_) / one_second_ns + 1;
  next_ns_ += seconds * one_second_ns;
  current_ = std::min(current_ + static_cast<std::size_t>(seconds), slots_.size() - 1);
}

void Series::merge(const Series& other) {
  if (slots_.size() < other.length()) slots_.resize(other.length());
  for (std::size_t i = 0; i < other.length(); ++i) slots_[i] += other.slots_[i];
  current_ = std::max(current_, other.current_);
}

void to_json(nlohmann::json& json, const Series& series) {
  json = nlohmann::json::array();
  for (std::size_t i = 0; i < series.length(); ++i) json.push_back(series.slots()[i]);
}

}  // namespace krepro
