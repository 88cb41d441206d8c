// Checking options by the generator's own table and rules.
#include "suite/plan/row_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace krepro {

namespace {

std::string profile_spelling(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string kind_of(const nlohmann::json& value) {
  if (value.is_string()) return fmt::format("the string \"{}\"", value.get<std::string>());
  if (value.is_array()) return "an array";
  return value.dump();
}

/// What TOML type an option of this type takes; empty where `value` has it.
std::string expected_type(const Option& option, const nlohmann::json& value) {
  switch (option.type) {
    case OptionType::flag:
      return value.is_boolean() ? "" : "true or false, without quotes";
    case OptionType::text:
      return value.is_string() ? "" : "a string";
    case OptionType::list:
      return value.is_string() || value.is_array() ? "" : "an array of strings";
    case OptionType::choice:
      return value.is_string() || value.is_number()
                 ? ""
                 : fmt::format("one of {}", fmt::join(option.choices, ", "));
    case OptionType::integer:
    case OptionType::number:
    case OptionType::bytes:
    case OptionType::duration:
    case OptionType::rate:
    case OptionType::share:
      break;
  }
  return value.is_number() || value.is_string() ? "" : "a number, or a string with a unit";
}

/// A parameter is text; where it stands alone for a flag, its words are the flag's.
nlohmann::json typed(const RowOption& option, const Option& known) {
  if (known.type != OptionType::flag || !option.from_parameter) return option.value;
  if (option.value == "true" || option.value == "1") return true;
  if (option.value == "false" || option.value == "0") return false;
  return option.value;
}

class Checker {
 public:
  Checker(const GeneratorInfo& generator, ProfileErrors& errors)
      : generator_(generator), errors_(errors), options_(generator.options) {}

  void set(const RowOption& option) {
    const Option* known = generator_.options.find(option.key);
    if (known == nullptr) {
      report_unknown(option);
      return;
    }
    if (result_.values.contains(known->name)) {
      errors_.add(
          option.key_position,
          fmt::format("{}: option \"{}\" is set twice in one row", generator_.name, option.key),
          "set it in options or in one axis of the matrix");
      return;
    }
    store(option, *known);
  }

  /// A value of [defaults], where the row does not set the option itself. False where the
  /// generator has no such option.
  bool set_default(const RowOption& option) {
    const Meaning meaning = meaning_of(option.key);
    const auto& known = generator_.options.options();
    const auto found = std::find_if(known.begin(), known.end(), [&](const Option& each) {
      return meaning != Meaning::none && each.means == meaning;
    });
    if (found == known.end()) return false;
    if (!result_.values.contains(found->name)) store(option, *found);
    return true;
  }

  /// Checks the name always, scales where there is a factor.
  void scale(const ProfileText& name, const std::optional<FitFactor>& factor) {
    const Option* known = generator_.options.find(name.text);
    if (known == nullptr || known->type != OptionType::integer || !options_.has(known->name)) {
      errors_.add(name.position,
                  fmt::format("fit: \"{}\" is not an option of {} that counts something", name.text,
                              generator_.name),
                  suggestion(name.text, integer_options()));
      return;
    }
    if (!factor) return;
    const std::int64_t before = options_.integer(known->name);
    const double exact = static_cast<double>(before) * factor->cpus_here / factor->cpus_expected;
    const double lowest = known->min < known->max ? std::max(1.0, known->min) : 1.0;
    const auto after = static_cast<std::int64_t>(std::max(lowest, std::round(exact)));
    result_.values[known->name] = after;
    if (after == before) return;
    if (!result_.scaled.empty()) result_.scaled += ", ";
    result_.scaled += fmt::format("{} {} -> {}", known->name, before, after);
  }

  RowOptions finish() {
    result_.notes = options_.notes();
    for (const Option& known : generator_.options.options()) {
      if (known.means != Meaning::runtime || !options_.has(known.name)) continue;
      if (known.type != OptionType::duration) continue;
      result_.runtime_seconds = static_cast<double>(options_.integer(known.name)) / 1e9;
    }
    return std::move(result_);
  }

 private:
  static Meaning meaning_of(const std::string& key) {
    if (key == "runtime") return Meaning::runtime;
    if (key == "seed") return Meaning::seed;
    if (key == "connections") return Meaning::connections;
    if (key == "rate") return Meaning::rate;
    return key == "threads" ? Meaning::threads : Meaning::none;
  }

  void report_unknown(const RowOption& option) {
    std::vector<std::string> names;
    for (const Option& each : generator_.options.options()) {
      names.push_back(profile_spelling(each.name));
      for (const std::string& alias : each.aliases) names.push_back(profile_spelling(alias));
    }
    const std::string near = suggestion(profile_spelling(option.key), names);
    errors_.add(option.key_position,
                fmt::format("{} has no option \"{}\"", generator_.name, option.key),
                near.empty() ? fmt::format("krepro {} --help lists them", generator_.name) : near);
  }

  void store(const RowOption& option, const Option& known) {
    const nlohmann::json value = typed(option, known);
    const std::string expected = expected_type(known, value);
    if (!expected.empty()) {
      errors_.add(option.position, fmt::format("{}: {} is {}; expected {}", generator_.name,
                                               option.key, kind_of(value), expected));
      return;
    }
    try {
      options_.set_json(known.name, value);
      result_.values[known.name] = value;
    } catch (const Error& error) {
      errors_.add(option.position, fmt::format("{}: {}", generator_.name, error.what()),
                  error.remedy());
    }
  }

  std::vector<std::string> integer_options() const {
    std::vector<std::string> names;
    for (const Option& each : generator_.options.options()) {
      if (each.type == OptionType::integer) names.push_back(profile_spelling(each.name));
    }
    return names;
  }

  const GeneratorInfo& generator_;
  ProfileErrors& errors_;
  Options options_;
  RowOptions result_;
};

}  // namespace

RowOptions check_row_options(const Row& row, const GeneratorInfo& generator,
                             const std::vector<RowOption>& defaults,
                             const std::optional<FitFactor>& fit,
                             std::set<std::string>& used_defaults, ProfileErrors& errors) {
  Checker checker(generator, errors);
  for (const RowOption& option : row.options) checker.set(option);
  for (const RowOption& option : defaults) {
    if (checker.set_default(option)) used_defaults.insert(option.key);
  }
  for (const ProfileText& name : row.from->fit) checker.scale(name, fit);
  return checker.finish();
}

}  // namespace krepro
