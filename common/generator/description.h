// What a generator says of itself with --describe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/generator/options.h"

namespace krepro {

struct MetricDescription {
  std::string name;
  std::string unit;  ///< "s", "1/s", "bytes/s", "ns", "1" ...
  bool higher_is_better = true;
  bool primary = false;  ///< Exactly one metric of a generator is.
  std::string help;
};

/// A figure in the original's output: the first match of `pattern` (ECMAScript), group 1, times
/// `scale`, is `metric`.
struct OriginalFigure {
  std::string metric;
  std::string pattern;
  double scale = 1;
};

/// One row of `krepro fidelity NAME`: options by name, in the original's own terms.
struct FidelityRow {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;  ///< name, value ("" for a flag)
  double operations = 0;  ///< Operations of one run where the count is fixed; 0: from the sample.
  std::vector<std::string> placements;  ///< "pinned", "floating"; empty: both
  /// Options of the generator's server that both programs load, its URL is their positional
  /// argument; empty: no server.
  std::vector<std::pair<std::string, std::string>> serve = {};
  bool floating_calls = false;  ///< System calls are judged floating as well.
  double cpu_ratio_low = 0;     ///< Bounds of the ratio of the CPU time per operation;
  double cpu_ratio_high = 0;    ///< both 0: it is shown and not judged.
};

/// How to run the tool whose pattern the generator reproduces, and to read its answer.
struct Original {
  std::string program;  ///< "hackbench"
  std::string package;  ///< Debian's name: "rt-tests"
  std::vector<std::string> version_arguments;
  std::vector<std::string>
      extra_arguments;  ///< Always given to the original only ("--output-format=json")
  std::vector<OriginalFigure> figures;
  std::vector<FidelityRow> rows;
  bool long_equals =
      false;  ///< Long options are spelt "--name=value" (fio) and not "--name value".
  std::string scaling_option;    ///< Operations are proportional to it ("loops", "runtime").
  std::string operation;         ///< "message": what system calls and switches are counted per
  double time_ratio_low = 0.95;  ///< Bounds that the 95 % interval of the primary metric's ratio
                                 ///< must lie within, pinned.
  double time_ratio_high = 1.05;
  double floating_ratio_low = 0;  ///< The same, floating; both 0: 1 -+ switches_tolerance.
  double floating_ratio_high = 0;
  /// CPU time, switches and wake-ups per operation are taken without what start-up and tear-down
  /// cost, where the original's are large (fio: a quarter of a second of CPU time). Needs
  /// scaling_option.
  bool without_start_up = false;
  double syscall_tolerance = 0.01;
  double switches_tolerance = 0.10;
  double cpu_tolerance = 0;  ///< Of the CPU time per operation, pinned; 0: not judged.
};

struct Description {
  std::string name;     ///< "hackbench": the program is krepro-hackbench.
  std::string summary;  ///< One sentence.
  std::string details;  ///< Markdown for the documentation page: what it does call by call, what
                        ///< differs from the original.
  std::vector<MetricDescription> metrics;
  OptionTable options;
  std::vector<std::string> roles{"load"};  ///< "load", or "load","serve"
  /// Options (name, value) of a trial of about a second, for the conformance tests and the
  /// documentation.
  std::vector<std::pair<std::string, std::string>> example;
  /// Options that, added to the example's, make it last for at least half a minute (it is then
  /// interrupted).
  std::vector<std::pair<std::string, std::string>> long_example;
  std::optional<Original> original;
  std::string positional;  ///< Name of the option that takes a positional argument (wrk's URL);
                           ///< empty: none.
};

[[nodiscard]] nlohmann::json to_json(const Description& description);

}  // namespace krepro
