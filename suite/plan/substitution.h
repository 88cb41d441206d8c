// ${name} in a profile's texts: parameters in values, and values in row names.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/profile/profile.h"

namespace krepro {

/// The value of a name, or nothing where there is none of that name.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// `text` with every ${name} replaced; "$${" stands for a literal "${". Throws usage_error for a
/// name that `lookup` does not know, and for a "${" that is never closed.
[[nodiscard]] std::string substitute(const std::string& text, const Lookup& lookup);
/// The names that `text` refers to. Throws usage_error as above.
[[nodiscard]] std::vector<std::string> names_in(const std::string& text);

/// The profile's parameters with the values that --set or the profile gives them.
class Parameters {
 public:
  /// `settings`: "name=value" each. Reports unknown names and parameters that must be given and
  /// are not.
  Parameters(const Profile& profile, const std::vector<std::string>& settings,
             ProfileErrors& errors);

  /// A string of the profile with parameters filled in; other values as they are. Nothing where
  /// that is not possible; why has then been reported.
  [[nodiscard]] std::optional<nlohmann::json> fill(const nlohmann::json& value,
                                                   SourcePosition position);
  [[nodiscard]] std::optional<std::string> value(const std::string& name) const;
  /// Reports parameters that no text referred to: what they are set to could not matter.
  void report_unused();
  /// Notes a name that a row's name refers to.
  void mark_used(const std::string& name) { used_.insert(name); }

 private:
  const Profile& profile_;
  ProfileErrors& errors_;
  std::map<std::string, std::string> values_;
  std::set<std::string> used_;
};

}  // namespace krepro
