// Takes out of texts and run files what tells who or where the machine is, so that a bundle can be
// attached to a public report. Not a promise: it knows hosts, users, addresses, serial numbers and
// e-mail addresses, and the bundle says what was replaced.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace krepro {

class Scrubber {
 public:
  /// Names to replace wherever they stand as words: host names, user names. Shorter than three
  /// characters they are left, because they would be found everywhere.
  void add_name(const std::string& name, const std::string& replacement);

  /// The text without names, MAC and IP addresses (loopback stays), e-mail addresses, UUIDs, and
  /// the tails of /dev/disk/by-id paths.
  [[nodiscard]] std::string scrub(const std::string& text) const;
  /// Every string of a JSON value; findings marked "identity" and keys about serial numbers lose
  /// their value. Boot ids stay: they change with every boot and lead nowhere.
  [[nodiscard]] nlohmann::json scrub(const nlohmann::json& value) const;

 private:
  std::vector<std::pair<std::string, std::string>> names_;
};

/// Names of this user and this machine, and the machine's serial numbers.
[[nodiscard]] std::vector<std::string> names_of_user();

}  // namespace krepro
