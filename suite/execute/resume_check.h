// May a run go on here and now? Trials of another kernel, host or generator must never end up in
// one file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/record/run_file.h"

namespace krepro {

/// What is the case now.
struct ResumeSituation {
  nlohmann::json kernel;       ///< kernel_identity()
  nlohmann::json environment;  ///< read_environment()
  const Catalog* catalog = nullptr;
};

/// Throws usage_error naming what differs from when the run began.
void check_resume(const RunFile& file, const ResumeSituation& now);

/// Throws usage_error where `plan`, made again from the command line, is not the recorded one.
void check_same_plan(const RunFile& file, const Plan& plan);

}  // namespace krepro
