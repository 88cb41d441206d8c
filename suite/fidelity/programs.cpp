// Running the original and ours alike; see programs.h.
#include "suite/fidelity/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/process/child.h"
#include "suite/execute/sample_check.h"

namespace krepro::fidelity {

namespace {

/// A run that takes longer hangs: rows are made to take seconds.
constexpr std::int64_t run_timeout_ns = 900'000'000'000;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// The last line of what a program printed, for a problem of one line.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t newline = text.rfind('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, std::min<std::size_t>(end - begin + 1, 120));
}

std::string failure_of(const CommandOutput& output) {
  if (output.timed_out) {
    return fmt::format("did not end within {} s", run_timeout_ns / 1'000'000'000);
  }
  if (output.end.exited() && output.end.exit_code() == 0) return {};
  std::string said = last_line(output.err.empty() ? output.out : output.err);
  const nlohmann::json sample = nlohmann::json::parse(said, nullptr, false);
  if (sample.is_object()) said = find_declared_failure(sample);
  return output.end.describe() + (said.empty() ? "" : ": " + said);
}

void read_usage(const ChildEnd& end, RunFigures& figures) {
  figures.elapsed_s = static_cast<double>(end.elapsed_ns) * 1e-9;
  figures.user_s = seconds(end.usage.ru_utime);
  figures.system_s = seconds(end.usage.ru_stime);
  figures.voluntary_switches = static_cast<std::uint64_t>(end.usage.ru_nvcsw);
  figures.involuntary_switches = static_cast<std::uint64_t>(end.usage.ru_nivcsw);
}

void read_printed_sample(const std::string& text, RunFigures& figures) {
  const nlohmann::json sample = nlohmann::json::parse(text, nullptr, false);
  if (!sample.is_object()) {
    figures.problem = "printed no sample, as --json - told it to";
    return;
  }
  read_sample(sample, figures);
}

/// Settles the operations of a run by what the row and the program say; they must agree.
void settle_operations(const RunRequest& request, RunFigures& figures) {
  const auto said = figures.metrics.find("operations");
  if (figures.operations == 0 && said != figures.metrics.end()) figures.operations = said->second;
  if (request.operations > 0) {
    if (figures.operations > 0 && figures.operations != request.operations) {
      figures.problem = fmt::format("made {:.0f} operations, the row says {:.0f}",
                                    figures.operations, request.operations);
    }
    figures.operations = request.operations;
  }
  if (figures.operations <= 0) figures.problem = "does not say how many operations it made";
}

void check_primary(const std::string& primary, RunFigures& figures) {
  const auto found = figures.metrics.find(primary);
  if (found == figures.metrics.end()) {
    figures.problem = fmt::format("does not give {}", primary);
  } else if (!(found->second > 0)) {
    figures.problem =
        fmt::format("gives {} of {}: too short a run to compare", primary, found->second);
  }
}

}  // namespace

double RunFigures::switches_per_operation() const {
  return static_cast<double>(voluntary_switches + involuntary_switches) / operations;
}

nlohmann::json to_json(const RunFigures& figures) {
  nlohmann::json json = {{"side", to_string(figures.side)},
                         {"metrics", figures.metrics},
                         {"operations", figures.operations},
                         {"elapsed_s", figures.elapsed_s},
                         {"user_s", figures.user_s},
                         {"system_s", figures.system_s},
                         {"voluntary_switches", figures.voluntary_switches},
                         {"involuntary_switches", figures.involuntary_switches}};
  if (figures.side == Side::ours) json["seed"] = figures.seed;
  if (!figures.valid()) json["problem"] = figures.problem;
  return json;
}

void read_sample(const nlohmann::json& sample, RunFigures& figures) {
  try {
    figures.operations = sample.at("operations").get<double>();
    for (const auto& [name, metric] : sample.at("metrics").items()) {
      figures.metrics[name] = metric.at("value").get<double>();
    }
    if (sample.value("truncated", false)) figures.problem = "its sample is truncated";
    const std::string error = sample.value("error", "");
    if (!error.empty()) figures.problem = error;
  } catch (const nlohmann::json::exception& error) {
    figures.problem = fmt::format("its sample cannot be read: {}", error.what());
  }
}

std::vector<std::string> Programs::command(const RunRequest& request) const {
  std::vector<std::string> argv = request.prefix;
  std::vector<std::string> program;
  if (request.side == Side::original) {
    program = original_.command(request.arguments);
  } else {
    program = {ours_, "--json", "-", "--seed", fmt::format("{}", request.seed)};
    program.insert(program.end(), own_arguments_.begin(), own_arguments_.end());
    program.insert(program.end(), request.arguments.begin(), request.arguments.end());
  }
  argv.insert(argv.end(), program.begin(), program.end());
  return argv;
}

RunFigures Programs::run(const RunRequest& request) const {
  SpawnRequest spawn;
  spawn.argv = command(request);
  spawn.cpus = request.conditions.cpus;
  spawn.scheduling = request.conditions.scheduling;
  spawn.pipe_stdin = false;
  RunFigures figures;
  figures.side = request.side;
  figures.seed = request.seed;
  try {
    const CommandOutput output = run_command(spawn, run_timeout_ns);
    read_usage(output.end, figures);
    figures.problem = failure_of(output);
    if (!figures.valid()) return figures;
    if (request.side == Side::ours) {
      read_printed_sample(output.out, figures);
    } else {
      figures.metrics = original_.read_figures(output.out);
    }
    if (figures.valid()) settle_operations(request, figures);
    if (figures.valid()) check_primary(original_.primary().name, figures);
  } catch (const Error& error) {
    if (error.code() != ExitCode::failed) throw;
    figures.problem = error.what();
  }
  return figures;
}

}  // namespace krepro::fidelity
