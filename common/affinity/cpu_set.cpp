// Sets of CPUs: see cpu_set.h.
#include "common/affinity/cpu_set.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/base/error.h"

namespace krepro {
namespace {

using MaskWord = unsigned long;
constexpr int word_bits = static_cast<int>(sizeof(MaskWord) * CHAR_BIT);
/// 8192 CPUs is the largest that a kernel can be built for today; this is far beyond, and bounds a
/// list's memory.
constexpr int max_cpu = (1 << 20) - 1;

Error bad_list(std::string_view list, std::string_view why) {
  return usage_error(fmt::format("\"{}\" is not a list of CPUs: {}", list, why),
                     "expected numbers and ranges, for instance 0-3,8");
}

/// Takes a number off the front of `text`.
int take_number(std::string_view list, std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text.front() == '-' || error == std::errc::invalid_argument) {
    throw bad_list(list, "a number is missing");
  }
  if (error != std::errc() || number > max_cpu) {
    throw bad_list(list, fmt::format("the largest CPU number is {}", max_cpu));
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

CpuSet from_mask(const std::vector<MaskWord>& mask, std::size_t bytes) {
  std::vector<int> cpus;
  for (std::size_t word = 0; word < bytes / sizeof(MaskWord); ++word) {
    for (int bit = 0; bit < word_bits; ++bit) {
      if ((mask[word] >> bit & 1U) != 0) {
        cpus.push_back(static_cast<int>(word) * word_bits + bit);
      }
    }
  }
  return CpuSet(std::move(cpus));
}

std::vector<MaskWord> to_mask(const CpuSet& set) {
  std::vector<MaskWord> mask(static_cast<std::size_t>(set.cpus().back() / word_bits) + 1);
  for (const int cpu : set.cpus()) {
    mask[static_cast<std::size_t>(cpu / word_bits)] |= MaskWord{1} << (cpu % word_bits);
  }
  return mask;
}

/// 0, or errno.
int set_mask(pid_t tid, const CpuSet& cpus) {
  const std::vector<MaskWord> mask = to_mask(cpus);
  return syscall(SYS_sched_setaffinity, tid, mask.size() * sizeof(MaskWord), mask.data()) == 0
             ? 0
             : errno;
}

/// All that thread `tid` could be given, whatever it is bound to now. The kernel has no question
/// for it, but cuts a full mask down to what is online and in the thread's cpuset: so that is set
/// for an instant.
CpuSet widest(pid_t tid, const CpuSet& now) {
  std::vector<int> every(8192);
  std::iota(every.begin(), every.end(), 0);
  set_mask(tid, CpuSet(std::move(every)));
  CpuSet result = CpuSet::allowed(tid);
  set_mask(tid, now);
  return result;
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  std::sort(cpus_.begin(), cpus_.end());
  cpus_.erase(std::unique(cpus_.begin(), cpus_.end()), cpus_.end());
}

CpuSet CpuSet::parse(std::string_view list) {
  std::vector<int> cpus;
  std::string_view text = list;
  while (!text.empty()) {
    const int first = take_number(list, text);
    int last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(list, text);
    }
    if (last < first) {
      throw bad_list(list, fmt::format("{}-{} runs backwards", first, last));
    }
    for (int cpu = first; cpu <= last; ++cpu) {
      cpus.push_back(cpu);
    }
    if (text.empty()) {
      break;
    }
    if (text.front() != ',' || text.size() == 1) {
      throw bad_list(list, fmt::format("unexpected \"{}\"", text));
    }
    text.remove_prefix(1);
  }
  return CpuSet(std::move(cpus));
}

CpuSet CpuSet::allowed(pid_t tid) {
  // The system call and not libc's wrapper: it returns how many bytes the kernel filled in.
  for (std::size_t words = 1024 / word_bits; words * word_bits <= std::size_t{max_cpu} + 1;
       words *= 2) {
    std::vector<MaskWord> mask(words);
    const long bytes = syscall(SYS_sched_getaffinity, tid, words * sizeof(MaskWord), mask.data());
    if (bytes >= 0) {
      return from_mask(mask, static_cast<std::size_t>(bytes));
    }
    if (errno != EINVAL) {
      break;
    }
  }
  throw system_error(fmt::format("read the CPU affinity of thread {}", tid), errno);
}

std::string CpuSet::to_string() const {
  std::string text;
  for (std::size_t first = 0; first < cpus_.size();) {
    std::size_t last = first;
    while (last + 1 < cpus_.size() && cpus_[last + 1] == cpus_[last] + 1) {
      ++last;
    }
    text += text.empty() ? "" : ",";
    text += last == first ? fmt::format("{}", cpus_[first])
                          : fmt::format("{}-{}", cpus_[first], cpus_[last]);
    first = last + 1;
  }
  return text;
}

bool CpuSet::contains(int cpu) const { return std::binary_search(cpus_.begin(), cpus_.end(), cpu); }

CpuSet CpuSet::operator&(const CpuSet& other) const {
  CpuSet result;
  std::set_intersection(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end(),
                        std::back_inserter(result.cpus_));
  return result;
}

CpuSet CpuSet::operator|(const CpuSet& other) const {
  CpuSet result;
  std::set_union(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end(),
                 std::back_inserter(result.cpus_));
  return result;
}

CpuSet CpuSet::operator-(const CpuSet& other) const {
  CpuSet result;
  std::set_difference(cpus_.begin(), cpus_.end(), other.cpus_.begin(), other.cpus_.end(),
                      std::back_inserter(result.cpus_));
  return result;
}

void CpuSet::apply(pid_t tid) const {
  if (empty()) {
    throw usage_error("no CPUs to run on: the list is empty");
  }
  const CpuSet before = allowed(tid);
  const int error = set_mask(tid, *this);
  if (error != 0 && error != EINVAL) {
    throw system_error(fmt::format("bind thread {} to cpus {}", tid, to_string()), error);
  }
  const CpuSet missing = error == 0 ? *this - allowed(tid) : *this - widest(tid, before);
  if (error == 0 && missing.empty()) {
    return;
  }
  set_mask(tid, before);  // Nothing changes where not all can be had.
  throw usage_error(fmt::format("cpus {}: not on this machine or not allowed here; allowed: {}",
                                missing.empty() ? to_string() : missing.to_string(),
                                widest(tid, before).to_string()));
}

}  // namespace krepro
