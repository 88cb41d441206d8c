// From the command line to the patient, and from the findings to text.
#include "suite/doctor/doctor_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "common/base/error.h"
#include "common/base/version.h"
#include "suite/catalog/catalog.h"
#include "suite/catalog/wrap.h"
#include "suite/doctor/host_facts.h"
#include "suite/doctor/noise.h"
#include "suite/environment/environment.h"
#include "suite/plan/machine_differences.h"
#include "suite/plan/plan_command.h"
#include "suite/report/output.h"

namespace krepro {

namespace {

constexpr std::int64_t watch_ns = 500'000'000;

std::string labelled(const char* label, const std::string& text) {
  return text.empty() ? "" : wrapped(fmt::format("  {:<8} ", label), text, 11);
}

std::string finding_text(const DoctorFinding& finding) {
  std::string weight = to_string(finding.weight);
  if (finding.weight == Weight::problem) {
    std::transform(weight.begin(), weight.end(), weight.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  }
  std::string text =
      wrapped(fmt::format("{:<8} ", weight), fmt::format("{}: {}", finding.id, finding.text), 9);
  return text + labelled("why", finding.why) + labelled("matters", finding.matters) +
         labelled("mend", finding.mend);
}

std::string counts_line(const std::vector<DoctorFinding>& findings) {
  std::map<Weight, std::size_t> counts;
  for (const DoctorFinding& finding : findings) ++counts[finding.weight];
  const auto count = [&](Weight weight, const char* noun) {
    return fmt::format("{} {}{}", counts[weight], noun, counts[weight] == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}; {} fine; {} cannot be seen here\n",
                     count(Weight::problem, "problem"), count(Weight::warning, "warning"),
                     count(Weight::note, "note"), counts[Weight::fine], counts[Weight::unseen]);
}

/// What was looked at and found well, and what could not be looked at.
std::string rest_text(const std::vector<DoctorFinding>& findings) {
  std::string fine_ones;
  std::string unseen_ones;
  for (const DoctorFinding& finding : findings) {
    const std::string line = wrapped(fmt::format("  {:<15} ", finding.id),
                                     finding.text.empty() ? "-" : finding.text, 18);
    if (finding.weight == Weight::fine) fine_ones += line;
    if (finding.weight == Weight::unseen) unseen_ones += line;
  }
  std::string text;
  if (!fine_ones.empty()) text += "\nfine\n" + fine_ones;
  if (!unseen_ones.empty()) text += "\ncannot be seen here\n" + unseen_ones;
  return text;
}

/// With a profile: the plan, or why no row of it can run here.
void prepare(const DoctorArguments& arguments, Patient& patient, PreparedPlan& prepared) {
  const std::filesystem::path profiles = find_profiles_directory();
  if (!arguments.profile.empty()) {
    try {
      prepared = prepare_plan(arguments.profile, arguments.settings);
      patient.plan = &prepared.plan;
    } catch (const Error& error) {
      if (error.code() != ExitCode::not_possible) throw;
      patient.no_row_can_run = error.what();
      prepared.profile = load_profile(arguments.profile, profiles);
    }
  }
  if (patient.plan == nullptr) {
    prepared.catalog = read_catalog(find_generators_directory(), profiles);
    prepared.machine = read_machine();
  }
  patient.machine_differences = machine_differences(prepared.profile.machine, prepared.machine);
}

}  // namespace

std::string doctor_text(const std::vector<DoctorFinding>& findings, const std::string& heading) {
  std::string text = heading + counts_line(findings);
  for (const DoctorFinding& finding : findings) {
    if (finding.weight < Weight::fine) text += "\n" + finding_text(finding);
  }
  return text + rest_text(findings);
}

nlohmann::json doctor_json(const std::vector<DoctorFinding>& findings) {
  nlohmann::json json = nlohmann::json::array();
  for (const DoctorFinding& finding : findings) {
    json.push_back({{"id", finding.id},
                    {"weight", to_string(finding.weight)},
                    {"text", finding.text},
                    {"why", finding.why},
                    {"matters", finding.matters},
                    {"mend", finding.mend}});
  }
  return json;
}

std::vector<std::string> serious_lines(const std::vector<DoctorFinding>& findings) {
  std::vector<std::string> lines;
  for (const DoctorFinding& finding : findings) {
    // What the profile expects of the machine and which rows are left out is said by the plan.
    if (finding.id == "machine" || finding.id == "rows" || finding.id == "allowed") continue;
    if (finding.weight == Weight::problem || finding.weight == Weight::warning) {
      lines.push_back(fmt::format("{}: {}", finding.id, finding.text));
    }
  }
  return lines;
}

int doctor_command(const DoctorArguments& arguments) {
  Patient patient;
  PreparedPlan prepared;
  prepare(arguments, patient, prepared);
  patient.machine = &prepared.machine;
  patient.environment = read_environment();
  add_host_facts(patient, prepared.catalog);
  if (!arguments.quick) {
    add_busy_cpus(patient, watch_ns);
    const Interruption interruption;
    patient.noise = measure_noise(prepared.catalog, prepared.machine, interruption);
  }
  const std::vector<DoctorFinding> findings = examine(patient);
  const std::string heading = wrapped(
      "",
      fmt::format("krepro {}, {}, Linux {}", version, summary(prepared.machine), kernel_release()),
      2);
  print_text(arguments.json ? doctor_json(findings).dump(2) + "\n"
                            : doctor_text(findings, heading));
  const bool any_problem =
      std::any_of(findings.begin(), findings.end(),
                  [](const DoctorFinding& finding) { return finding.weight == Weight::problem; });
  return static_cast<int>(any_problem ? ExitCode::failed : ExitCode::ok);
}

}  // namespace krepro
