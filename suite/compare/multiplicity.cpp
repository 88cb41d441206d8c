#include "suite/compare/multiplicity.h"

#include <algorithm>
#include <numeric>

namespace krepro {
namespace {

std::vector<std::size_t> ascending_order(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t left, std::size_t right) { return p[left] < p[right]; });
  return order;
}

}  // namespace

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending_order(p);
  std::vector<double> adjusted(p.size());
  double smallest = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t row = order[rank - 1];
    smallest =
        std::min(smallest, p[row] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[row] = smallest;
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending_order(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < p.size(); ++rank) {
    const std::size_t row = order[rank];
    largest = std::max(largest, p[row] * static_cast<double>(p.size() - rank));
    adjusted[row] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace krepro
