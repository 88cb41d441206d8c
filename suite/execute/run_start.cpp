// How a run begins: every check, the file, and the list of trials to run.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "common/base/error.h"
#include "common/base/random.h"
#include "suite/doctor/doctor_command.h"
#include "suite/doctor/host_facts.h"
#include "suite/environment/environment.h"
#include "suite/execute/observer.h"
#include "suite/execute/resume_check.h"
#include "suite/execute/run_session.h"
#include "suite/plan/machine_differences.h"
#include "suite/record/run_lines.h"
#include "suite/report/output.h"
#include "suite/report/summary_table.h"

namespace krepro {
namespace {

using nlohmann::json;

constexpr std::int64_t most_simulated_boots = 1000;
constexpr std::size_t longest_label = 100;
/// Whole numbers up to here survive any reader of JSON.
constexpr std::uint64_t exact_in_json = (std::uint64_t{1} << 53U) - 1;

std::string machine_line(const Machine& machine, const json& environment) {
  std::string line = summary(machine);
  const json kind = environment_value(environment, "virtualisation.kind");
  if (kind.is_string() && kind != "none seen") line += ", " + kind.get<std::string>();
  return line;
}

/// Labels stand for kernels: their simulated boots must differ, and come out the same again.
std::uint64_t simulation_of(std::uint64_t seed, const std::string& label) {
  std::uint64_t hash = seed;
  for (const char letter : label) {
    hash = RandomStream(hash, static_cast<unsigned char>(letter)).next();
  }
  return hash & exact_in_json;
}

void check_label(const std::string& label) {
  if (label.empty()) throw usage_error("the label is empty", "give one: --label NAME");
  const bool printable = std::all_of(label.begin(), label.end(),
                                     [](char letter) { return letter > 0x20 && letter < 0x7f; });
  if (!printable || label.size() > longest_label) {
    throw usage_error(fmt::format("\"{}\" is not a label", label),
                      "a label is up to 100 printable ASCII characters without spaces");
  }
}

/// The first line of a file as JSON; null where it is not JSON.
json first_line_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string line;
  std::getline(stream, line);
  json parsed = json::parse(line, nullptr, false);
  return parsed.is_object() ? parsed : json();
}

/// Two kernels under one label would be averaged by whoever reads the directory.
void check_label_is_of_one_kernel(const std::filesystem::path& directory, const std::string& label,
                                  const json& kernel) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".jsonl" || !entry.is_regular_file(error)) continue;
    const json run = first_line_of(entry.path());
    if (!run.is_object() || run.value("type", "") != "run" || run.value("label", "") != label ||
        run.value("simulated", false)) {
      continue;
    }
    const json other = run.value("kernel", json::object());
    if (other.value("build_id", "") == kernel.value("build_id", "")) continue;
    throw usage_error(
        fmt::format("label \"{}\" is taken by another kernel: {} was written by build {:.12}, this "
                    "one is {:.12}",
                    label, entry.path().string(), other.value("build_id", ""),
                    kernel.value("build_id", "")),
        "give this kernel a label of its own: --label NAME");
  }
}

/// --runtime: every option that means the runtime.
void replace_runtime(Plan& plan, const Catalog& catalog, const std::string& text) {
  bool any = false;
  for (Benchmark& benchmark : plan.benchmarks) {
    const GeneratorInfo* generator = catalog.find(benchmark.generator);
    if (generator == nullptr) continue;
    for (const Option& option : generator->options.options()) {
      if (option.means != Meaning::runtime) continue;
      const OptionValue value = generator->options.parse(option, text);
      for (auto it = benchmark.options.begin(); it != benchmark.options.end();) {
        it = generator->options.find(it.key()) == &option ? benchmark.options.erase(it)
                                                          : std::next(it);
      }
      benchmark.options[option.name] = text;
      benchmark.expected_seconds = static_cast<double>(std::get<std::int64_t>(value)) / 1e9;
      any = true;
    }
  }
  if (!any) {
    throw usage_error("--runtime: no benchmark of this profile has a runtime",
                      "their length is set by counts: see krepro plan PROFILE");
  }
}

void check_simulation(const RunArguments& arguments, const Plan& plan) {
  if (!arguments.simulated_boots) return;
  if (*arguments.simulated_boots < 1 || *arguments.simulated_boots > most_simulated_boots) {
    throw usage_error(fmt::format("--simulate-boots: {} is not between 1 and {}",
                                  *arguments.simulated_boots, most_simulated_boots));
  }
  for (const Benchmark& benchmark : plan.benchmarks) {
    if (benchmark.generator == "null") continue;
    throw usage_error(
        fmt::format("--simulate-boots: benchmark \"{}\" uses generator {}; boots can "
                    "be simulated for the null generator only",
                    benchmark.name, benchmark.generator));
  }
}

Plan plan_of(const RunArguments& arguments, const PlanSettings& settings, PreparedPlan& prepared) {
  prepared = prepare_plan(arguments.profile, settings);
  Plan plan = prepared.plan;
  if (!arguments.runtime.empty()) replace_runtime(plan, prepared.catalog, arguments.runtime);
  check_simulation(arguments, plan);
  return plan;
}

json settings_json(const RunArguments& arguments) {
  const PlanSettings& settings = arguments.settings;
  json result = {{"set", settings.parameters},
                 {"only", settings.only},
                 {"fit", settings.fit},
                 {"order", to_string(settings.order)}};
  if (settings.repetitions) result["repetitions"] = *settings.repetitions;
  if (settings.warmups) result["warmups"] = *settings.warmups;
  if (!arguments.runtime.empty()) result["runtime"] = arguments.runtime;
  if (arguments.apply_settings) result["apply_settings"] = true;
  if (!arguments.groups) result["cgroups"] = "none";
  return result;
}

RunFileWriter create_file(const RunArguments& arguments, const std::string& label) {
  return arguments.out.empty() ? RunFileWriter::create_named(default_results_directory, label)
                               : RunFileWriter::create(arguments.out);
}

std::filesystem::path directory_of(const RunArguments& arguments) {
  if (arguments.out.empty()) return default_results_directory;
  return arguments.out.has_parent_path() ? arguments.out.parent_path() : ".";
}

/// Which trials are still to run: all but those recorded with a result that stands. A truncated one
/// has none.
void find_pending(RunSession& session, const RunFile* file) {
  std::set<std::pair<std::string, std::size_t>> done;
  if (file != nullptr) {
    for (const RecordedTrial* trial : file->final_trials()) {
      if (trial->status == "truncated") continue;
      done.emplace(file->simulated ? trial->boot_id : "", trial->order);
    }
  }
  const std::int64_t first = session.simulated_boots ? 1 : 0;
  const std::int64_t last = session.simulated_boots.value_or(0);
  for (std::int64_t boot = first; boot <= last; ++boot) {
    const std::string id = session.simulated_boots ? boot_id_of(session, boot) : "";
    for (std::size_t i = 0; i < session.plan.trials.size(); ++i) {
      if (!done.contains({id, session.plan.trials[i].index})) session.pending.push_back({boot, i});
    }
  }
  session.total = session.plan.trials.size() * static_cast<std::size_t>(last - first + 1);
}

/// What will spoil or bias this run, looked at without measuring. All of it is recorded, the
/// serious ones are said. `differences`: from the profile's [machine].
void examine_host(RunSession& session, const Machine& machine,
                  const std::vector<std::string>& differences) {
  Patient patient;
  patient.environment = session.environment;
  patient.machine = &machine;
  patient.plan = &session.plan;
  patient.machine_differences = differences;
  add_host_facts(patient, session.catalog);
  const std::vector<DoctorFinding> findings = examine(patient);
  for (std::string& line : serious_lines(findings)) session.notes.push_back(std::move(line));
  session.checkup = doctor_json(findings);
}

void collect_notes(RunSession& session, const Machine& machine,
                   const std::vector<std::string>& differences) {
  session.notes = session.plan.warnings;
  for (const SkippedBenchmark& skipped : session.plan.skipped) {
    session.notes.push_back(fmt::format("{} is left out: {}", skipped.name, skipped.reason));
  }
  // Simulated boots are of no host.
  if (!session.simulated_boots) examine_host(session, machine, differences);
}

void record_checkup(RunSession& session) {
  if (session.checkup.empty()) return;
  json note = make_note_line("doctor", "the check-up before the first trial");
  note["findings"] = session.checkup;
  session.writer.append(note);
}

void record_notes(RunSession& session) {
  for (const std::string& note : session.notes) {
    session.writer.append(make_note_line("warning", note));
  }
}

/// What a run that was killed has left, put back before anything else, also before what may be
/// wrong with the command line is looked for.
std::vector<std::string> put_back_left_settings() {
  std::vector<std::string> lines = restore_left_settings(KnobAccess(), state_directory());
  // At once: what is said must not depend on how the start goes on.
  for (const std::string& line : lines) print_text(wrap_text("note: " + line, "      ") + "\n");
  return lines;
}

/// `restored`: what put_back_left_settings() has said already.
void add_settings_notes(RunSession& session, const std::vector<std::string>& restored) {
  for (const std::string& line : restored) {
    session.writer.append(make_note_line("settings", line));
  }
  const std::vector<std::string>& notes = session.settings->notes();
  session.notes.insert(session.notes.end(), notes.begin(), notes.end());
}

std::unique_ptr<RunSettings> begin_settings(const RunArguments& arguments, const Plan& plan) {
  // Invented data needs no groups.
  const bool groups = arguments.groups && !arguments.simulated_boots;
  return std::make_unique<RunSettings>(plan, arguments.apply_settings, groups);
}

bool sets_smt(const Plan& plan) {
  return std::any_of(plan.settings.begin(), plan.settings.end(),
                     [](const Setting& setting) { return setting.name == "smt"; });
}

json environment_with(const RunSettings& settings) {
  json environment = read_environment();
  environment["run.role_groups"] = settings.groups_item();
  return environment;
}

}  // namespace

std::string label_of(const RunSession& session, const Trial& trial) {
  const Plan& plan = session.plan;
  return plan.variants.empty() ? session.label
                               : session.label + plan.variants.at(trial.variant).suffix;
}

std::int64_t simulated_boot_identity(const RunSession& session, std::int64_t boot) {
  RandomStream random(session.simulation, static_cast<std::uint64_t>(boot));
  return static_cast<std::int64_t>(random.next() & exact_in_json);
}

std::uint64_t seed_of(const RunSession& session, const PendingTrial& pending) {
  const Trial& trial = session.plan.trials[pending.index];
  if (!session.simulated_boots) {
    return (session.plan.seed + static_cast<std::uint64_t>(trial.repetition)) & exact_in_json;
  }
  const auto boot = static_cast<std::uint64_t>(simulated_boot_identity(session, pending.boot));
  return RandomStream(boot, trial.index).next() & exact_in_json;
}

std::string boot_id_of(const RunSession& session, std::int64_t boot) {
  if (session.simulated_boots) return fmt::format("simulated-{:014x}-{}", session.simulation, boot);
  const json id = environment_value(session.environment, "kernel.boot_id");
  return id.is_string() ? id.get<std::string>() : "unknown";
}

RunSession start_new_run(const RunArguments& arguments) {
  const std::vector<std::string> restored = put_back_left_settings();
  if (!arguments.observe.empty()) (void)fill_observer_command(arguments.observe, "/");
  PreparedPlan prepared;
  Plan plan = plan_of(arguments, arguments.settings, prepared);
  auto settings = begin_settings(arguments, plan);
  // The CPUs may be others now.
  if (arguments.apply_settings && sets_smt(plan)) {
    PlanSettings again = arguments.settings;
    again.seed = plan.seed;
    plan = plan_of(arguments, again, prepared);
  }
  const json environment = environment_with(*settings);
  const json kernel = kernel_identity();
  const std::string label =
      arguments.label.empty() ? kernel.value("release", std::string()) : arguments.label;
  check_label(label);
  for (const Variant& variant : plan.variants) check_label(label + variant.suffix);
  if (!arguments.simulated_boots) {
    check_label_is_of_one_kernel(directory_of(arguments), label, kernel);
  }
  RunSession session{std::move(prepared.catalog),
                     std::move(plan),
                     label,
                     machine_line(prepared.machine, environment),
                     environment,
                     arguments.simulated_boots,
                     simulation_of(prepared.plan.seed, label),
                     create_file(arguments, label),
                     std::move(settings),
                     {},
                     {},
                     {},
                     0,
                     {},
                     {}};
  RunDescription description{
      label,         session.machine,  arguments.simulated_boots, &prepared.profile,
      &session.plan, &session.catalog, settings_json(arguments)};
  json line = make_run_line(description);
  if (session.simulated_boots) line["simulation"] = session.simulation;
  session.writer.append(line);
  collect_notes(session, prepared.machine,
                machine_differences(prepared.profile.machine, prepared.machine));
  add_settings_notes(session, restored);
  record_notes(session);
  record_checkup(session);
  find_pending(session, nullptr);
  return session;
}

RunSession start_resumed_run(const RunArguments& arguments) {
  const std::vector<std::string> restored = put_back_left_settings();
  if (!arguments.out.empty() || !arguments.label.empty() || arguments.simulated_boots) {
    throw usage_error("--resume goes with neither --out, --label nor --simulate-boots",
                      "they are in the file");
  }
  RunFileWriter writer = RunFileWriter::resume(arguments.resume);
  const RunFile file = read_run_file(arguments.resume);
  if (!arguments.profile.empty()) {
    PreparedPlan again;
    PlanSettings settings = arguments.settings;
    settings.seed = file.plan.seed;
    check_same_plan(file, plan_of(arguments, settings, again));
  }
  auto settings = begin_settings(arguments, file.plan);
  const Machine machine = read_machine();
  const json environment = environment_with(*settings);
  RunSession session{find_catalog(),
                     file.plan,
                     file.label,
                     machine_line(machine, environment),
                     environment,
                     {},
                     file.run.value("simulation", std::uint64_t{0}),
                     std::move(writer),
                     std::move(settings),
                     {},
                     {},
                     {},
                     0,
                     {},
                     {}};
  if (file.simulated) session.simulated_boots = file.run.value("simulated_boots", std::int64_t{1});
  check_resume(file, {kernel_identity(), environment, &session.catalog});
  for (const json& each : file.observations) {
    if (each.value("status", "") == "valid") session.observed.insert(each.value("benchmark", ""));
  }
  for (const json& boot : file.boots) session.known_boots.insert(boot.at("boot_id"));
  find_pending(session, &file);
  if (!session.simulated_boots) examine_host(session, machine, {});
  add_settings_notes(session, restored);
  record_checkup(session);
  if (const std::string& cut = session.writer.cut_text(); !cut.empty()) {
    session.notes.push_back(fmt::format(
        "the torn last line of the file, {} bytes, was cut off; its trial runs again", cut.size()));
    json note = make_note_line("torn", session.notes.back());
    note["cut"] = cut.substr(0, 1024);
    session.writer.append(note);
  }
  session.writer.append(make_note_line(
      "resume",
      fmt::format("went on with {} of {} trials to run", session.pending.size(), session.total)));
  return session;
}

}  // namespace krepro
