// What on this machine will spoil or bias results: a table of checks over the environment, the
// topology, the plan and a few facts that are looked up for it. Pure: nothing is read or changed
// here; doctor_command.h is the command, `krepro run` uses the same checks.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/process/resource_limits.h"
#include "suite/placement/machine.h"
#include "suite/plan/plan.h"

namespace krepro {

/// problem: results from here and now are wrong or cannot be had; warning: they may be biased, or
/// noisier than they need be; note: good to know, part of the result's identity; fine: looked at
/// and found well; unseen: cannot be seen here, with the reason.
enum class Weight : std::uint8_t { problem, warning, note, fine, unseen };

[[nodiscard]] const char* to_string(Weight weight);

struct DoctorFinding {
  std::string id;  ///< "governor"
  Weight weight = Weight::fine;
  std::string text;     ///< What is the case, one line; of `unseen`: why it cannot be seen.
  std::string why;      ///< Why that spoils or biases results.
  std::string matters;  ///< How much it is known to matter, and by what.
  std::string mend;     ///< The command that mends it; empty: nothing to do.
};

/// A file system that the loads will write to.
struct DiskSpace {
  std::string path;
  std::uint64_t capacity_bytes = 0;  ///< Used and free: as df counts, without the reserve.
  std::uint64_t free_bytes = 0;
};

/// Spread of a short load of known behaviour, see noise.h.
struct NoiseRow {
  std::string name;
  std::size_t trials = 0;
  double variation = 0;  ///< Coefficient of variation.
  double aa_change = 0;  ///< Every other trial against the rest: the truth is 0.
  bool two_modes = false;
  std::string failure;  ///< Why there is nothing of it; empty: there is.
};

struct Patient {
  nlohmann::json environment = nlohmann::json::object();  ///< read_environment()
  const Machine* machine = nullptr;                       ///< Never null.
  const Plan* plan = nullptr;                             ///< null: no profile.
  std::vector<std::string> machine_differences;           ///< From the profile's [machine].
  std::string no_row_can_run;              ///< Why there is no plan though a profile was named.
  std::optional<double> busy_cpus;         ///< CPUs' worth of other load just now.
  std::vector<std::string> busy_programs;  ///< The busiest, by name.
  std::vector<int> taken_ports;            ///< Of those that the plan names.
  std::vector<DiskSpace> disks;
  std::vector<LimitShortfall> shortfalls;  ///< Of what the plan needs.
  std::vector<std::string> missing_tools;
  std::optional<std::vector<NoiseRow>> noise;  ///< nothing: not measured.
};

/// Every check's finding, the gravest first, in the table's order within a weight.
[[nodiscard]] std::vector<DoctorFinding> examine(const Patient& patient);

/// Ids of all checks, in the table's order.
[[nodiscard]] std::vector<std::string> check_ids();

}  // namespace krepro
