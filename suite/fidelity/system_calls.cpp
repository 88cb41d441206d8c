// Counting system calls by tracepoints or strace; see system_calls.h.
#include "suite/fidelity/system_calls.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "common/base/error.h"
#include "common/process/program.h"
#include "suite/counters/perf_events.h"
#include "suite/fidelity/verdict.h"
#include "suite/statistics/summary.h"

namespace krepro::fidelity {

namespace {

constexpr int repetitions_by_tracepoints = 3;
/// strace stops the load at every call, some 20 to 50 us each: its runs are ten times shorter.
constexpr std::int64_t strace_divisor = 10;
/// Calls per operation without a counter of their own, above which the names are looked for anew.
constexpr double unnamed_per_operation_max = 0.001;
/// Counters at once while looking for names: every task of the load carries them all.
constexpr std::size_t discovery_batch = 64;
constexpr const char* unnamed = "(not named)";

RunFigures run_or_throw(const Programs& programs, const RunRequest& request) {
  RunFigures figures = programs.run(request);
  if (!figures.valid()) {
    throw Error(ExitCode::failed,
                fmt::format("{} under the counters: {}", to_string(request.side), figures.problem));
  }
  return figures;
}

CallCounts named_counts(const std::vector<SystemCallName>& names,
                        const std::vector<std::uint64_t>& counts) {
  CallCounts calls;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (counts[i] > 0) calls[names[i].name] = static_cast<double>(counts[i]);
  }
  return calls;
}

}  // namespace

CallCounts parse_strace_summary(const std::string& text) {
  CallCounts calls;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> columns;
    for (std::string word; words >> word;) columns.push_back(word);
    // "% time  seconds  usecs/call  calls  [errors]  syscall", ruled off by dashes, ended by
    // "total".
    if (columns.size() < 5 || columns.size() > 6 || columns.back() == "total") continue;
    if (columns[0].find_first_not_of("0123456789.") != std::string::npos) continue;
    calls[columns.back()] += std::strtod(columns[3].c_str(), nullptr);
  }
  return calls;
}

CallCounts calls_per_operation(const CallCounts& shorter, const CallCounts& longer,
                               double extra_operations) {
  CallCounts result;
  for (const auto& [name, count] : longer) result[name] += count / extra_operations;
  for (const auto& [name, count] : shorter) result[name] -= count / extra_operations;
  return result;
}

CallSpreads spread_of(const std::vector<CallCounts>& repetitions) {
  std::map<std::string, std::vector<double>> values;
  for (const CallCounts& calls : repetitions) {
    for (const auto& [name, count] : calls) values[name];
  }
  CallSpreads spreads;
  for (auto& [name, list] : values) {
    for (const CallCounts& calls : repetitions) {
      const auto found = calls.find(name);
      list.push_back(found == calls.end() ? 0 : found->second);
    }
    const auto [low, high] = std::minmax_element(list.begin(), list.end());
    spreads[name] = {median(list), *low, *high};
  }
  return spreads;
}

std::optional<std::int64_t> scale_of(const OriginalProgram& original, const FidelityRow& row) {
  const std::string& name = original.about().scaling_option;
  const Option* option = name.empty() ? nullptr : original.options().find(name);
  if (option == nullptr) return std::nullopt;
  std::string text = option->default_text;
  for (const auto& [given, value] : row.options) {
    if (original.options().find(given) == option) text = value;
  }
  if (text.empty()) return std::nullopt;
  const OptionValue value = original.options().parse(*option, text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return std::nullopt;
}

ScaledRow scale_row(const OriginalProgram& original, const FidelityRow& row, std::int64_t value) {
  const Option* option = original.options().find(original.about().scaling_option);
  const std::int64_t before = scale_of(original, row).value_or(value);
  OptionTexts options;
  for (const auto& [name, text] : row.options) {
    if (original.options().find(name) != option) options.emplace_back(name, text);
  }
  const char* unit = option->type == OptionType::duration ? "ns" : "";
  options.emplace_back(option->name, fmt::format("{}{}", value, unit));
  return {original.arguments(options),
          row.operations * static_cast<double>(value) / static_cast<double>(before)};
}

SystemCallCounting::SystemCallCounting(const Programs& programs) : programs_(&programs) {
  const auto problem = tracepoint_problem();
  if (!problem) {
    counter_ = CallCounter::tracepoints;
    description_ = "tracepoints";
  } else if (find_program("strace")) {
    counter_ = CallCounter::strace;
    description_ = fmt::format("strace -f -c, since {}", *problem);
  } else {
    description_ = fmt::format("not counted: {}; and strace is not installed", *problem);
  }
}

CallSpreads SystemCallCounting::count(Side side, const FidelityRow& row,
                                      const Conditions& conditions) {
  const OriginalProgram& original = programs_->original();
  const auto scale = scale_of(original, row);
  if (!scale) {
    throw Error(ExitCode::failed, fmt::format("{} declares no option that scales its operations",
                                              original.generator()));
  }
  const bool by_strace = counter_ == CallCounter::strace;
  const std::int64_t half =
      std::max<std::int64_t>(1, *scale / 2 / (by_strace ? strace_divisor : 1));
  const Lengths lengths{scale_row(original, row, half), scale_row(original, row, 2 * half)};
  if (by_strace) {
    return spread_of(count_differences(1, lengths, [&](const ScaledRow& length) {
      return count_by_strace(request_for(side, length, conditions));
    }));
  }
  const auto all = [&](const ScaledRow& length) { return count_all(side, length, conditions); };
  CallSpreads spreads = spread_of(count_differences(1, lengths, all));
  if (spreads[unnamed].median >= unnamed_per_operation_max &&
      discover(side, lengths.shorter, conditions)) {
    spreads = spread_of(count_differences(1, lengths, all));
  }
  std::vector<SystemCallName> frequent;
  for (const SystemCallName& call : names_) {
    const auto found = spreads.find(call.name);
    if (found != spreads.end() && found->second.median >= calls_shown_min) frequent.push_back(call);
  }
  const CallSpreads exact = spread_of(count_differences(
      repetitions_by_tracepoints, lengths,
      [&](const ScaledRow& length) { return count_lightly(side, length, conditions, frequent); }));
  for (const auto& [name, spread] : exact) spreads[name] = spread;
  return spreads;
}

std::vector<CallCounts> SystemCallCounting::count_differences(
    int repetitions, const Lengths& lengths,
    const std::function<Counted(const ScaledRow&)>& count_run) const {
  std::vector<CallCounts> slopes;
  for (int i = 0; i < repetitions; ++i) {
    const Counted small = count_run(lengths.shorter);
    const Counted large = count_run(lengths.longer);
    if (large.operations <= small.operations) {
      throw Error(ExitCode::failed, fmt::format("a greater {} gave no more operations",
                                                programs_->original().about().scaling_option));
    }
    slopes.push_back(
        calls_per_operation(small.calls, large.calls, large.operations - small.operations));
  }
  return slopes;
}

RunRequest SystemCallCounting::request_for(Side side, const ScaledRow& row,
                                           const Conditions& conditions) const {
  RunRequest request;
  request.side = side;
  request.arguments = row.arguments;
  request.operations = row.operations;
  request.conditions = conditions;
  return request;
}

SystemCallCounting::Counted SystemCallCounting::count_all(Side side, const ScaledRow& row,
                                                          const Conditions& conditions) const {
  const RunRequest request = request_for(side, row, conditions);
  std::vector<Tracepoint> tracepoints{{"raw_syscalls:sys_enter", ""}};
  for (const SystemCallName& call : names_) {
    tracepoints.push_back(system_call_tracepoint(call.number));
  }
  const auto counters = TracepointCounters::open(tracepoints);
  const RunFigures figures = run_or_throw(*programs_, request);
  const std::vector<std::uint64_t> counts = counters.read();
  Counted counted{named_counts(names_, {counts.begin() + 1, counts.end()}), figures.operations};
  double rest = static_cast<double>(counts[0]);
  for (const auto& [name, count] : counted.calls) rest -= count;
  if (rest > 0) counted.calls[unnamed] = rest;
  return counted;
}

SystemCallCounting::Counted SystemCallCounting::count_lightly(
    Side side, const ScaledRow& row, const Conditions& conditions,
    const std::vector<SystemCallName>& calls) const {
  std::vector<Tracepoint> tracepoints;
  for (const SystemCallName& call : calls) {
    tracepoints.push_back(light_system_call_tracepoint(call));
  }
  const auto counters = TracepointCounters::open(tracepoints);
  const RunFigures figures = run_or_throw(*programs_, request_for(side, row, conditions));
  return {named_counts(calls, counters.read()), figures.operations};
}

bool SystemCallCounting::discover(Side side, const ScaledRow& row, const Conditions& conditions) {
  const std::vector<SystemCallName>& all = system_call_names();
  const RunRequest request = request_for(side, row, conditions);
  const std::size_t known = names_.size();
  for (std::size_t begin = 0; begin < all.size(); begin += discovery_batch) {
    const std::size_t end = std::min(begin + discovery_batch, all.size());
    std::vector<Tracepoint> tracepoints;
    for (std::size_t i = begin; i < end; ++i) {
      tracepoints.push_back(system_call_tracepoint(all[i].number));
    }
    const auto counters = TracepointCounters::open(tracepoints);
    (void)run_or_throw(*programs_, request);
    const std::vector<std::uint64_t> counts = counters.read();
    for (std::size_t i = begin; i < end; ++i) {
      const bool named = std::any_of(names_.begin(), names_.end(), [&](const auto& call) {
        return call.number == all[i].number;
      });
      if (counts[i - begin] > 0 && !named) names_.push_back(all[i]);
    }
  }
  return names_.size() > known;
}

SystemCallCounting::Counted SystemCallCounting::count_by_strace(RunRequest request) const {
  std::string file = std::filesystem::temp_directory_path() / "krepro-strace-XXXXXX";
  const int descriptor = mkstemp(file.data());
  if (descriptor < 0) throw system_error("mkstemp " + file, errno);
  close(descriptor);
  request.prefix = {"strace", "-f", "-c", "-o", file};
  Counted counted;
  try {
    counted.operations = run_or_throw(*programs_, request).operations;
    std::ifstream input(file);
    std::ostringstream text;
    text << input.rdbuf();
    counted.calls = parse_strace_summary(text.str());
  } catch (...) {
    std::filesystem::remove(file);
    throw;
  }
  std::filesystem::remove(file);
  return counted;
}

}  // namespace krepro::fidelity
