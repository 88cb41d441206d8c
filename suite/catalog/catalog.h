// Finds the generators and the profiles that belong to the running command. A generator is any
// executable `krepro-NAME` in the generators' directory; it is asked to describe itself, and
// nothing else is known of it here. Running one for a trial is suite/execute's business.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/generator/options.h"

namespace krepro {

struct MetricInfo {
  std::string name;
  std::string unit;
  bool higher_is_better = true;
  bool primary = false;
  std::string help;
};

/// What a generator says of itself with --describe.
struct GeneratorInfo {
  std::string name;            ///< "hackbench": the program is krepro-hackbench.
  std::filesystem::path path;  ///< The program.
  std::string summary;         ///< One sentence.
  std::vector<std::string> roles;
  std::string positional;  ///< Option that takes a positional argument; empty: none.
  std::vector<MetricInfo> metrics;
  OptionTable options{{}};
  nlohmann::json original;   ///< How to run the original, as described; null: there is none.
  std::string source_hash;   ///< Of what shapes the load; empty where the generator says none.
  std::string binary_hash;   ///< Of the program file.
  nlohmann::json described;  ///< All of it, as printed.

  /// The one metric that comparisons stand on; nullptr where none is marked.
  [[nodiscard]] const MetricInfo* primary_metric() const;
  [[nodiscard]] bool has_role(const std::string& role) const;
  /// Options of a row that name a server which runs already, by its URL, as one may by hand: then a
  /// trial starts none.
  [[nodiscard]] bool names_a_server(const nlohmann::json& given) const;
};

/// A krepro-NAME that cannot be used, with the reason: "hangs on --describe", "prints no JSON" ...
struct BrokenGenerator {
  std::string name;
  std::filesystem::path path;
  std::string reason;
};

struct Catalog {
  std::filesystem::path generators_directory;
  std::filesystem::path profiles_directory;
  std::vector<GeneratorInfo> generators;  ///< Sorted by name.
  std::vector<BrokenGenerator> broken;
  /// Every generator of the source tree, built here or not: a profile may name them.
  std::vector<std::string> known_names;

  [[nodiscard]] const GeneratorInfo* find(const std::string& name) const;
  /// Why `name` is not among the generators, for people: `generator "http" is not built here
  /// (there are: hackbench, null)`, or the reason why it is broken.
  [[nodiscard]] std::string reason_for_absence(const std::string& name) const;
};

/// Reads what a generator printed. Throws usage_error with the reason where it is not a valid
/// description of generator `name`.
[[nodiscard]] GeneratorInfo parse_description(const std::string& name, const std::string& text);

/// Asks every `krepro-*` in `directory` to describe itself; one that hangs, fails or prints
/// something else is listed as broken. An absent directory is an empty catalog.
[[nodiscard]] Catalog read_catalog(const std::filesystem::path& generators_directory,
                                   const std::filesystem::path& profiles_directory);

/// The catalog of the running command. Generators: $KREPRO_GENERATORS, beside the command, or
/// ../libexec/krepro (installed). Profiles: $KREPRO_PROFILES, the source tree that the command was
/// built from, or ../share/krepro/profiles.
[[nodiscard]] Catalog find_catalog();

/// The directories that find_catalog() uses.
[[nodiscard]] std::filesystem::path find_generators_directory();
[[nodiscard]] std::filesystem::path find_profiles_directory();
/// Directory of the running program.
[[nodiscard]] std::filesystem::path program_directory();

/// The program of generator `name` (for `krepro NAME ...`, which hands over to it), without asking
/// it anything. Throws usage_error with the nearest name, or not_possible where it is not built.
[[nodiscard]] std::filesystem::path find_generator_program(const std::string& name);

}  // namespace krepro
