// A plan for people: what will run, in which order, for how long, and what this machine lacks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/program.h"
#include "suite/catalog/wrap.h"
#include "suite/plan/plan_command.h"
#include "suite/settings/knob.h"
#include "suite/settings/sched_ext.h"

namespace krepro {

namespace {

std::string plural(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string duration_text(const Plan& plan) {
  const ExpectedDuration expected = expected_duration(plan);
  if (expected.seconds <= 0) return "duration unknown";
  return fmt::format("{} {}", expected.complete ? "about" : "more than",
                     format_duration(expected.seconds * 1e9));
}

/// "56 rows x 3 repetitions" where all rows run equally often.
std::string counts_text(const Plan& plan) {
  std::map<std::size_t, std::size_t> repetitions;
  std::size_t warmups = 0;
  for (const Trial& trial : plan.trials) {
    if (trial.warmup) {
      ++warmups;
    } else if (trial.variant == 0) {
      ++repetitions[trial.benchmark];
    }
  }
  std::set<std::size_t> different;
  for (const auto& [benchmark, count] : repetitions) different.insert(count);
  std::string text = plural(plan.benchmarks.size(), "row");
  if (different.size() == 1) text += fmt::format(" x {}", plural(*different.begin(), "repetition"));
  if (!plan.variants.empty()) text += fmt::format(" x {}", plural(plan.variants.size(), "setting"));
  if (warmups > 0) text += fmt::format(" + {}", plural(warmups, "warm-up"));
  return text + fmt::format(" = {}", plural(plan.trials.size(), "trial"));
}

std::string heading(const PreparedPlan& prepared) {
  const Plan& plan = prepared.plan;
  std::string text = plan.title.empty()
                         ? plan.profile_name + "\n"
                         : wrapped("", fmt::format("{} ({})", plan.title, plan.profile_name), 2);
  if (!plan.report.empty()) text += fmt::format("report: {}\n", plan.report);
  return text + wrapped("",
                        fmt::format("{}, {}, {}, seed {}", counts_text(plan), to_string(plan.order),
                                    duration_text(plan), plan.seed),
                        2);
}

/// Originals that comparisons with `krepro fidelity` would need and that are not installed.
std::vector<std::string> missing_originals(const PreparedPlan& prepared) {
  std::vector<std::string> lines;
  std::set<std::string> asked;
  for (const Benchmark& benchmark : prepared.plan.benchmarks) {
    const GeneratorInfo* generator = prepared.catalog.find(benchmark.generator);
    if (generator == nullptr || !generator->original.is_object()) continue;
    if (!asked.insert(generator->name).second) continue;
    const std::string program = generator->original.value("program", "");
    if (program.empty() || find_program(program)) continue;
    lines.push_back(
        fmt::format("the original {} (package {}) is not installed: krepro fidelity {} "
                    "needs it, this plan does not",
                    program, generator->original.value("package", "unknown"), generator->name));
  }
  return lines;
}

std::string machine_text(const PreparedPlan& prepared) {
  const Machine& machine = prepared.machine;
  std::string text = wrapped(
      machine.this_machine ? "this machine: " : "machine: ",
      fmt::format("{}, {}", summary(machine),
                  machine.architecture.empty() ? "architecture unknown" : machine.architecture),
      2);
  if (!machine.has_topology()) text += wrapped("  no topology: ", machine.topology_problem, 4);
  for (const std::string& warning : prepared.plan.warnings) {
    text += wrapped("  WARNING: ", warning, 4);
  }
  for (const SkippedBenchmark& skipped : prepared.plan.skipped) {
    text += wrapped("  SKIPPED: ", fmt::format("{}: {}", skipped.name, skipped.reason), 4);
  }
  for (const std::string& line : missing_originals(prepared)) {
    text += wrapped("  note: ", line, 4);
  }
  return text;
}

std::string setting_text(const Setting& setting, const KnobAccess& access) {
  std::string text = fmt::format("{} = {}", setting.name, setting.value);
  switch (kind_of_setting(setting.name)) {
    case SettingKind::host:
      try {
        const std::vector<KnobWrite> writes = knob_writes(setting, access);
        text += fmt::format(": {} is {}", writes.front().knob.path,
                            access.read(writes.front().knob).value_or("not there"));
        if (writes.size() > 1) text += fmt::format(", and {} more", writes.size() - 1);
      } catch (const Error& error) {
        text += fmt::format(": NOT POSSIBLE: {}", error.what());
      }
      break;
    case SettingKind::sched_ext:
      text += fmt::format(": is {}", SchedExt(access.host()).describe());
      break;
    case SettingKind::cgroup:
      text += ": of the role's own control group";
      break;
    case SettingKind::scheduling:
      text += ": nothing of the machine changes";
      break;
  }
  return text;
}

std::string settings_text(const Plan& plan) {
  if (plan.settings.empty() && plan.variants.empty()) return {};
  const KnobAccess access;
  std::string text = "\nsettings: of the machine only with --apply-settings; put back at the end\n";
  for (const Setting& setting : plan.settings) {
    text += wrapped("  ", setting_text(setting, access), 6);
  }
  if (plan.variants.empty()) return text;
  text += fmt::format("  varied, every trial with each of {}:\n", plan.variants.size());
  for (const Variant& variant : plan.variants) {
    text += wrapped("    ", fmt::format("LABEL{}", variant.suffix), 6);
    for (const Setting& setting : variant.settings) {
      text += wrapped("      ", setting_text(setting, access), 8);
    }
  }
  return text;
}

std::string row_text(const Benchmark& benchmark, const Catalog& catalog, std::size_t number) {
  std::string text = fmt::format("{:>4}  {}", number, benchmark.name);
  if (!benchmark.scaled.empty()) text += fmt::format("  scaled: {}", benchmark.scaled);
  text += "\n";
  for (const auto& [role, placement] : benchmark.placement.items()) {
    text += wrapped("      ",
                    fmt::format("{} on {}: cpus {}", role, placement.get<std::string>(),
                                benchmark.cpus.at(role).get<std::string>()),
                    10);
  }
  for (const auto& [role, pinning] : benchmark.pinning.items()) {
    const std::string order = benchmark.worker_cpus.value(role, "");
    text += wrapped("      ",
                    order.empty() ? fmt::format("{} workers float", role)
                                  : fmt::format("{} workers by {}: {}", role,
                                                pinning.get<std::string>(), order),
                    10);
  }
  for (const auto& [role, policy] : benchmark.memory_policy.items()) {
    text += wrapped("      ", fmt::format("{} memory {}", role, policy.get<std::string>()), 10);
  }
  for (const auto& [role, scheduling] : benchmark.scheduling.items()) {
    text += wrapped("      ",
                    fmt::format("{} scheduled as {}", role, scheduling.get<std::string>()), 10);
  }
  return text + wrapped("      ", command_words(benchmark, catalog), 10, " \\");
}

std::string trial_text(const Plan& plan, const Trial& trial) {
  return fmt::format("{:>4}  {:<10}  {}{}\n", trial.index + 1,
                     fmt::format("{} {}",
                                 trial.settling ? "settling"
                                 : trial.warmup ? "warm-up"
                                                : "run",
                                 trial.repetition + 1),
                     plan.benchmarks[trial.benchmark].name,
                     plan.variants.empty() ? "" : "  " + plan.variants[trial.variant].suffix);
}

}  // namespace

std::string plan_text(const PreparedPlan& prepared) {
  const Plan& plan = prepared.plan;
  std::string text = heading(prepared) + "\n" + machine_text(prepared) + "\nrows\n";
  std::string family;
  for (std::size_t i = 0; i < plan.benchmarks.size(); ++i) {
    if (plan.benchmarks[i].family != family) {
      family = plan.benchmarks[i].family;
      text += fmt::format("  {}\n", family);
    }
    text += row_text(plan.benchmarks[i], prepared.catalog, i + 1);
  }
  text += settings_text(plan);
  text += "\ntrials, in this order\n";
  for (const Trial& trial : plan.trials) text += trial_text(plan, trial);
  return text;
}

}  // namespace krepro
