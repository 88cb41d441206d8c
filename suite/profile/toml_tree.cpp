// TOML text to a plain tree, with toml++; nothing else includes that library.
#include "suite/profile/toml_tree.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace krepro {

namespace {

SourcePosition position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

[[noreturn]] void fail(const std::filesystem::path& path, SourcePosition position,
                       std::string_view message) {
  throw usage_error(fmt::format("{}:{}:{}: not valid TOML: {}", path.string(), position.line,
                                position.column, message));
}

TomlNode convert(const toml::node& node, const std::filesystem::path& path);

TomlNode convert_table(const toml::table& table, const std::filesystem::path& path) {
  TomlNode result;
  result.kind = TomlNode::Kind::table;
  for (const auto& [key, value] : table) {
    result.entries.push_back(
        {std::string(key.str()), position_of(key.source()), convert(value, path)});
  }
  // The library sorts by name; a matrix and its rows stand in the file's order.
  std::stable_sort(result.entries.begin(), result.entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) {
                     return std::pair(a.position.line, a.position.column) <
                            std::pair(b.position.line, b.position.column);
                   });
  return result;
}

TomlNode convert(const toml::node& node, const std::filesystem::path& path) {
  TomlNode result;
  if (const auto* table = node.as_table()) {
    result = convert_table(*table, path);
  } else if (const auto* array = node.as_array()) {
    result.kind = TomlNode::Kind::array;
    result.array_of_tables = array->is_array_of_tables();
    for (const toml::node& element : *array) result.elements.push_back(convert(element, path));
  } else if (const auto* text = node.as_string()) {
    result.scalar = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.scalar = integer->get();
  } else if (const auto* flag = node.as_boolean()) {
    result.scalar = flag->get();
  } else if (const auto* number = node.as_floating_point()) {
    if (!std::isfinite(number->get())) {
      fail(path, position_of(node.source()), "a number must be finite here");
    }
    result.scalar = number->get();
  } else {
    result.kind = TomlNode::Kind::date;
  }
  result.position = position_of(node.source());
  return result;
}

}  // namespace

std::string describe_type(const TomlNode& node) {
  switch (node.kind) {
    case TomlNode::Kind::table:
      return "a table";
    case TomlNode::Kind::array:
      return node.array_of_tables ? "an array of tables" : "an array";
    case TomlNode::Kind::date:
      return "a date or time";
    case TomlNode::Kind::scalar:
      break;
  }
  if (node.scalar.is_string()) return "a string";
  if (node.scalar.is_boolean()) return "a boolean";
  return node.scalar.is_number_integer() ? "an integer" : "a number with a fraction";
}

TomlNode parse_toml(const std::string& text, const std::filesystem::path& path) {
  try {
    const toml::table table = toml::parse(std::string_view(text), path.string());
    return convert_table(table, path);
  } catch (const toml::parse_error& error) {
    fail(path, position_of(error.source()), error.description());
  }
}

}  // namespace krepro
