// A TOML file as a plain tree in which every key and value knows its place. The only user of the
// TOML library is toml_tree.cpp; what the keys mean is profile.cpp's business.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/profile/profile.h"

namespace krepro {

struct TomlEntry;

struct TomlNode {
  enum class Kind : std::uint8_t { scalar, array, table, date };
  Kind kind = Kind::scalar;
  nlohmann::json scalar;           ///< string, integer, finite number or boolean
  std::vector<TomlNode> elements;  ///< of an array
  std::vector<TomlEntry> entries;  ///< of a table, in the file's order
  bool array_of_tables = false;    ///< [[written so]], or an array of nothing but tables
  SourcePosition position;
};

struct TomlEntry {
  std::string key;
  SourcePosition position;  ///< Of the key.
  TomlNode value;
};

/// What a node is, for messages: "a string", "an integer", "a table" ...
[[nodiscard]] std::string describe_type(const TomlNode& node);

/// Parses TOML 1.0. Throws usage_error "FILE:LINE:COLUMN: not valid TOML: ...".
[[nodiscard]] TomlNode parse_toml(const std::string& text, const std::filesystem::path& path);

}  // namespace krepro
