// Names of counters, for programs and for people.
#include "suite/counters/counter_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace krepro {
namespace {

using nlohmann::json;
using NameWords = std::pair<std::string_view, std::string_view>;

/// Facts of a reading that count nothing.
constexpr std::array<std::string_view, 4> no_counters = {"version", "layout", "columns",
                                                         "running_share"};
constexpr double tick_ns = 1e7;
constexpr double page_bytes = 4096;

void add_values(const json& object, const std::string& prefix,
                std::map<std::string, double>& values) {
  for (const auto& [name, value] : object.items()) {
    if (std::find(no_counters.begin(), no_counters.end(), name) != no_counters.end()) continue;
    const std::string path = prefix + name;
    if (value.is_object()) {
      add_values(value, path + ".", values);
    } else if (value.is_number() && value.get<double>() != 0) {
      values[path] = value.get<double>();
    }
  }
}

constexpr std::array<NameWords, 20> exact_words = {
    {{"host.context_switches", "context switches"},
     {"host.forks", "forks"},
     {"host.interrupts", "interrupts, all"},
     {"schedstat.cpu.yields", "sched_yield calls"},
     {"schedstat.cpu.schedule_calls", "schedule() calls"},
     {"schedstat.cpu.schedule_to_idle", "schedule() calls that left the CPU idle"},
     {"schedstat.cpu.wakeups", "wake-ups"},
     {"schedstat.cpu.wakeups_local", "wake-ups on the same CPU"},
     {"schedstat.cpu.wakeups_remote", "wake-ups from another CPU"},
     {"schedstat.cpu.run_ns", "time running"},
     {"schedstat.cpu.run_delay_ns", "time runnable and waiting"},
     {"schedstat.cpu.timeslices", "time slices"},
     {"software.migrations", "migrations"},
     {"hardware.cycles", "cycles"},
     {"hardware.instructions", "instructions"},
     {"hardware.cache_misses", "cache misses"},
     {"vmstat.pgfault", "page faults"},
     {"vmstat.pgmajfault", "major page faults"},
     {"network.tcp_retransmits", "tcp retransmits"},
     {"network.tcp_listen_overflows", "tcp listen overflows"}}};

constexpr std::array<NameWords, 3> balance_types = {
    {{"newidle_", "newidle balance"}, {"idle_", "idle balance"}, {"busy_", "busy balance"}}};
constexpr std::array<NameWords, 11> balance_columns = {
    {{"attempts", "calls"},
     {"balanced", "calls that found balance"},
     {"failed", "calls that failed"},
     {"imbalance", "imbalance, sum"},
     {"imbalance_load", "imbalance of load, sum"},
     {"imbalance_util", "imbalance of utilisation, sum"},
     {"imbalance_task", "imbalance of tasks, sum"},
     {"imbalance_misfit", "imbalance of misfits, sum"},
     {"pulled", "pulled tasks"},
     {"pulled_hot", "pulled cache-hot tasks"},
     {"no_busy_queue", "calls without a busy queue"}}};

std::string_view words_for(std::string_view name, const NameWords* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i].first == name) return words[i].second;
  }
  return {};
}

std::string spaced(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// "domain0-SMT.newidle_attempts"
std::string domain_words(std::string_view rest) {
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return spaced(rest);
  std::string_view level = rest.substr(0, dot);
  if (const std::size_t dash = level.find('-'); dash != std::string_view::npos) {
    level = level.substr(dash + 1);
  }
  const std::string_view counter = rest.substr(dot + 1);
  for (const auto& [prefix, type] : balance_types) {
    if (!counter.starts_with(prefix)) continue;
    const std::string_view column = counter.substr(prefix.size());
    const std::string_view known =
        words_for(column, balance_columns.data(), balance_columns.size());
    return fmt::format("{} {} ({})", type, known.empty() ? spaced(column) : std::string(known),
                       level);
  }
  return fmt::format("{} ({})", spaced(counter), level);
}

/// Time and bytes are said by the figure; the words need no unit.
std::string without_unit(std::string name) {
  for (const std::string_view unit : {"_ns", "_bytes"}) {
    if (name.ends_with(unit)) name.resize(name.size() - unit.size());
  }
  return name;
}

struct GroupWords {
  std::string_view prefix;
  std::string_view group;
  std::string_view before;  ///< Before the name's words.
};
constexpr std::array<GroupWords, 15> group_words = {{{"schedstat.", "scheduler", ""},
                                                     {"software.", "scheduler", ""},
                                                     {"host.cpu_", "CPU time", ""},
                                                     {"host.pressure_", "CPU time", "pressure: "},
                                                     {"host.interrupts", "interrupts", ""},
                                                     {"host.", "scheduler", ""},
                                                     {"tasks.", "tasks", ""},
                                                     {"llc_busy.", "CPU time", "busy: CPUs "},
                                                     {"idle.", "idle states", ""},
                                                     {"interrupts.", "interrupts", ""},
                                                     {"softirqs.", "interrupts", "softirq "},
                                                     {"vmstat.", "memory", ""},
                                                     {"disks.", "disks", ""},
                                                     {"network.", "network", ""},
                                                     {"hardware.", "hardware", ""}}};

CounterKind kind_of(const std::string& name) {
  if (name.starts_with("llc_busy.")) return CounterKind::share;
  if (name.ends_with("_ns")) return CounterKind::time;
  return name.ends_with("_bytes") ? CounterKind::bytes : CounterKind::events;
}

}  // namespace

FlatCounters flatten_counters(const json& counters) {
  FlatCounters flat;
  if (!counters.is_object()) return flat;
  for (const auto& [group, value] : counters.items()) {
    if (group == "absent") {
      if (!value.is_object()) continue;
      for (const auto& [name, reason] : value.items()) {
        if (reason.is_string()) flat.absent[name] = reason.get<std::string>();
      }
    } else if (group == "window_ns") {
      if (value.is_number()) flat.seconds = value.get<double>() / 1e9;
    } else if (value.is_object()) {
      add_values(value, group + ".", flat.values);
    }
  }
  return flat;
}

bool is_absent(const FlatCounters& counters, const std::string& name) {
  return std::any_of(counters.absent.begin(), counters.absent.end(), [&](const auto& each) {
    return name == each.first || name.starts_with(each.first + ".") ||
           (each.first == "pressure" && name.starts_with("host.pressure_"));
  });
}

CounterWords counter_words(const std::string& name) {
  CounterWords words;
  words.kind = kind_of(name);
  if (words.kind == CounterKind::bytes) words.quantum = page_bytes;
  if (name.starts_with("host.cpu_")) words.quantum = tick_ns;
  const std::string_view exact = words_for(name, exact_words.data(), exact_words.size());
  for (const GroupWords& each : group_words) {
    if (!name.starts_with(each.prefix)) continue;
    words.group = each.group;
    const std::string_view prefix = each.prefix;
    std::string rest = name.substr(
        prefix.ends_with('.') || prefix.ends_with('_') ? prefix.size() : prefix.find('.'));
    if (rest.starts_with("domains.")) {
      words.text = domain_words(std::string_view(rest).substr(8));
    } else {
      std::string text = spaced(without_unit(rest));
      std::replace(text.begin(), text.end(), '.', ' ');
      words.text = std::string(each.before) + text;
    }
    break;
  }
  if (!exact.empty()) words.text = exact;
  if (words.text.empty()) words.text = name;
  if (words.group.empty()) words.group = "other";
  return words;
}

const std::vector<std::string>& counter_groups() {
  static const std::vector<std::string> groups = {"scheduler",  "tasks",  "CPU time", "idle states",
                                                  "interrupts", "memory", "disks",    "network",
                                                  "hardware",   "other"};
  return groups;
}

}  // namespace krepro
