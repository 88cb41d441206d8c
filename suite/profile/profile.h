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
  SourcePosition key_position = {};  ///< Of the key that it belongs to.
};

/// A text with its place.
struct ProfileText {
  std::string text;
  SourcePosition position;
};

/// What the profile's author expects of the machine; absent: no expectation.
struct MachineExpectation {
  std::optional<std::int64_t> cpus;
  std::optional<std::int64_t> llcs;
  std::optional<std::int64_t> cores;
  std::optional<std::int64_t> numa_nodes;
  std::optional<std::int64_t> packages;
  std::optional<bool> smt;
  std::string architecture;  ///< uname -m; empty: any
  std::string name;          ///< "c7g.metal"
};

/// A setting that the profile asks for; with several values an axis: every trial runs with each.
struct ProfileSetting {
  ProfileText name;
  std::vector<ProfileText> values;  ///< As they would be written: true is "1".
  bool axis = false;
};

/// Who may or must supply a value that the options refer to as ${name}.
struct ProfileParameter {
  std::string help;
  bool required = false;
  std::optional<std::string> default_value;
  SourcePosition position;
};

/// One value of a matrix axis: what it is called in row names, and the options it sets.
struct MatrixChoice {
  std::string label;                            ///< "psync", "4", "process"
  std::map<std::string, ProfileValue> options;  ///< One, named like the axis; or a table's several.
  SourcePosition position;
};

/// One axis of a benchmark's matrix, in the file's order. `ioengine = ["psync", "io_uring"]` sets
/// the option of that name; `mode = { process = { process = true }, threads = { threads = true } }`
/// has named alternatives, each of which may set several options.
struct MatrixAxis {
  std::string name;
  std::vector<MatrixChoice> choices;
  bool named = false;  ///< Choices are named alternatives: rows show the name alone.
  SourcePosition position;
};

/// One [[benchmark]] table before its matrix is expanded.
struct BenchmarkTemplate {
  ProfileText name;  ///< May refer to options and axes of the row: "${mode} g=${groups}".
  ProfileText generator;
  std::string family;     ///< Heading in tables; default: the generator's name and primary metric.
  bool upstream = false;  ///< Run the original tool instead of the generator.
  std::map<std::string, ProfileText> placement;   ///< role -> placement text ("load" -> "all")
  std::map<std::string, ProfileText> pinning;     ///< role -> "float", "pin-compact", "pin-spread"
  std::map<std::string, ProfileText> memory;      ///< role -> text of resolve_memory
  std::map<std::string, ProfileText> scheduling;  ///< role -> text of parse_scheduling
  std::map<std::string, ProfileValue> options;
  std::vector<MatrixAxis> matrix;  ///< In the file's order.
  std::optional<std::int64_t> repetitions;
  std::optional<std::int64_t> warmups;
  double expected_seconds = 0;   ///< A guess of one trial's length; 0: none.
  std::vector<ProfileText> fit;  ///< Options that --fit scales with the number of CPUs ("groups").
  SourcePosition position;
};

struct Profile {
  std::filesystem::path path;
  std::string name;  ///< "graviton3/next-buddy-hackbench", or the path as it was given.
  std::string text;  ///< The file, byte for byte.
  std::string title;
  std::string report;     ///< Link to the public report.
  ProfileText reference;  ///< CSV of published results beside the profile; empty: none.
  MachineExpectation machine;
  std::vector<ProfileSetting> settings;  ///< In the file's order.
  std::int64_t repetitions = 3;
  std::int64_t warmups = 0;
  std::map<std::string, ProfileValue>
      defaults;  ///< runtime, seed, connections, rate, threads (by Meaning)
  std::vector<BenchmarkTemplate> benchmarks;
  std::map<std::string, ProfileParameter> parameters;
};

/// Everything that is wrong with a profile, in the file's order, so that one look mends it all.
class ProfileErrors {
 public:
  explicit ProfileErrors(std::filesystem::path path) : path_(std::move(path)) {}
  /// "FILE:LINE:COLUMN: message"; what repeats itself (rows of one matrix) is kept once. A position
  /// of line 0 is no place in the file: the command line is meant.
  void add(SourcePosition position, const std::string& message, const std::string& suggestion = {});
  [[nodiscard]] bool empty() const { return found_.empty(); }
  /// Throws a usage_error where there are any: with the suggestion as its remedy where there is
  /// one error, else of one line per error, each with its suggestion.
  void throw_if_any() const;

 private:
  struct Found {
    SourcePosition position;
    std::string text;
    std::string suggestion;
  };
  std::filesystem::path path_;
  std::vector<Found> found_;
};

/// Parses text; `path` is for messages. Throws a usage_error of one line per error.
[[nodiscard]] Profile parse_profile(const std::string& text, const std::filesystem::path& path);
/// Finds and reads a profile: a path that exists, or a name ("quick",
/// "graviton3/next-buddy-hackbench") below `profiles_directory`. Throws usage_error with the
/// nearest name.
[[nodiscard]] Profile load_profile(const std::string& name_or_path,
                                   const std::filesystem::path& profiles_directory);
/// Names of the shipped profiles, sorted.
[[nodiscard]] std::vector<std::string> list_profiles(
    const std::filesystem::path& profiles_directory);

/// `did you mean "x"?`, or empty where no candidate is near.
[[nodiscard]] std::string suggestion(const std::string& word,
                                     const std::vector<std::string>& candidates);

}  // namespace krepro
