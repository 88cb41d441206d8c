// Children by /proc/PID/task/TID/children, or by the parents in /proc/PID/stat; see process_tree.h.
#include "common/process/process_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string>

namespace krepro {

namespace {

/// The number that `name` is, nullopt where it is none.
std::optional<pid_t> pid_in(const std::string& name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

pid_t parent_in(const std::string& stat) {
  // "pid (name) state parent ...": the name may hold anything, so from its last parenthesis.
  const std::size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream rest(stat.substr(end_of_name + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

}  // namespace

std::vector<pid_t> ProcessTree::children_of(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const std::string& task : host_->list(tasks)) {
    const auto list = host_->read(fmt::format("{}/{}/children", tasks, task));
    if (!list) {
      // The thread has ended, or no thread has such a file.
      if (!host_->exists(fmt::format("{}/{}/stat", tasks, task))) continue;
      return children_by_parents(pid);
    }
    std::istringstream text(*list);
    for (pid_t child = 0; text >> child;) children.push_back(child);
  }
  return children;
}

const std::vector<pid_t>& ProcessTree::children_by_parents(pid_t parent) {
  if (!by_parent_) {
    by_parent_.emplace();
    for (const std::string& name : host_->list("/proc")) {
      const std::optional<pid_t> pid = pid_in(name);
      if (!pid) continue;
      const auto stat = host_->read("/proc/" + name + "/stat");
      if (stat) (*by_parent_)[parent_in(*stat)].push_back(*pid);
    }
    for (auto& [each, children] : *by_parent_) std::sort(children.begin(), children.end());
  }
  return (*by_parent_)[parent];
}

std::vector<pid_t> children_of(pid_t pid, const HostFiles& host) {
  return ProcessTree(host).children_of(pid);
}

}  // namespace krepro
