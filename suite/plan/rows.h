// The rows of a profile: every benchmark's matrix multiplied out, parameters filled in. What the
// options mean to the generator is row_options.h's business.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/plan/substitution.h"
#include "suite/profile/profile.h"

namespace krepro {

/// An option of a row as the profile writes it.
struct RowOption {
  std::string key;
  nlohmann::json value;
  SourcePosition position;
  SourcePosition key_position;
  bool from_parameter = false;  ///< The text of the value came from ${...} alone.
};

struct RowLabel {
  std::string axis;
  std::string label;
  bool named = false;  ///< See MatrixAxis::named.
};

struct Row {
  const BenchmarkTemplate* from = nullptr;
  std::vector<RowOption> options;                 ///< From options first, then from the matrix.
  std::vector<RowLabel> labels;                   ///< One per axis.
  std::map<std::string, ProfileText> placement;   ///< By role, filled in.
  std::map<std::string, ProfileText> pinning;     ///< By role, filled in.
  std::map<std::string, ProfileText> memory;      ///< By role, filled in.
  std::map<std::string, ProfileText> scheduling;  ///< By role, filled in.
};

/// All rows of all benchmarks, in the file's order (the last axis runs fastest). Reports what
/// cannot be filled in.
[[nodiscard]] std::vector<Row> expand_rows(const Profile& profile, Parameters& parameters,
                                           ProfileErrors& errors);

}  // namespace krepro
