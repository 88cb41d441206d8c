// Reads the keys of one TOML table with their types and ranges, and reports what is left over as
// unknown. Which keys there are is the caller's knowledge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "suite/profile/profile.h"
#include "suite/profile/toml_tree.h"

namespace krepro {

class TableReader {
 public:
  /// `where` names the table in messages: "[defaults]".
  TableReader(const TomlNode& table, std::string where, ProfileErrors& errors);

  /// Each returns nothing where the key is absent or wrong; what is wrong has then been reported.
  std::optional<ProfileText> text(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key, std::int64_t min, std::int64_t max);
  std::optional<double> positive_number(const std::string& key, double max);
  std::optional<bool> flag(const std::string& key);
  const TomlNode* table(const std::string& key);
  /// A value of any type that an option may have: a scalar, or an array of scalars.
  std::optional<ProfileValue> value(const std::string& key);
  /// Marks the key as known and returns it whatever it is.
  const TomlEntry* take(const std::string& key);
  /// Reports that the key must be there. `expected`: "a string, for instance \"null\"".
  void require(const std::string& key, const std::string& expected);
  /// Reports every key that was not asked for, with the nearest one that was.
  void finish();

 private:
  void wrong_type(const TomlEntry& entry, const std::string& expected);
  const TomlNode& table_;
  std::string where_;
  ProfileErrors& errors_;
  std::vector<std::string> known_;
};

/// A node as an option's value; reports and returns nothing where it is a table, a date, or holds
/// one. `what` names it in the message: "options.bs".
[[nodiscard]] std::optional<ProfileValue> option_value(const TomlNode& node,
                                                       const std::string& what,
                                                       ProfileErrors& errors);

}  // namespace krepro
