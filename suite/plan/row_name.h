// What rows are called: the benchmark's name with ${...} filled in, or with its axes appended.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "suite/catalog/catalog.h"
#include "suite/plan/rows.h"

namespace krepro {

/// `values` are the row's options by the generator's names, after --fit; an option that is not
/// among them shows its default. Throws usage_error for a reference to nothing, and for a name that
/// is too long or not printable ASCII (results are mailed).
[[nodiscard]] std::string row_name(const Row& row, const nlohmann::json& values,
                                   const GeneratorInfo& generator, const Parameters& parameters);
/// The name of a row whose generator is not here to say what its options come to.
[[nodiscard]] std::string row_name_as_written(const Row& row, const Parameters& parameters);

}  // namespace krepro
