// A profile as the TOML file says it, checked: unknown keys, wrong types and values out of range
// are usage errors with FILE:LINE:COLUMN and a suggestion. No expansion here (see suite/plan).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace krepro {

/// Where a value stands in its file; for messages.
struct SourcePosition {
  int line = 0;
  int column = 0;
};

/// A value as typed (number, boolean, string, array) with its place.
struct ProfileValue {
  nlohmann::json value;
  SourcePosition position;
};

/// What the profile's author expects of the machine; absent: no expectation.
struct MachineExpectation {
  std::optional<std::int64_t> cpus;
  std::optional<std::int64_t> llcs;
  std::optional<std::int64_t> cores;
  std::optional<std::int64_t> numa_nodes;
  std::optional<bool> smt;
  std::string architecture;  ///< uname -m; empty: any
  std::string name;          ///< "c7g.metal"
};

/// Who may or must supply a value that the options refer to as ${name}.
struct ProfileParameter {
  std::string help;
  bool required = false;
  std::optional<std::string> default_value;
  SourcePosition position;
};

/// One [[benchmark]] table before its matrix is expanded.
struct BenchmarkTemplate {
  std::string name;
  std::string generator;
  std::string family;     ///< Heading in tables; default: the generator's name and primary metric.
  bool upstream = false;  ///< Run the original tool instead of the generator.
  std::map<std::string, std::string> placement;   ///< role -> placement text ("load" -> "all")
  std::map<std::string, std::string> scheduling;  ///< role -> text of parse_scheduling
  std::map<std::string, ProfileValue> options;
  std::vector<std::pair<std::string, std::vector<ProfileValue>>> matrix;  ///< in the file's order
  std::optional<std::int64_t> repetitions;
  std::optional<std::int64_t> warmups;
  std::vector<std::string> fit;  ///< Options that --fit scales with the number of CPUs ("groups").
  SourcePosition position;
};

struct Profile {
  std::filesystem::path path;
  std::string text;  ///< The file, byte for byte.
  std::string title;
  std::string report;     ///< Link to the public report.
  std::string reference;  ///< CSV of published results beside the profile; empty: none.
  MachineExpectation machine;
  std::int64_t repetitions = 3;
  std::int64_t warmups = 0;
  std::map<std::string, ProfileValue>
      defaults;  ///< runtime, seed, connections, rate, threads (by Meaning)
  std::vector<BenchmarkTemplate> benchmarks;
  std::map<std::string, ProfileParameter> parameters;
};

/// Parses text; `path` is for messages.
[[nodiscard]] Profile parse_profile(const std::string& text, const std::filesystem::path& path);
/// Finds and reads a profile: a path that exists, or a name ("quick",
/// "graviton3/next-buddy-hackbench") below `profiles_directory`. Throws usage_error with the
/// nearest name.
[[nodiscard]] Profile load_profile(const std::string& name_or_path,
                                   const std::filesystem::path& profiles_directory);
/// Names of the shipped profiles, sorted.
[[nodiscard]] std::vector<std::string> list_profiles(
    const std::filesystem::path& profiles_directory);

}  // namespace krepro
