// Ordered lists of CPUs as text: see cpu_order.h.
#include "common/affinity/cpu_order.h"

#include <fmt/format.h>

#include <set>

#include "common/affinity/cpu_set.h"
#include "common/base/check.h"
#include "common/base/error.h"

namespace krepro {

std::vector<int> parse_cpu_order(std::string_view text) {
  std::vector<int> order;
  std::set<int> seen;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const CpuSet cpus = CpuSet::parse(part);
    if (cpus.empty()) {
      throw usage_error(fmt::format("\"{}\" is not a list of CPUs: a number is missing", text),
                        "for instance 0,2,1,3");
    }
    for (const int cpu : cpus.cpus()) {
      if (!seen.insert(cpu).second) {
        throw usage_error(fmt::format("\"{}\": CPU {} stands twice", text, cpu));
      }
      order.push_back(cpu);
    }
  }
  return order;
}

std::string to_string(const std::vector<int>& order) {
  std::string text;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && order[last + 1] == order[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == first ? fmt::format("{}", order[first])
                          : fmt::format("{}-{}", order[first], order[last]);
    first = last + 1;
  }
  return text;
}

int cpu_of_worker(const std::vector<int>& order, std::size_t worker) {
  KREPRO_CHECK(!order.empty());
  return order[worker % order.size()];
}

}  // namespace krepro
