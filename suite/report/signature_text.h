// `krepro show --signature`: what moved while the loads of one run ran, per benchmark: each counter
// per trial, per second and per operation. Comparing runs is suite/compare's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "suite/record/run_file.h"

namespace krepro {

/// One counter of one row, over the valid trials that are no warm-ups.
struct SignatureLine {
  std::string name;  ///< As counter_table.h has it.
  double per_trial = 0;
  double per_second = 0;     ///< Sum over the trials by sum of their windows; of a share its mean.
  double per_operation = 0;  ///< Sum by sum of operations; 0 where the load counts none.
};

struct RowSignature {
  std::string row;
  std::size_t trials = 0;
  double operations = 0;  ///< Per trial.
  double seconds = 0;     ///< Window per trial.
  std::vector<SignatureLine> lines;
  std::map<std::string, std::string> absent;
};

/// Rows without a valid trial are left out.
[[nodiscard]] std::vector<RowSignature> signatures_of(const RunFile& file);

/// At most 78 columns, ASCII, ends with a newline.
[[nodiscard]] std::string signature_text(const RunFile& file);

}  // namespace krepro
