// The checks put together and sorted by weight.
#include "suite/doctor/checkup.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "suite/doctor/checks.h"
#include "suite/environment/environment.h"

namespace krepro {

namespace {

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = [] {
    std::vector<Check> all;
    for (const auto& part :
         {plan_checks(), cpu_checks(), kernel_checks(), memory_checks(), host_checks()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return checks;
}

}  // namespace

const char* to_string(Weight weight) {
  static constexpr const char* names[] = {"problem", "warning", "note", "fine", "unseen"};
  return names[static_cast<std::size_t>(weight)];
}

nlohmann::json item(const Patient& patient, const std::string& name) {
  return environment_value(patient.environment, name);
}

CheckResult unseen(const Patient& patient, const std::string& name) {
  const nlohmann::json entry = patient.environment.value(name, nlohmann::json::object());
  const std::string reason = entry.value("reason", "not looked at");
  return {Weight::unseen, fmt::format("{} ({})", reason, entry.value("source", name)), ""};
}

CheckResult fine(const std::string& text) { return {Weight::fine, text, ""}; }

std::string shown_value(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [key, part] : value.items()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key, shown_value(part));
  }
  return text;
}

bool differs_from(const nlohmann::json& value, const std::string& text) {
  if (!value.is_object()) return shown_value(value) != text;
  return std::any_of(value.items().begin(), value.items().end(),
                     [&](const auto& entry) { return entry.key() != text; });
}

std::vector<DoctorFinding> examine(const Patient& patient) {
  KREPRO_CHECK(patient.machine != nullptr);
  std::vector<DoctorFinding> findings;
  for (const Check& check : all_checks()) {
    CheckResult verdict = check.look(patient);
    findings.push_back({check.id, verdict.weight, std::move(verdict.text), check.why, check.matters,
                        std::move(verdict.mend)});
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const DoctorFinding& left, const DoctorFinding& right) {
                     return left.weight < right.weight;
                   });
  return findings;
}

std::vector<std::string> check_ids() {
  std::vector<std::string> ids;
  for (const Check& check : all_checks()) ids.emplace_back(check.id);
  return ids;
}

}  // namespace krepro
