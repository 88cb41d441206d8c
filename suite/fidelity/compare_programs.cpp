// Comparing two programs: which rows, in which placements, with what progress and which exit
// status.
#include "suite/fidelity/compare_programs.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/random.h"
#include "suite/execute/interruption.h"
#include "suite/execute/progress_line.h"
#include "suite/fidelity/report.h"
#include "suite/fidelity/row.h"
#include "suite/fidelity/served_row.h"
#include "suite/plan/plan_command.h"

namespace krepro::fidelity {

namespace {

constexpr int exit_differs = 1;
constexpr int exit_unresolved = 125;

/// One row in one placement.
struct Task {
  const FidelityRow* row = nullptr;
  Placement placement = Placement::pinned;
};

bool is_wanted(const FidelityRow& row, const std::vector<std::string>& patterns) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) {
           return fnmatch(pattern.c_str(), row.name.c_str(), 0) == 0;
         });
}

bool is_placed(const FidelityRow& row, Placement placement, const std::string& asked) {
  const std::string name = to_string(placement);
  if (asked != "both" && asked != name) return false;
  return row.placements.empty() ||
         std::find(row.placements.begin(), row.placements.end(), name) != row.placements.end();
}

std::vector<Task> choose_tasks(const Original& original, const FidelityArguments& arguments,
                               const FidelitySettings& settings) {
  if (arguments.placement != "both" && arguments.placement != "pinned" &&
      arguments.placement != "floating") {
    throw usage_error(
        fmt::format("--placement {}: expected pinned, floating or both", arguments.placement));
  }
  const bool no_pinned = settings.perturbation && settings.perturbation->fewer_cpus;
  std::vector<Task> tasks;
  for (const Placement placement : {Placement::pinned, Placement::floating}) {
    if (no_pinned && placement == Placement::pinned) continue;
    for (const FidelityRow& row : original.rows) {
      if (is_wanted(row, arguments.rows) && is_placed(row, placement, arguments.placement)) {
        tasks.push_back({&row, placement});
      }
    }
  }
  if (!tasks.empty()) return tasks;
  if (no_pinned && arguments.placement == "pinned") {
    throw usage_error("--perturb FEWER_CPUS changes nothing for loads pinned to one CPU",
                      "use --placement floating");
  }
  std::string names;
  for (const FidelityRow& row : original.rows) names += "\n        " + row.name;
  throw usage_error(fmt::format("no row matches; {} has{}", arguments.generator,
                                names.empty() ? " none" : ":" + names));
}

FidelitySettings settings_from(const FidelityArguments& arguments) {
  if (arguments.max_rounds < 1) throw usage_error("--max-rounds: at least 1 is needed");
  if (arguments.width && *arguments.width <= 0) throw usage_error("--width: must be above 0");
  FidelitySettings settings;
  settings.half_width = arguments.width;
  settings.max_blocks = static_cast<std::size_t>(arguments.max_rounds);
  settings.max_time_ns = arguments.max_time_ns;
  if (!arguments.perturb.empty()) settings.perturbation = parse_perturbation(arguments.perturb);
  settings.floating_cpus = CpuSet::allowed();
  // The last CPU: the first one often serves interrupts.
  settings.pinned_cpus = CpuSet({settings.floating_cpus.cpus().back()});
  const CpuSet others = settings.floating_cpus - settings.pinned_cpus;
  settings.server_cpus = others.empty() ? settings.pinned_cpus : CpuSet({others.cpus().back()});
  // Short enough to be typed again.
  settings.seed = arguments.seed.value_or(fresh_seed() % 1'000'000);
  return settings;
}

ReportHead describe(const GeneratorInfo& generator, const std::string& machine,
                    const Programs& programs, const RowMeasuring& measuring,
                    const FidelitySettings& settings, const FidelityArguments& arguments) {
  utsname system{};
  uname(&system);
  ReportHead head;
  head.generator = generator.name;
  head.kernel = fmt::format("{} {}", system.release, system.version);
  head.machine = fmt::format("Linux {} {}, {}", system.release, system.machine, machine);
  const Original& about = programs.original().about();
  head.original_program = about.program;
  head.original_path = programs.original().find().value_or(about.program);
  head.original_version = programs.original().version();
  head.original_package = about.package;
  head.ours_path = generator.path;
  head.ours_version = fmt::format(
      "krepro-{}, sources {}", generator.name,
      generator.source_hash.empty() ? "not known" : generator.source_hash.substr(0, 12));
  head.calls_counted_by = measuring.calls().description();
  head.wakeups_counted_by = measuring.wakeups_problem()
                                ? fmt::format("nothing: {}", *measuring.wakeups_problem())
                                : std::string("tracepoint sched:sched_waking");
  head.options = arguments.options;
  head.settings = settings;
  head.about = about;
  return head;
}

void write_json(const std::filesystem::path& path, const nlohmann::json& json) {
  if (path.empty()) return;
  if (path == "-") {
    fmt::print("{}\n", json.dump(1));
    return;
  }
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  file.flush();
  if (!file) throw usage_error(fmt::format("{} cannot be written", path.string()));
}

/// Before hours of measuring, not after them.
void check_writable(const std::filesystem::path& path) {
  if (path.empty() || path == "-") return;
  if (!std::ofstream(path, std::ios::app)) {
    throw usage_error(fmt::format("--json {}: cannot be written", path.string()));
  }
}

int exit_status(const std::vector<RowResult>& rows, bool interrupted) {
  if (interrupted) return static_cast<int>(ExitCode::interrupted);
  std::vector<Verdict> verdicts;
  for (const RowResult& row : rows) verdicts.push_back(row.verdict);
  switch (overall(verdicts)) {
    case Verdict::same:
      return static_cast<int>(ExitCode::ok);
    case Verdict::differs:
      return exit_differs;
    default:
      return exit_unresolved;
  }
}

std::string typed(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

int list_rows(const Programs& programs, const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    const OriginalProgram& original = programs.original();
    const std::vector<std::string> arguments = original.arguments(task.row->options);
    std::vector<std::string> ours = programs.own_arguments();
    ours.insert(ours.end(), arguments.begin(), arguments.end());
    fmt::print("{} ({})\n  {}\n  krepro {} {}\n", task.row->name, to_string(task.placement),
               typed(original.command(arguments)), original.generator(), typed(ours));
  }
  return 0;
}

/// The programs, with what --set says: the original's options in every row, krepro's own for ours.
Programs programs_for(const GeneratorInfo& generator, const std::vector<std::string>& options) {
  OriginalProgram original = OriginalProgram::from_description(generator.described);
  std::vector<std::string> own;
  for (const std::string& text : options) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      throw usage_error(fmt::format("--set {}: expected NAME=VALUE", text));
    }
    const Option* option = original.options().find(name);
    if (option != nullptr && option->origin == Origin::ours) {
      const bool is_flag = option->type == OptionType::flag;
      own.push_back("--" + (is_flag ? name : text));
    } else {
      original.set_in_rows(name, text.substr(equals + 1));
    }
  }
  return {std::move(original), generator.path, std::move(own)};
}

}  // namespace

int compare_programs(const GeneratorInfo& generator, const std::string& machine,
                     const FidelityArguments& arguments) {
  const Programs programs = programs_for(generator, arguments.options);
  const FidelitySettings settings = settings_from(arguments);
  const std::vector<Task> tasks = choose_tasks(programs.original().about(), arguments, settings);
  if (arguments.list) return list_rows(programs, tasks);
  programs.original().require_installed();
  check_writable(arguments.json);

  const Interruption interruption;
  ProgressLine progress(arguments.quiet);
  std::string current;
  const ServedRow* served = nullptr;
  RowMeasuring measuring(programs, settings,
                         {[&] { return interruption.requested(); },
                          [&](const std::string& text) { progress.show(current + text); },
                          [&]() -> std::optional<std::uint64_t> {
                            return served == nullptr ? std::nullopt : served->switches();
                          }});
  const ReportHead head = describe(generator, machine, programs, measuring, settings, arguments);
  const bool as_text = arguments.json != "-";
  if (as_text) fmt::print("{}", head_text(head));

  std::vector<RowResult> rows;
  for (std::size_t i = 0; i < tasks.size() && !interruption.requested(); ++i) {
    const Task& task = tasks[i];
    if (as_text && (i == 0 || task.placement != tasks[i - 1].placement)) {
      progress.clear();
      fmt::print("{}", placement_text(head, task.placement));
      std::fflush(stdout);
    }
    current = fmt::format("[{}/{}] {} {}: ", i + 1, tasks.size(), to_string(task.placement),
                          task.row->name);
    progress.show(current + "warming up");
    const ServedRow server(
        programs, *task.row,
        task.placement == Placement::pinned ? settings.server_cpus : settings.floating_cpus);
    served = &server;
    rows.push_back(measuring.measure_row(server.row(), task.placement));
    served = nullptr;
    progress.clear();
    if (as_text) fmt::print("{}", row_text(rows.back()));
    std::fflush(stdout);
  }
  if (as_text) fmt::print("{}", summary_text(rows));
  write_json(arguments.json, report_json(head, rows));
  return exit_status(rows, interruption.requested());
}

}  // namespace krepro::fidelity
