#include "suite/bundle/scrub.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "common/base/host_files.h"

namespace krepro {
namespace {

constexpr std::size_t shortest_name = 3;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// Replaces `name` where no word character stands beside it.
std::string replace_word(const std::string& text, const std::string& name,
                         const std::string& replacement) {
  std::string result;
  std::size_t start = 0;
  for (std::size_t found = text.find(name); found != std::string::npos;
       found = text.find(name, found + 1)) {
    const bool left = found == 0 || !is_word(text[found - 1]);
    const std::size_t end = found + name.size();
    const bool right = end == text.size() || !is_word(text[end]);
    if (!left || !right || found < start) continue;
    result += text.substr(start, found - start) + replacement;
    start = end;
  }
  return result + text.substr(start);
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "0.0.0.0" || address == "::1" || address == "::";
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Replaces what looks like `pattern`, in which x stands for a hexadecimal digit, wherever no
/// further such digit stands beside it.
std::string replace_pattern(const std::string& text, std::string_view pattern,
                            std::string_view replacement) {
  const auto matches_at = [&](std::size_t start) {
    if (start + pattern.size() > text.size()) return false;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const char c = text[start + i];
      if (pattern[i] == 'x' ? !is_hex(c) : c != pattern[i]) return false;
    }
    const std::size_t end = start + pattern.size();
    return (start == 0 || !is_hex(text[start - 1])) && (end == text.size() || !is_hex(text[end]));
  };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (matches_at(i)) {
      result += replacement;
      i += pattern.size();
    } else {
      result += text[i++];
    }
  }
  return result;
}

bool is_ipv4(const std::string& word) {
  const std::vector<std::string> parts = split(word, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           const bool digits = std::all_of(part.begin(), part.end(),
                                           [](unsigned char c) { return std::isdigit(c) != 0; });
           return !part.empty() && part.size() <= 3 && digits && std::stoi(part) <= 255;
         });
}

bool is_ipv6(const std::string& word) {
  const auto colons = std::count(word.begin(), word.end(), ':');
  const bool only_hex =
      std::all_of(word.begin(), word.end(), [](char c) { return is_hex(c) || c == ':'; });
  return only_hex && (colons == 7 || (colons >= 2 && word.find("::") != std::string::npos));
}

/// Addresses of version 4 wherever they stand, with a port or in a list; version numbers have
/// letters or dashes beside them.
std::string replace_ipv4(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts = std::isdigit(static_cast<unsigned char>(text[i])) != 0 &&
                        (i == 0 || !(is_word(text[i - 1]) || text[i - 1] == '.'));
    std::size_t end = std::min(text.find_first_not_of("0123456789.", i), text.size());
    while (starts && text[end - 1] == '.') --end;  // The full stop of a sentence.
    if (!starts) {
      result += text[i++];
      continue;
    }
    const std::string number = text.substr(i, end - i);
    const bool ends = end == text.size() || !is_word(text[end]);
    result += ends && is_ipv4(number) && !is_loopback(number) ? "IP" : number;
    i = end;
  }
  return result;
}

/// A word without what it gives away.
std::string scrub_word(const std::string& word) {
  constexpr std::string_view by_id = "/dev/disk/by-";
  const std::size_t device = word.find(by_id);
  if (device != std::string::npos) return word.substr(0, device) + "/dev/disk/by-id/DEVICE";
  // The full stop of a sentence is not part of it.
  const std::size_t last = word.find_last_not_of(".:,");
  if (last == std::string::npos) return word;
  const std::string core = word.substr(0, last + 1);
  const std::string rest = word.substr(last + 1);
  const std::size_t at = core.find('@');
  if (at != std::string::npos && at > 0 && at + 1 < core.size()) return "USER@HOST" + rest;
  const std::string address = core.substr(0, core.find('/'));
  if (is_ipv6(address) && !is_loopback(address)) return "IP" + core.substr(address.size()) + rest;
  return word;
}

/// Characters that addresses, paths and names are made of; a word ends at any other.
bool is_address_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-+@:/").find(c) != std::string_view::npos;
}

std::string scrub_words(const std::string& text) {
  std::string result;
  std::string word;
  for (const char c : text) {
    if (is_address_character(c)) {
      word += c;
      continue;
    }
    result += scrub_word(word) + c;
    word.clear();
  }
  return result + scrub_word(word);
}

bool is_about_serial(std::string key) {
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key.find("serial") != std::string::npos || key.find("wwid") != std::string::npos ||
         key.find("machine_id") != std::string::npos || key.find("hostname") != std::string::npos;
}

}  // namespace

void Scrubber::add_name(const std::string& name, const std::string& replacement) {
  if (name.size() < shortest_name || name == "root" || name == "localhost") return;
  names_.emplace_back(name, replacement);
  // Longer names first: "node1.lab" before "node1".
  std::stable_sort(names_.begin(), names_.end(), [](const auto& left, const auto& right) {
    return left.first.size() > right.first.size();
  });
}

std::string Scrubber::scrub(const std::string& text) const {
  std::string result = replace_pattern(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "UUID");
  result = replace_pattern(result, "xx:xx:xx:xx:xx:xx", "MAC");
  result = scrub_words(replace_ipv4(result));
  for (const auto& [name, replacement] : names_) {
    result = replace_word(result, name, replacement);
  }
  return result;
}

nlohmann::json Scrubber::scrub(const nlohmann::json& value) const {
  if (value.is_string()) return scrub(value.get_ref<const std::string&>());
  if (value.is_array()) {
    nlohmann::json result = nlohmann::json::array();
    for (const nlohmann::json& element : value) result.push_back(scrub(element));
    return result;
  }
  if (!value.is_object()) return value;
  nlohmann::json result = nlohmann::json::object();
  const bool identity = value.contains("identity") && value["identity"] == true;
  for (const auto& [key, part] : value.items()) {
    if (key == "boot_id" || key == "started" || key == "at") {
      result[key] = part;  // Clock times look like addresses of version 6.
    } else if ((identity && key == "value") || is_about_serial(key)) {
      result[key] = nullptr;
    } else {
      result[key] = scrub(part);
    }
  }
  if (identity) result["reason"] = "taken out of the bundle";
  return result;
}

std::vector<std::string> names_of_user() {
  std::vector<std::string> names;
  for (const char* variable : {"USER", "LOGNAME", "SUDO_USER"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr) names.emplace_back(value);
  }
  const passwd* entry = getpwuid(getuid());
  if (entry != nullptr) names.emplace_back(entry->pw_name);
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) names.emplace_back(host);
  for (const char* file : {"/etc/machine-id", "/sys/class/dmi/id/product_serial",
                           "/sys/class/dmi/id/board_serial", "/sys/class/dmi/id/chassis_serial"}) {
    const std::optional<std::string> number = HostFiles::system().read_line(file);
    // "None", "Not Specified" and "0" are no serial numbers.
    if (number && number->size() > 5 && number->find_first_of("0123456789") != std::string::npos) {
      names.push_back(*number);
    }
  }
  return names;
}

}  // namespace krepro
