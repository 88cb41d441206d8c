// CPUs in an order that matters: worker 0 on the first, worker 1 on the second, and again from the
// start. Sets without order are cpu_set.h's; which order is compact or spread is decided by
// suite/placement, which knows the topology.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace krepro {

/// "0,48,1-3" -> 0, 48, 1, 2, 3. Numbers as in CpuSet::parse(), in the order given; each at most
/// once. Throws usage_error on anything else, and for an empty text.
[[nodiscard]] std::vector<int> parse_cpu_order(std::string_view text);
/// "0,48,1-3": parse_cpu_order() of it gives the same back.
[[nodiscard]] std::string to_string(const std::vector<int>& order);
/// The CPU of worker number `worker`. `order` is not empty.
[[nodiscard]] int cpu_of_worker(const std::vector<int>& order, std::size_t worker);

}  // namespace krepro
