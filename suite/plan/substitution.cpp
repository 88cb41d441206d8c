// Replaces ${name} in the strings of a profile. What a name may stand for is the caller's business.
#include "suite/plan/substitution.h"

#include <fmt/format.h>

#include "common/base/error.h"

namespace krepro {

std::string substitute(const std::string& text, const Lookup& lookup) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text.compare(at, 3, "$${") == 0) {
      result += "${";
      at += 3;
      continue;
    }
    if (text.compare(at, 2, "${") != 0) {
      result += text[at++];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos) {
      throw usage_error(fmt::format("\"{}\": ${{ is never closed", text));
    }
    const std::string name = text.substr(at + 2, end - at - 2);
    const auto value = lookup(name);
    if (!value) throw usage_error(fmt::format("\"{}\": nothing is called {}", text, name));
    result += *value;
    at = end + 1;
  }
  return result;
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  (void)substitute(text, [&](const std::string& name) {
    names.push_back(name);
    return std::string();
  });
  return names;
}

namespace {

std::vector<std::string> parameter_names(const Profile& profile) {
  std::vector<std::string> names;
  for (const auto& [name, parameter] : profile.parameters) names.push_back(name);
  return names;
}

}  // namespace

Parameters::Parameters(const Profile& profile, const std::vector<std::string>& settings,
                       ProfileErrors& errors)
    : profile_(profile), errors_(errors) {
  for (const auto& [name, parameter] : profile.parameters) {
    if (parameter.default_value) values_[name] = *parameter.default_value;
  }
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      errors.add({}, fmt::format("--set {}: expected NAME=VALUE", setting));
      continue;
    }
    const std::string name = setting.substr(0, equals);
    if (!profile.parameters.contains(name)) {
      const std::string near = suggestion(name, parameter_names(profile));
      const std::string none = profile.parameters.empty() ? "this profile has no parameters" : "";
      errors.add({},
                 fmt::format("--set {}: {} has no parameter \"{}\"", setting, profile.name, name),
                 near.empty() ? none : near);
      continue;
    }
    values_[name] = setting.substr(equals + 1);
  }
  for (const auto& [name, parameter] : profile.parameters) {
    if (values_.contains(name)) continue;
    errors.add(parameter.position,
               fmt::format("parameter \"{}\" must be given: {}", name, parameter.help),
               fmt::format("add --set {}=...", name));
  }
}

std::optional<std::string> Parameters::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::optional<nlohmann::json> Parameters::fill(const nlohmann::json& value,
                                               SourcePosition position) {
  if (value.is_array()) {
    nlohmann::json filled = nlohmann::json::array();
    for (const nlohmann::json& element : value) {
      auto each = fill(element, position);
      if (!each) return std::nullopt;
      filled.push_back(std::move(*each));
    }
    return filled;
  }
  if (!value.is_string()) return value;
  bool missing = false;
  try {
    std::string filled = substitute(
        value.get<std::string>(), [&](const std::string& name) -> std::optional<std::string> {
          if (!profile_.parameters.contains(name)) {
            const std::string near = suggestion(name, parameter_names(profile_));
            throw usage_error(fmt::format("no parameter is called \"{}\"", name),
                              near.empty() ? "declare it in [parameters]" : near);
          }
          used_.insert(name);
          const auto found = this->value(name);
          missing = missing || !found;  // reported once, where it is declared
          return found.value_or("");
        });
    if (missing) return std::nullopt;
    return nlohmann::json(std::move(filled));
  } catch (const Error& error) {
    errors_.add(position, error.what(), error.remedy());
    return std::nullopt;
  }
}

void Parameters::report_unused() {
  for (const auto& [name, parameter] : profile_.parameters) {
    if (used_.contains(name) || !values_.contains(name)) continue;
    errors_.add(parameter.position, fmt::format("parameter \"{}\" is not used", name),
                fmt::format("refer to it as ${{{}}}", name));
  }
}

}  // namespace krepro
