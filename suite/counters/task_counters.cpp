// Sums over the tasks of a trial.
#include "suite/counters/task_counters.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/base/kernel_text.h"
#include "common/process/process_tree.h"

namespace krepro {
namespace {

using nlohmann::json;

/// Names of a sample's spreads, and ours.
constexpr std::array<std::pair<const char*, const char*>, 4> spread_names = {
    {{"run_time_ns", "run_ns"},
     {"wait_time_ns", "wait_ns"},
     {"voluntary_switches", "voluntary_switches"},
     {"involuntary_switches", "involuntary_switches"}}};

TaskCounters read_task(const std::string& folder, const HostFiles& host) {
  TaskCounters task;
  const std::string times = host.read_line(folder + "/schedstat").value_or("");
  const std::vector<std::string_view> words = words_of(times);
  if (words.size() >= 3) {
    task.run_ns = number_in(words[0]).value_or(0);
    task.wait_ns = number_in(words[1]).value_or(0);
    task.timeslices = number_in(words[2]).value_or(0);
  }
  const std::string status = host.read(folder + "/status").value_or("");
  task.voluntary_switches = status_number(status, "voluntary_ctxt_switches");
  task.involuntary_switches = status_number(status, "nonvoluntary_ctxt_switches");
  return task;
}

void add_process(int pid, const HostFiles& host, ProcessTree& tree,
                 std::map<int, TaskCounters>& tasks) {
  const std::string folder = fmt::format("/proc/{}/task", pid);
  for (const std::string& name : host.list(folder)) {
    const auto tid = number_in(name);
    if (!tid || tasks.contains(static_cast<int>(*tid))) continue;
    tasks[static_cast<int>(*tid)] = read_task(folder + "/" + name, host);
  }
  for (const pid_t child : tree.children_of(pid)) add_process(child, host, tree, tasks);
}

std::uint64_t since(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

std::map<int, TaskCounters> read_task_tree(int pid, const HostFiles& host) {
  std::map<int, TaskCounters> tasks;
  ProcessTree tree(host);
  add_process(pid, host, tree, tasks);
  return tasks;
}

json task_delta(const std::map<int, TaskCounters>& before,
                const std::map<int, TaskCounters>& after) {
  if (after.empty()) return nullptr;
  TaskCounters sum;
  for (const auto& [tid, task] : after) {
    const auto found = before.find(tid);
    const TaskCounters earlier = found == before.end() ? TaskCounters{} : found->second;
    sum.run_ns += since(earlier.run_ns, task.run_ns);
    sum.wait_ns += since(earlier.wait_ns, task.wait_ns);
    sum.timeslices += since(earlier.timeslices, task.timeslices);
    sum.voluntary_switches += since(earlier.voluntary_switches, task.voluntary_switches);
    sum.involuntary_switches += since(earlier.involuntary_switches, task.involuntary_switches);
  }
  return {{"tasks", after.size()},
          {"run_ns", sum.run_ns},
          {"wait_ns", sum.wait_ns},
          {"timeslices", sum.timeslices},
          {"voluntary_switches", sum.voluntary_switches},
          {"involuntary_switches", sum.involuntary_switches}};
}

json task_sums(const json& sample) {
  const auto threads = sample.is_object() ? sample.find("threads") : sample.end();
  if (!sample.is_object() || threads == sample.end() || !threads->is_array()) return nullptr;
  std::map<std::string, double> sums;
  for (const json& group : *threads) {
    if (!group.is_object()) continue;
    for (const auto& [from, to] : spread_names) {
      const auto spread = group.find(from);
      if (spread == group.end() || !spread->is_object()) continue;
      const auto sum = spread->find("sum");
      if (sum != spread->end() && sum->is_number()) sums[to] += sum->get<double>();
    }
    const auto count = group.find("count");
    if (count != group.end() && count->is_number()) sums["tasks"] += count->get<double>();
  }
  if (sums.empty()) return nullptr;
  json result = json::object();
  for (const auto& [name, sum] : sums) {
    if (sum != 0) result[name] = static_cast<std::int64_t>(sum);
  }
  return result;
}

}  // namespace krepro
