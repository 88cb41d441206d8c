// Reading /proc/PID of servers; see process_accounts.h.
#include "generators/http/process_accounts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <tuple>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/affinity/memory_policy.h"
#include "common/affinity/scheduling.h"
#include "common/base/error.h"
#include "common/process/process_tree.h"

namespace krepro::http {

namespace {

std::string own_stat(std::int64_t pid) { return fmt::format("/proc/{}/stat", pid); }

/// The fields of a stat file behind the name (which may hold blanks): index 0 is the state.
std::vector<std::string> stat_fields(const std::string& text) {
  std::vector<std::string> fields;
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return fields;
  std::istringstream rest(text.substr(end_of_name + 1));
  for (std::string field; rest >> field;) fields.push_back(field);
  return fields;
}

double number(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_thread(const std::string& folder, const HostFiles& host, ProcessAccounts& sum) {
  constexpr std::size_t user_field = 11;
  const std::vector<std::string> fields = stat_fields(host.read(folder + "/stat").value_or(""));
  if (fields.size() > user_field + 1) {
    const double tick_ns = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
    sum.user_ns += number(fields[user_field]) * tick_ns;
    sum.system_ns += number(fields[user_field + 1]) * tick_ns;
  }
  std::istringstream schedstat(host.read(folder + "/schedstat").value_or(""));
  double run_ns = 0;
  if (schedstat >> run_ns) sum.run_ns += run_ns;
  const std::string status = host.read(folder + "/status").value_or("");
  sum.voluntary_switches += status_number(status, "voluntary_ctxt_switches");
  sum.involuntary_switches += status_number(status, "nonvoluntary_ctxt_switches");
}

void add_process(std::int64_t pid, const HostFiles& host, ProcessTree& tree, ProcessAccounts& sum) {
  sum.processes.emplace_back(pid, start_time(pid, host).value_or(0));
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const std::string& task : host.list(tasks)) {
    const std::string folder = tasks + "/" + task;
    add_thread(folder, host, sum);
  }
  for (const pid_t child : tree.children_of(static_cast<pid_t>(pid))) {
    add_process(child, host, tree, sum);
  }
}

/// What one thread counted: voluntary and involuntary switches, run and wait time.
using Counts = std::array<double, 4>;
/// Role, policy, CPUs and memory policy, as read back.
using Kind = std::tuple<std::string, std::string, std::string, std::string>;

void collect_threads(std::int64_t pid, const std::string& own_role, const std::string& role,
                     const HostFiles& host, ProcessTree& tree,
                     std::map<Kind, std::vector<Counts>>& groups) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const std::string& task : host.list(tasks)) {
    const auto tid = static_cast<pid_t>(number(task));
    const std::string status = host.read(fmt::format("{}/{}/status", tasks, task)).value_or("");
    Counts counts{};
    counts[0] = static_cast<double>(status_number(status, "voluntary_ctxt_switches"));
    counts[1] = static_cast<double>(status_number(status, "nonvoluntary_ctxt_switches"));
    std::istringstream schedstat(
        host.read(fmt::format("{}/{}/schedstat", tasks, task)).value_or(""));
    schedstat >> counts[2] >> counts[3];
    try {
      const Kind kind = {own_role, to_string(read_scheduling(tid)),
                         CpuSet::allowed(tid).to_string(), memory_policy_of(tid)};
      groups[kind].push_back(counts);
    } catch (const Error&) {
      // It ended between the list and the question.
    }
  }
  for (const pid_t child : tree.children_of(static_cast<pid_t>(pid))) {
    collect_threads(child, role, role, host, tree, groups);
  }
}

}  // namespace

std::vector<ThreadGroup> read_thread_groups(std::int64_t pid, const std::string& role,
                                            const HostFiles& host) {
  std::map<Kind, std::vector<Counts>> members;
  ProcessTree tree(host);
  collect_threads(pid, "main", role, host, tree, members);
  std::vector<ThreadGroup> groups;
  for (const auto& [kind, threads] : members) {
    ThreadGroup group;
    std::tie(group.role, group.policy, group.cpus, group.memory) = kind;
    group.count = threads.size();
    const auto spread = [&threads = threads](std::size_t figure) {
      return spread_of(threads, [figure](const Counts& counts) { return counts[figure]; });
    };
    group.voluntary_switches = spread(0);
    group.involuntary_switches = spread(1);
    group.run_time_ns = spread(2);
    group.wait_time_ns = spread(3);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<ProcessAccounts> read_accounts(std::int64_t pid, const HostFiles& host) {
  if (!host.exists(own_stat(pid))) return std::nullopt;
  ProcessAccounts sum;
  ProcessTree tree(host);
  add_process(pid, host, tree, sum);
  return sum;
}

std::optional<std::uint64_t> start_time(std::int64_t pid, const HostFiles& host) {
  constexpr std::size_t start_field = 19;
  const std::vector<std::string> fields = stat_fields(host.read(own_stat(pid)).value_or(""));
  if (fields.size() <= start_field) return std::nullopt;
  return static_cast<std::uint64_t>(number(fields[start_field]));
}

std::uint64_t peak_memory_bytes() {
  // In KiB.
  const HostFiles own;
  const std::string text = own.read("/proc/self/status").value_or("");
  return status_number(text, "VmHWM") * 1024;
}

std::string process_fragment(std::int64_t pid, const HostFiles& host) {
  return fmt::format("{}{}.{}", process_key, pid, start_time(pid, host).value_or(0));
}

std::optional<std::int64_t> named_process(const std::string& fragment, const HostFiles& host) {
  if (!fragment.starts_with(process_key)) return std::nullopt;
  std::istringstream text(fragment.substr(process_key.size()));
  std::int64_t pid = 0;
  char dot = 0;
  std::uint64_t started = 0;
  if (!(text >> pid >> dot >> started) || dot != '.') return std::nullopt;
  if (start_time(pid, host) != started) return std::nullopt;
  return pid;
}

}  // namespace krepro::http
