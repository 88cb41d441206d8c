// Results that people already have: fio --output-format=json, hackbench, perf bench, pgbench and
// wrk, one file per run in a directory per label. They become what a run file becomes for a
// comparison; what they do not say (kernel, machine, boot) stays unknown.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "suite/compare/run_facts.h"

namespace krepro {

/// One figure of a foreign output.
struct ForeignResult {
  std::string tool;    ///< "fio", "hackbench", "perf bench", "pgbench", "wrk"
  std::string row;     ///< What was run, from the output itself: "process g=10 loops=100"
  std::string metric;  ///< "seconds", "iops", "tps", ...
  std::string unit;
  bool higher_is_better = true;
  double value = 0;
  std::string failure;  ///< Why it does not count ("socket errors: timeout 3"); empty: it does.
};

/// The results in one output; several only where one run reports several (fio: read and write of
/// each job). Throws usage_error starting with `name`: empty, of no known tool, figure missing or
/// not a number, more than one run in it.
[[nodiscard]] std::vector<ForeignResult> parse_foreign(const std::string& text,
                                                       const std::string& name);

/// All files of the directory as one run. Files in subdirectories belong to one boot per
/// subdirectory; without subdirectories nothing is known of boots, and all are taken for one.
[[nodiscard]] RunFacts import_directory(const std::filesystem::path& directory,
                                        const std::string& label);

}  // namespace krepro
