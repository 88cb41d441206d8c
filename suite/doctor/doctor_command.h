// `krepro doctor [PROFILE]`: what on this machine will spoil or bias results, why, how much that is
// known to matter, and the command that mends it. `krepro run` records the same findings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/doctor/checkup.h"

namespace krepro {

struct DoctorArguments {
  std::string profile;  ///< Path or name; empty: what holds for any load.
  PlanSettings settings;
  bool quick = false;  ///< Leaves the measurements out: busy CPUs and the noise.
  bool json = false;
};

/// The report for people, at most 78 columns, with its line end.
[[nodiscard]] std::string doctor_text(const std::vector<DoctorFinding>& findings,
                                      const std::string& heading);

/// [{"id", "weight", "text", "why", "matters", "mend"}]
[[nodiscard]] nlohmann::json doctor_json(const std::vector<DoctorFinding>& findings);

/// One line each for the problems and warnings: what `krepro run` prints.
[[nodiscard]] std::vector<std::string> serious_lines(const std::vector<DoctorFinding>& findings);

/// Prints it; returns 0, or 1 where there is a problem.
int doctor_command(const DoctorArguments& arguments);

}  // namespace krepro
