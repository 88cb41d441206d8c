// A row's options held against the table of the generator that is to take them: names, types,
// ranges, the profile's defaults, and --fit.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/catalog/catalog.h"
#include "suite/plan/rows.h"
#include "suite/profile/profile.h"

namespace krepro {

struct RowOptions {
  nlohmann::json values = nlohmann::json::object();  ///< By the generator's names, as typed.
  std::vector<std::string> notes;                    ///< Options accepted without effect.
  std::string scaled;                                ///< What --fit changed.
  double runtime_seconds = 0;                        ///< Of an option that means it; 0: none.
};

/// How --fit scales: this machine's CPUs over the profile's.
struct FitFactor {
  double cpus_here = 1;
  double cpus_expected = 1;
};

/// Reports, at their places: unknown names, wrong types, values out of range, options set twice.
/// Adds to `used_defaults` the keys of [defaults] that the generator took. `fit`: scale the options
/// that the benchmark's `fit` names.
[[nodiscard]] RowOptions check_row_options(const Row& row, const GeneratorInfo& generator,
                                           const std::vector<RowOption>& defaults,
                                           const std::optional<FitFactor>& fit,
                                           std::set<std::string>& used_defaults,
                                           ProfileErrors& errors);

}  // namespace krepro
