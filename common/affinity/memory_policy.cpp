// The system calls behind memory_policy.h; libnuma is not needed for three of them.
#include "common/affinity/memory_policy.h"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/host_files.h"

namespace krepro {
namespace {

using NodeWord = unsigned long;
constexpr std::size_t bits_per_word = sizeof(NodeWord) * CHAR_BIT;
/// More nodes than any kernel can be built for (MAX_NUMNODES is 1024).
constexpr std::size_t most_nodes = 4096;

struct ModeName {
  MemoryMode mode;
  const char* name;
  int kernel_mode;
};

constexpr std::array<ModeName, 5> mode_names = {{
    {MemoryMode::standard, "default", MPOL_DEFAULT},
    {MemoryMode::bind, "bind", MPOL_BIND},
    {MemoryMode::interleave, "interleave", MPOL_INTERLEAVE},
    {MemoryMode::preferred, "preferred", MPOL_PREFERRED},
    {MemoryMode::local, "local", MPOL_LOCAL},
}};

const ModeName& name_of(MemoryMode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

bool takes_nodes(MemoryMode mode) {
  return mode != MemoryMode::standard && mode != MemoryMode::local;
}

Error bad_policy(std::string_view text, const std::string& why) {
  return usage_error(fmt::format("\"{}\" is not a memory policy: {}", text, why),
                     "expected for instance bind:0, interleave:0-1, preferred:1, local, default");
}

}  // namespace

MemoryPolicy parse_memory_policy(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string name(text.substr(0, colon));
  const auto* found = std::find_if(mode_names.begin(), mode_names.end(),
                                   [&](const ModeName& each) { return name == each.name; });
  if (found == mode_names.end()) {
    std::vector<std::string> names;
    for (const ModeName& each : mode_names) names.emplace_back(each.name);
    const std::string near = nearest(name, names);
    throw bad_policy(text, near.empty() ? fmt::format("there is no \"{}\"", name)
                                        : fmt::format("did you mean \"{}\"", near));
  }
  MemoryPolicy policy;
  policy.mode = found->mode;
  if (!takes_nodes(policy.mode)) {
    if (colon != std::string_view::npos) throw bad_policy(text, name + " takes no nodes");
    return policy;
  }
  if (colon != std::string_view::npos) policy.nodes = CpuSet::parse(text.substr(colon + 1));
  if (policy.nodes.empty()) throw bad_policy(text, "its nodes are missing");
  if (policy.mode == MemoryMode::preferred && policy.nodes.size() != 1) {
    throw bad_policy(text, "preferred takes one node");
  }
  if (policy.nodes.cpus().back() >= static_cast<int>(most_nodes)) {
    throw bad_policy(text, fmt::format("the largest node number is {}", most_nodes - 1));
  }
  return policy;
}

std::string to_string(const MemoryPolicy& policy) {
  const std::string name = name_of(policy.mode).name;
  return takes_nodes(policy.mode) ? fmt::format("{}:{}", name, policy.nodes.to_string()) : name;
}

void apply_memory_policy(const MemoryPolicy& policy) {
  std::vector<NodeWord> mask(most_nodes / bits_per_word);
  for (const int node : policy.nodes.cpus()) {
    const auto bit = static_cast<std::size_t>(node);
    mask[bit / bits_per_word] |= NodeWord{1} << (bit % bits_per_word);
  }
  // The kernel reads one bit fewer than it is told.
  const bool with_nodes = takes_nodes(policy.mode);
  const long result =
      syscall(SYS_set_mempolicy, name_of(policy.mode).kernel_mode,
              with_nodes ? mask.data() : nullptr, with_nodes ? most_nodes + 1 : std::size_t{0});
  const std::string what = fmt::format("memory policy {}", to_string(policy));
  if (result != 0) {
    const int error = errno;
    if (error == EINVAL) {
      throw not_possible(what + ": a node is not there or not allowed here",
                         "krepro topology shows the nodes");
    }
    if (error == ENOSYS) throw not_possible(what + ": this kernel knows no NUMA (CONFIG_NUMA)");
    throw system_error(what, error, ExitCode::not_possible);
  }
  if (const MemoryPolicy actual = read_memory_policy(); actual != policy) {
    throw not_possible(fmt::format("{}: the kernel has it as {} instead", what, to_string(actual)));
  }
}

MemoryPolicy read_memory_policy() {
  std::vector<NodeWord> mask(most_nodes / bits_per_word);
  int kernel_mode = MPOL_DEFAULT;
  MemoryPolicy policy;
  if (syscall(SYS_get_mempolicy, &kernel_mode, mask.data(), most_nodes + 1, nullptr, 0) != 0) {
    return policy;
  }
  for (const ModeName& each : mode_names) {
    if (each.kernel_mode == (kernel_mode & ~MPOL_MODE_FLAGS)) policy.mode = each.mode;
  }
  if (!takes_nodes(policy.mode)) return policy;
  std::vector<int> nodes;
  for (std::size_t node = 0; node < most_nodes; ++node) {
    if ((mask[node / bits_per_word] >> (node % bits_per_word) & 1U) != 0) {
      nodes.push_back(static_cast<int>(node));
    }
  }
  policy.nodes = CpuSet(std::move(nodes));
  return policy;
}

std::string memory_policy_of(pid_t tid) {
  // "55d0c8a00000 bind:0 file=/usr/bin/cat mapped=2 ...": the first mapping has no policy of its
  // own.
  const HostFiles own;
  const std::string text = own.read(fmt::format("/proc/{}/numa_maps", tid)).value_or("");
  const std::size_t start = text.find(' ');
  if (start == std::string::npos) return "";
  std::string policy = text.substr(start + 1, text.find_first_of(" \n", start + 1) - start - 1);
  if (policy.starts_with("prefer:")) policy = "preferred:" + policy.substr(7);
  return policy;
}

}  // namespace krepro
