// Sums, spreads and text over what was reported; see sample_of.h.
#include "generators/hackbench/sample_of.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "common/base/units.h"

namespace krepro::hackbench {

namespace {

using UsageOf = std::unordered_map<pid_t, Usage>;

UsageOf usage_by_id(const LoadReport& report) {
  return {report.reaped.begin(), report.reaped.end()};
}

void add(Usage& sum, const Usage& usage) {
  sum.voluntary_switches += usage.voluntary_switches;
  sum.involuntary_switches += usage.involuntary_switches;
  sum.user_us += usage.user_us;
  sum.system_us += usage.system_us;
}

const char* role_of(const WorkerProcess& worker) { return worker.sender ? "sender" : "receiver"; }

nlohmann::json to_json(const Usage& usage) {
  return {{"voluntary_switches", usage.voluntary_switches},
          {"involuntary_switches", usage.involuntary_switches},
          {"user_us", usage.user_us},
          {"system_us", usage.system_us}};
}

/// Sums over the senders, over the receivers, over both; of threads only the last exists.
std::map<std::string, Usage> totals(const LoadReport& report) {
  if (report.process) {
    return {{"process", *report.process}};
  }
  const UsageOf usage = usage_by_id(report);
  std::map<std::string, Usage> result{{"all", {}}, {"receiver", {}}, {"sender", {}}};
  for (const WorkerProcess& worker : report.workers) {
    const auto found = usage.find(worker.id);
    if (found != usage.end()) {
      add(result["all"], found->second);
      add(result[role_of(worker)], found->second);
    }
  }
  return result;
}

nlohmann::json worker_list(const LoadReport& report, const std::vector<ReadBack>& read_back) {
  const UsageOf usage = usage_by_id(report);
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < report.workers.size(); ++i) {
    const WorkerProcess& worker = report.workers[i];
    nlohmann::json entry{{"id", worker.id},           {"role", role_of(worker)},
                         {"group", worker.group},     {"policy", read_back[i].policy},
                         {"cpus", read_back[i].cpus}, {"memory", read_back[i].memory}};
    const auto found = usage.find(worker.id);
    if (found != usage.end()) {
      entry.update(to_json(found->second));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

void fill_metrics(Sample& sample, const Usage& usage) {
  const auto messages = static_cast<double>(sample.operations);
  const double seconds = static_cast<double>(sample.duration_ns) / 1e9;
  const auto switches = static_cast<double>(usage.voluntary_switches + usage.involuntary_switches);
  sample.metrics["seconds"] = {seconds, "s", false, true};
  sample.metrics["messages/s"] = {messages / seconds, "1/s", true, false};
  sample.metrics["switches/message"] = {switches / messages, "1", false, false};
  sample.metrics["user_time/message"] = {static_cast<double>(usage.user_us) * 1e3 / messages, "ns",
                                         false, false};
  sample.metrics["system_time/message"] = {static_cast<double>(usage.system_us) * 1e3 / messages,
                                           "ns", false, false};
}

/// "sender 0.03, receiver 0.02", or nothing where workers are threads.
std::string switches_by_role(const Sample& sample) {
  if (!sample.extra.contains("usage") || !sample.extra.at("usage").contains("sender")) {
    return "";
  }
  std::string text;
  for (const char* role : {"sender", "receiver"}) {
    const nlohmann::json& usage = sample.extra.at("usage").at(role);
    const double switches = usage.at("voluntary_switches").get<double>() +
                            usage.at("involuntary_switches").get<double>();
    text += fmt::format("{}{}s {:.4f}", text.empty() ? "" : ", ", role,
                        switches / static_cast<double>(sample.operations));
  }
  return text;
}

std::string capacity_text(const LoadSetup& setup, const Sample& sample) {
  const bool pipe = setup.channel == Channel::pipe;
  const auto min = sample.extra.at("channel_capacity_bytes").at("min").get<std::int64_t>();
  const auto max = sample.extra.at("channel_capacity_bytes").at("max").get<std::int64_t>();
  const std::string bytes = min == max ? fmt::format("{}", min) : fmt::format("{} to {}", min, max);
  return fmt::format("{} bytes {}", bytes, pipe ? "in each pipe" : "in each socket's send buffer");
}

std::string our_lines(const LoadSetup& setup, const Sample& sample) {
  const auto value = [&](const char* name) { return sample.metrics.at(name).value; };
  const std::string roles = switches_by_role(sample);
  std::string text;
  const auto line = [&text](const char* label, const std::string& shown) {
    text += fmt::format("  {:<18}{}\n", label, shown);
  };
  line("time", fmt::format("{:.9f} s", value("seconds")));
  line("messages", fmt::format("{}, {}", format_grouped(sample.operations),
                               format_value(value("messages/s"), "1/s")));
  line("context switches", fmt::format("{:.4f} per message{}{}", value("switches/message"),
                                       roles.empty() ? "" : ": ", roles));
  line("CPU time", fmt::format("user {:.0f} ns, system {:.0f} ns per message",
                               value("user_time/message"), value("system_time/message")));
  line("capacity", capacity_text(setup, sample));
  for (const ThreadGroup& group : sample.threads) {
    line("workers", fmt::format("{} {}s: policy {}, CPUs {}", group.count, group.role, group.policy,
                                group.cpus));
  }
  return text;
}

}  // namespace

std::vector<ThreadGroup> thread_groups(const LoadReport& report,
                                       const std::vector<ReadBack>& read_back) {
  const UsageOf usage = usage_by_id(report);
  using Kind = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Kind, std::vector<Usage>> by_kind;
  std::map<Kind, std::uint64_t> counts;
  for (std::size_t i = 0; i < report.workers.size() && i < read_back.size(); ++i) {
    const WorkerProcess& worker = report.workers[i];
    const Kind kind = {role_of(worker), read_back[i].policy, read_back[i].cpus,
                       read_back[i].memory};
    ++counts[kind];
    const auto found = usage.find(worker.id);
    if (found != usage.end()) {
      by_kind[kind].push_back(found->second);
    }
  }
  std::vector<ThreadGroup> groups;
  for (const auto& [kind, count] : counts) {
    const std::vector<Usage>& usages = by_kind[kind];
    ThreadGroup group;
    std::tie(group.role, group.policy, group.cpus, group.memory) = kind;
    group.count = count;
    group.voluntary_switches =
        spread_of(usages, [](const Usage& each) { return each.voluntary_switches; });
    group.involuntary_switches =
        spread_of(usages, [](const Usage& each) { return each.involuntary_switches; });
    group.run_time_ns =
        spread_of(usages, [](const Usage& each) { return (each.user_us + each.system_us) * 1000; });
    groups.push_back(std::move(group));
  }
  return groups;
}

Sample complete_sample(const LoadSetup& setup, const LoadReport& report,
                       const std::vector<ReadBack>& read_back, bool list_workers) {
  Sample sample;
  sample.duration_ns = report.elapsed_ns;
  sample.operations = setup.messages();
  const std::map<std::string, Usage> sums = totals(report);
  fill_metrics(sample, report.process ? *report.process : sums.at("all"));
  for (const auto& [name, usage] : sums) {
    sample.extra["usage"][name] = to_json(usage);
  }
  if (list_workers) {
    sample.extra["all_threads"] = worker_list(report, read_back);
  }
  return sample;
}

std::string describe(const WorkerFailure& failure, const LoadReport& report) {
  ChildEnd end;
  end.wait_status = failure.wait_status;
  const auto worker =
      std::find_if(report.workers.begin(), report.workers.end(),
                   [&](const WorkerProcess& each) { return each.id == failure.id; });
  const std::string who = worker == report.workers.end()
                              ? "a worker"
                              : fmt::format("a {} of group {}", role_of(*worker), worker->group);
  return fmt::format("{} (pid {}) ended before its work was done: {}", who, failure.id,
                     end.describe());
}

std::string result_text(const LoadSetup& setup, const Sample& sample) {
  std::string text = fmt::format(
      "Running in {} mode with {} groups using {} file descriptors each (== {} tasks)\n"
      "Each sender will pass {} messages of {} bytes\n",
      setup.threads ? "threaded" : "process", setup.groups, 2 * setup.fds, setup.tasks(),
      setup.loops, setup.datasize_bytes);
  if (sample.metrics.contains("seconds")) {
    text += fmt::format("Time: {:.3f}\n\n", sample.metrics.at("seconds").value);
    text += our_lines(setup, sample);
  } else {
    text += fmt::format("No measurement: {}\n",
                        sample.truncated ? "stopped before its end" : "the load failed");
  }
  for (const std::string& note : sample.notes) {
    text += fmt::format("  note: {}\n", note);
  }
  return text;
}

}  // namespace krepro::hackbench
