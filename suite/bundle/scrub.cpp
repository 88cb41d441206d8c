#include "suite/bundle/scrub.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>

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

/// Replaces what matches, unless it is a loopback address.
std::string replace_pattern(const std::string& text, const std::regex& pattern,
                            const std::string& replacement) {
  std::string result;
  auto position = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    result.append(position, (*match)[0].first);
    result += is_loopback(match->str()) ? match->str() : replacement;
    position = (*match)[0].second;
  }
  result.append(position, text.cend());
  return result;
}

struct Pattern {
  std::regex expression;
  const char* replacement;
};

const std::vector<Pattern>& patterns() {
  using std::regex;
  static const std::vector<Pattern> list = {
      {regex(R"(/dev/disk/by-[a-z]+/[^\s",;]+)"), "/dev/disk/by-id/DEVICE"},
      {regex(R"([A-Za-z0-9._+-]+@[A-Za-z0-9._-]+)"), "USER@HOST"},
      {regex(R"(\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b)"),
       "UUID"},
      {regex(R"(\b[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}\b)"), "MAC"},
      {regex(R"(\b(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}\b)"), "IP"},
      {regex(R"(\b[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4}){7}\b)"), "IP"},
      {regex(
           R"(\b[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4}){1,6}::([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?)"),
       "IP"},
  };
  return list;
}

bool may_hold_pattern(const std::string& text) {
  return text.find_first_of("@:") != std::string::npos ||
         std::count(text.begin(), text.end(), '.') >= 3 ||
         std::count(text.begin(), text.end(), '-') >= 4 ||
         text.find("/dev/disk/") != std::string::npos;
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
  std::string result = text;
  if (may_hold_pattern(text)) {
    for (const Pattern& pattern : patterns()) {
      result = replace_pattern(result, pattern.expression, pattern.replacement);
    }
  }
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
    } else if (identity && key == "value") {
      result[key] = nullptr;
    } else if (is_about_serial(key)) {
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
  return names;
}

}  // namespace krepro
