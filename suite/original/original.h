// The installed tool whose pattern a generator reproduces (rt-tests' hackbench for
// krepro-hackbench): its command line for given options, and the figures in its output. Everything
// known about it comes from the generator's --describe, so that a new generator joins without a
// change here. Nothing is run or measured here, except to ask for the version.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/generator/description.h"
#include "common/generator/options.h"

namespace krepro {

/// Options as a fidelity row has them: name and text, "" for a flag.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

class OriginalProgram {
 public:
  /// From the JSON of a generator's --describe. Throws usage_error where the generator names no
  /// original, or where the JSON has another shape.
  [[nodiscard]] static OriginalProgram from_description(const nlohmann::json& description);

  [[nodiscard]] const std::string& generator() const { return generator_; }
  [[nodiscard]] const Original& about() const { return about_; }
  [[nodiscard]] const OptionTable& options() const { return options_; }
  /// The metrics that the generator declares; the original's figures carry the same names and
  /// units.
  [[nodiscard]] const std::vector<MetricDescription>& metrics() const { return metrics_; }
  [[nodiscard]] const MetricDescription& primary() const;
  /// Name of the option that is a positional argument; empty: none.
  [[nodiscard]] const std::string& positional() const { return positional_; }
  /// Gives an option of the original to every fidelity row, in the place of the row's own value.
  /// Throws usage_error for an unknown option.
  void set_in_rows(const std::string& name, const std::string& value);

  /// The options in the original's own spelling ("--groups 4", fio's "--bs=4k", "-x" for names of
  /// one letter), without program and extra arguments; the generator takes the same. Sizes, counts
  /// and durations become plain numbers, since an original may not know "10k" or "60s". Throws
  /// usage_error for an unknown option, and for one that is krepro's own, unless it has its default
  /// value.
  [[nodiscard]] std::vector<std::string> arguments(const OptionTexts& options) const;
  /// The same from an object as a plan has it: name -> number, boolean, text or list.
  [[nodiscard]] std::vector<std::string> arguments_from_json(const nlohmann::json& options) const;
  /// The whole command line: program, extra arguments, the options' arguments.
  [[nodiscard]] std::vector<std::string> command(
      const std::vector<std::string>& option_arguments) const;

  /// The figures in the original's output, by metric, in the metric's unit. Throws an Error
  /// (failed) that names the metric and shows the end of the output where one is not found or not a
  /// number.
  [[nodiscard]] std::map<std::string, double> read_figures(const std::string& output) const;

  /// Where it is installed (PATH); nothing where it is not.
  [[nodiscard]] std::optional<std::filesystem::path> find() const;
  /// Throws not_possible with the line that installs it, where it is not installed.
  void require_installed() const;
  /// What it says of itself when run with its version arguments: the first line that is not empty;
  /// "unknown" where it says nothing.
  [[nodiscard]] std::string version() const;

 private:
  OriginalProgram(Original about, OptionTable options)
      : about_(std::move(about)), options_(std::move(options)) {}
  std::string generator_;
  std::string positional_;
  std::vector<MetricDescription> metrics_;
  Original about_;
  OptionTable options_;
};

}  // namespace krepro
