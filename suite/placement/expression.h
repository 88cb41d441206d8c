// The wording of a placement as a tree: words with arguments, joined by + (or |), & and -. What the
// words mean on a machine is placement.cpp's business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"

namespace krepro {

enum class PlacementWord : std::uint8_t {
  all,
  rest,
  one_per_core,
  one_per_llc,
  spread_llc,
  llc,
  cluster,
  one_per_cluster,
  kind,
  node,
  package,
  cpus,
  siblings_of
};

struct PlacementExpression {
  char operation = 0;  ///< 0: a word; '+', '&', '-': of `left` and `right`.
  PlacementWord word = PlacementWord::all;
  std::string text;  ///< The word as written, "llc:0,2".
  CpuSet numbers;    ///< "llc:0,2" -> 0,2
  std::vector<PlacementExpression> operands;

  /// Whether `rest` stands anywhere in it.
  [[nodiscard]] bool uses_rest() const;
};

/// Throws usage_error with a suggestion.
[[nodiscard]] PlacementExpression parse_placement(const std::string& text);

}  // namespace krepro
