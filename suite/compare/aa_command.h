// `krepro aa PROFILE` runs a profile and compares the kernel with itself; `krepro aa FILE...` does
// the latter with runs of one label that are there already, of several boots for instance.
#pragma once

#include <string>
#include <vector>

#include "suite/execute/run_command.h"

namespace krepro {

struct AaArguments {
  std::vector<std::string> what;  ///< A profile, or run files.
  RunArguments run;
};

/// Exit status as of krepro run. Throws usage_error: several labels or kernels.
int aa_command(const AaArguments& arguments);

}  // namespace krepro
