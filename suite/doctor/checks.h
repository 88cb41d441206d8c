// The table of checks, by subject. Private to suite/doctor.
#pragma once

#include <string>
#include <vector>

#include "suite/doctor/checkup.h"

namespace krepro {

/// What a check found.
struct CheckResult {
  Weight weight = Weight::fine;
  std::string text;
  std::string mend;
};

struct Check {
  const char* id;
  const char* why;
  const char* matters;
  CheckResult (*look)(const Patient& patient);
};

[[nodiscard]] std::vector<Check> cpu_checks();
[[nodiscard]] std::vector<Check> kernel_checks();
[[nodiscard]] std::vector<Check> memory_checks();
[[nodiscard]] std::vector<Check> host_checks();
[[nodiscard]] std::vector<Check> plan_checks();

/// An item of the environment; null where it has no value.
[[nodiscard]] nlohmann::json item(const Patient& patient, const std::string& name);
/// "cannot be seen": the item's reason and source.
[[nodiscard]] CheckResult unseen(const Patient& patient, const std::string& name);
[[nodiscard]] CheckResult fine(const std::string& text);
/// Text for people: strings without quotes, objects as "a (0-3), b (4-7)".
[[nodiscard]] std::string shown_value(const nlohmann::json& value);
/// Whether a value, which may be an object of values by CPUs, has any other key than `text`.
[[nodiscard]] bool differs_from(const nlohmann::json& value, const std::string& text);

}  // namespace krepro
