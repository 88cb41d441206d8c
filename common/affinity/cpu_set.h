// Sets of CPUs of any size (machines with more than 1024 CPUs too): parsed, printed, applied to a
// thread and read back. No topology here: suite/placement knows LLCs and nodes.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace krepro {

class CpuSet {
 public:
  CpuSet() = default;
  /// From any order, with duplicates.
  explicit CpuSet(std::vector<int> cpus);
  /// The kernel's list format: "0-3,8,10-11". Throws usage_error on anything else ("1-0", "0,,1",
  /// "x"). Empty text is the empty set.
  [[nodiscard]] static CpuSet parse(std::string_view list);
  /// CPUs that thread `tid` (0: the caller) may run on, as the kernel has it now. The buffer grows
  /// until the kernel accepts it.
  [[nodiscard]] static CpuSet allowed(pid_t tid = 0);

  [[nodiscard]] std::string to_string() const;                          ///< "0-3,8"
  [[nodiscard]] const std::vector<int>& cpus() const { return cpus_; }  ///< Sorted, unique.
  [[nodiscard]] bool empty() const { return cpus_.empty(); }
  [[nodiscard]] std::size_t size() const { return cpus_.size(); }
  [[nodiscard]] bool contains(int cpu) const;
  [[nodiscard]] CpuSet operator&(const CpuSet& other) const;
  [[nodiscard]] CpuSet operator|(const CpuSet& other) const;
  [[nodiscard]] CpuSet operator-(const CpuSet& other) const;
  bool operator==(const CpuSet&) const = default;

  /// Binds thread `tid` (0: the caller) and reads the mask back. Throws usage_error naming the CPUs
  /// that are not there
  /// ("cpus 5: not on this machine or not allowed here; allowed: 0-1"): the kernel accepts a mask
  /// that lies partly outside in silence.
  void apply(pid_t tid = 0) const;

 private:
  std::vector<int> cpus_;
};

}  // namespace krepro
