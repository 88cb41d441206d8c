// Comparing a machine with a profile's [machine].
#include "suite/plan/machine_differences.h"

#include <fmt/format.h>

namespace krepro {

namespace {

class Differences {
 public:
  Differences(const MachineExpectation& expected, const Machine& machine)
      : machine_(machine),
        where_(expected.name.empty() ? "" : fmt::format(" ({})", expected.name)) {}

  void count(std::optional<std::int64_t> expected, std::size_t here, const char* noun) {
    if (!expected || static_cast<std::size_t>(*expected) == here) return;
    const char* plural = *expected == 1 ? "" : "s";
    if (here == 0) {
      lines_.push_back(
          fmt::format("{} {}{} expected{}, unknown here", *expected, noun, plural, where_));
    } else {
      lines_.push_back(
          fmt::format("{} {}{} expected{}, {} here", *expected, noun, plural, where_, here));
    }
  }

  void smt(std::optional<bool> expected) {
    if (!expected || machine_.smt() == *expected) return;
    if (!machine_.has_topology()) {
      lines_.push_back(
          fmt::format("{} expected{}, unknown here", *expected ? "SMT" : "no SMT", where_));
      return;
    }
    lines_.push_back(*expected ? fmt::format("SMT expected{}, none here", where_)
                               : fmt::format("no SMT expected{}, SMT here", where_));
  }

  void architecture(const std::string& expected) {
    if (expected.empty() || expected == machine_.architecture) return;
    lines_.push_back(
        fmt::format("{} expected{}, {} here", expected, where_,
                    machine_.architecture.empty() ? "unknown" : machine_.architecture));
  }

  void allowed() {
    if (machine_.allowed.size() == machine_.online.size()) return;
    lines_.push_back(fmt::format("only {} of {} CPUs may be used here (taskset or cpuset): {}",
                                 machine_.allowed.size(), machine_.online.size(),
                                 machine_.allowed.to_string()));
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const Machine& machine_;
  std::string where_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> machine_differences(const MachineExpectation& expected,
                                             const Machine& machine) {
  Differences differences(expected, machine);
  differences.count(expected.cpus, machine.online.size(), "CPU");
  differences.count(expected.llcs, machine.llcs.size(), "LLC");
  differences.count(expected.cores, machine.cores.size(), "core");
  differences.count(expected.packages, machine.packages.size(), "package");
  differences.count(expected.numa_nodes, machine.nodes.size(), "NUMA node");
  differences.smt(expected.smt);
  differences.architecture(expected.architecture);
  differences.allowed();
  return differences.take();
}

}  // namespace krepro
