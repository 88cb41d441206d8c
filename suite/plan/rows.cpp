// Multiplying out matrices.
#include "suite/plan/rows.h"

#include <fmt/format.h>

#include "common/base/error.h"

namespace krepro {

namespace {

/// More rows than anybody reads; keeps a slip (three axes of a thousand) from filling the memory.
constexpr std::size_t rows_max = 10'000;

bool is_one_reference(const nlohmann::json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  return text.starts_with("${") && text.find('}') + 1 == text.size();
}

void add_options(const std::map<std::string, ProfileValue>& options, Parameters& parameters,
                 Row& row) {
  for (const auto& [key, value] : options) {
    auto filled = parameters.fill(value.value, value.position);
    if (!filled) continue;
    row.options.push_back({key, std::move(*filled), value.position, value.key_position,
                           is_one_reference(value.value)});
  }
}

std::map<std::string, ProfileText> fill_roles(const std::map<std::string, ProfileText>& roles,
                                              Parameters& parameters) {
  std::map<std::string, ProfileText> filled;
  for (const auto& [role, text] : roles) {
    const auto value = parameters.fill(text.text, text.position);
    if (value) filled[role] = {value->get<std::string>(), text.position};
  }
  return filled;
}

/// How many rows a benchmark has; 0 where there are too many.
std::size_t row_count(const BenchmarkTemplate& benchmark) {
  std::size_t count = 1;
  for (const MatrixAxis& axis : benchmark.matrix) {
    count *= axis.choices.size();
    if (count > rows_max) return 0;
  }
  return count;
}

Row make_row(const BenchmarkTemplate& benchmark, std::size_t number, Parameters& parameters) {
  Row row;
  row.from = &benchmark;
  add_options(benchmark.options, parameters, row);
  std::vector<const MatrixChoice*> choices(benchmark.matrix.size());
  for (std::size_t i = benchmark.matrix.size(); i-- > 0;) {
    const MatrixAxis& axis = benchmark.matrix[i];
    choices[i] = &axis.choices[number % axis.choices.size()];
    number /= axis.choices.size();
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    row.labels.push_back({benchmark.matrix[i].name, choices[i]->label, benchmark.matrix[i].named});
    add_options(choices[i]->options, parameters, row);
  }
  row.placement = fill_roles(benchmark.placement, parameters);
  row.pinning = fill_roles(benchmark.pinning, parameters);
  row.memory = fill_roles(benchmark.memory, parameters);
  row.scheduling = fill_roles(benchmark.scheduling, parameters);
  return row;
}

void note_names(const ProfileText& name, Parameters& parameters, ProfileErrors& errors) {
  try {
    for (const std::string& each : names_in(name.text)) parameters.mark_used(each);
  } catch (const Error& error) {
    errors.add(name.position, fmt::format("name {}", error.what()), error.remedy());
  }
}

}  // namespace

std::vector<Row> expand_rows(const Profile& profile, Parameters& parameters,
                             ProfileErrors& errors) {
  std::vector<Row> rows;
  for (const BenchmarkTemplate& benchmark : profile.benchmarks) {
    const std::size_t count = row_count(benchmark);
    if (count == 0 || rows.size() + count > rows_max) {
      errors.add(benchmark.position,
                 fmt::format("the profile has more than {} rows here", rows_max));
      return rows;
    }
    note_names(benchmark.name, parameters, errors);
    for (std::size_t number = 0; number < count; ++number) {
      rows.push_back(make_row(benchmark, number, parameters));
    }
  }
  return rows;
}

}  // namespace krepro
