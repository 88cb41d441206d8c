// Fills in the names of rows, and finds a short one where the profile gives none.
#include "suite/plan/row_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/generator/options.h"

namespace krepro {

namespace {

constexpr std::size_t row_name_length_max = 60;

/// An axis without named alternatives is an option, whose value --fit may have changed.
std::string shown(const RowLabel& label, const Lookup& option_value) {
  return label.named ? label.label : option_value(label.axis).value_or(label.label);
}

std::string name_with(const Row& row, const Parameters& parameters, const Lookup& option_value) {
  const std::string& pattern = row.from->name.text;
  const auto lookup = [&](const std::string& wanted) -> std::optional<std::string> {
    for (const RowLabel& label : row.labels) {
      if (label.axis == wanted) return shown(label, option_value);
    }
    if (auto value = option_value(wanted)) return value;
    return parameters.value(wanted);
  };
  std::string name = substitute(pattern, lookup);
  if (!names_in(pattern).empty()) return name;
  for (const RowLabel& label : row.labels) {
    name += label.named ? fmt::format(" {}", label.label)
                        : fmt::format(" {}={}", label.axis, shown(label, option_value));
  }
  return name;
}

void check(const std::string& name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!printable) throw usage_error(fmt::format("\"{}\": only printable ASCII", name));
  if (name.size() > row_name_length_max) {
    throw usage_error(
        fmt::format("\"{}\" is longer than {} characters", name, row_name_length_max));
  }
}

}  // namespace

std::string row_name(const Row& row, const nlohmann::json& values, const GeneratorInfo& generator,
                     const Parameters& parameters) {
  const auto option_value = [&](const std::string& wanted) -> std::optional<std::string> {
    const Option* option = generator.options.find(wanted);
    if (option == nullptr) return std::nullopt;
    if (values.contains(option->name)) return value_text(values.at(option->name));
    return option->default_text;
  };
  std::string name = name_with(row, parameters, option_value);
  check(name);
  return name;
}

std::string row_name_as_written(const Row& row, const Parameters& parameters) {
  const auto option_value = [&](const std::string& wanted) -> std::optional<std::string> {
    for (const RowOption& option : row.options) {
      if (option.key == wanted) return value_text(option.value);
    }
    return std::nullopt;
  };
  try {
    return name_with(row, parameters, option_value);
  } catch (const Error&) {
    return row.from->name.text;  // it refers to an option that only the generator knows
  }
}

}  // namespace krepro
