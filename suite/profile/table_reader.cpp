// Typed reading of one TOML table.
#include "suite/profile/table_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace krepro {

TableReader::TableReader(const TomlNode& table, std::string where, ProfileErrors& errors)
    : table_(table), where_(std::move(where)), errors_(errors) {}

const TomlEntry* TableReader::take(const std::string& key) {
  known_.push_back(key);
  for (const TomlEntry& entry : table_.entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

void TableReader::wrong_type(const TomlEntry& entry, const std::string& expected) {
  errors_.add(entry.value.position, fmt::format("{} in {} is {}; expected {}", entry.key, where_,
                                                describe_type(entry.value), expected));
}

std::optional<ProfileText> TableReader::text(const std::string& key) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return std::nullopt;
  const TomlNode& node = entry->value;
  if (node.kind != TomlNode::Kind::scalar || !node.scalar.is_string()) {
    wrong_type(*entry, "a string");
    return std::nullopt;
  }
  ProfileText result{node.scalar.get<std::string>(), node.position};
  if (result.text.empty()) {
    errors_.add(node.position, fmt::format("{} in {} is empty", key, where_));
    return std::nullopt;
  }
  return result;
}

std::optional<std::int64_t> TableReader::integer(const std::string& key, std::int64_t min,
                                                 std::int64_t max) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return std::nullopt;
  const TomlNode& node = entry->value;
  if (node.kind != TomlNode::Kind::scalar || !node.scalar.is_number_integer()) {
    wrong_type(*entry, fmt::format("an integer from {} to {}", min, max));
    return std::nullopt;
  }
  const auto number = node.scalar.get<std::int64_t>();
  if (number < min || number > max) {
    errors_.add(node.position,
                fmt::format("{} in {} is {}; expected {} to {}", key, where_, number, min, max));
    return std::nullopt;
  }
  return number;
}

std::optional<double> TableReader::positive_number(const std::string& key, double max) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return std::nullopt;
  const TomlNode& node = entry->value;
  if (node.kind != TomlNode::Kind::scalar || !node.scalar.is_number()) {
    wrong_type(*entry, "a number");
    return std::nullopt;
  }
  const auto number = node.scalar.get<double>();
  if (!(number > 0 && number <= max)) {
    errors_.add(node.position, fmt::format("{} in {} is {}; expected more than 0, at most {}", key,
                                           where_, number, max));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> TableReader::flag(const std::string& key) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->value.kind != TomlNode::Kind::scalar || !entry->value.scalar.is_boolean()) {
    wrong_type(*entry, "true or false");
    return std::nullopt;
  }
  return entry->value.scalar.get<bool>();
}

const TomlNode* TableReader::table(const std::string& key) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return nullptr;
  if (entry->value.kind != TomlNode::Kind::table) {
    wrong_type(*entry, "a table");
    return nullptr;
  }
  return &entry->value;
}

std::optional<ProfileValue> TableReader::value(const std::string& key) {
  const TomlEntry* entry = take(key);
  if (entry == nullptr) return std::nullopt;
  return option_value(entry->value, fmt::format("{} in {}", key, where_), errors_);
}

void TableReader::require(const std::string& key, const std::string& expected) {
  const auto has_key = [&](const TomlEntry& entry) { return entry.key == key; };
  if (std::any_of(table_.entries.begin(), table_.entries.end(), has_key)) return;
  errors_.add(table_.position, fmt::format("{} lacks {} = {}", where_, key, expected));
}

void TableReader::finish() {
  for (const TomlEntry& entry : table_.entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    const std::string near = suggestion(entry.key, known_);
    errors_.add(entry.position, fmt::format("unknown key \"{}\" in {}", entry.key, where_),
                near.empty() ? fmt::format("known are {}", fmt::join(known_, ", ")) : near);
  }
}

std::optional<ProfileValue> option_value(const TomlNode& node, const std::string& what,
                                         ProfileErrors& errors) {
  if (node.kind == TomlNode::Kind::scalar) return ProfileValue{node.scalar, node.position};
  if (node.kind != TomlNode::Kind::array) {
    errors.add(node.position, fmt::format("{} is {}; expected a number, a string, true, false, or "
                                          "an array of these",
                                          what, describe_type(node)));
    return std::nullopt;
  }
  ProfileValue result{nlohmann::json::array(), node.position};
  for (const TomlNode& element : node.elements) {
    if (element.kind != TomlNode::Kind::scalar) {
      errors.add(element.position, fmt::format("{} holds {}; expected numbers or strings", what,
                                               describe_type(element)));
      return std::nullopt;
    }
    result.value.push_back(element.scalar);
  }
  return result;
}

}  // namespace krepro
