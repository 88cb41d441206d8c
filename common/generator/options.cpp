// Parsing and checking of option values, from text and from JSON, by the generator's table.
#include "common/generator/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro {

namespace {

constexpr const char* type_names[] = {"flag", "integer", "number", "bytes",  "duration",
                                      "rate", "share",   "text",   "choice", "list"};
constexpr const char* meaning_names[] = {"none", "runtime", "seed",  "connections",
                                         "rate", "threads", "trial", "boot"};
constexpr const char* origin_names[] = {"original", "ours", "ignored", "refused"};

template <typename Enum, std::size_t size>
Enum enum_of(const std::string& text, const char* const (&names)[size], const char* what) {
  for (std::size_t i = 0; i < size; ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
  }
  throw usage_error(fmt::format("\"{}\" is not {} of an option", text, what));
}

/// Profile keys and some originals spell '_' where others have '-': both name the same option.
std::string with_dashes(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

bool parse_flag(std::string_view text) {
  if (text.empty() || text == "1" || text == "true") return true;
  if (text == "0" || text == "false") return false;
  throw usage_error(
      fmt::format("\"{}\" is not a flag's value: expected true, false, 1 or 0", text));
}

std::int64_t parse_integer(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::uint64_t magnitude = parse_count(negative ? text.substr(1) : text);
  if (magnitude > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw usage_error(fmt::format("{} is too large", text));
  }
  const auto value = static_cast<std::int64_t>(magnitude);
  return negative ? -value : value;
}

void check_range(const Option& option, double value, std::string_view text) {
  if (option.min >= option.max) return;
  const char* problem = value < option.min ? "below" : value > option.max ? "above" : nullptr;
  if (problem == nullptr) return;
  const double bound = value < option.min ? option.min : option.max;
  const std::string shown = option.type == OptionType::duration ? format_duration(bound)
                            : option.type == OptionType::bytes  ? format_bytes(bound)
                                                                : fmt::format("{}", bound);
  throw usage_error(fmt::format("{} is {} {}", text, problem, shown));
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

OptionValue parse_unnamed(const Option& option, std::string_view text) {
  switch (option.type) {
    case OptionType::flag:
      return parse_flag(text);
    case OptionType::integer: {
      const std::int64_t value = parse_integer(text);
      check_range(option, static_cast<double>(value), text);
      return value;
    }
    case OptionType::bytes: {
      const std::uint64_t value = parse_bytes(text);
      check_range(option, static_cast<double>(value), text);
      return static_cast<std::int64_t>(value);
    }
    case OptionType::duration: {
      const std::int64_t value = parse_duration_ns(text, option.plain_unit_ns);
      check_range(option, static_cast<double>(value), text);
      return value;
    }
    case OptionType::number:
    case OptionType::rate:
    case OptionType::share: {
      const double value = option.type == OptionType::number ? parse_number(text)
                           : option.type == OptionType::rate ? parse_rate(text)
                                                             : parse_share(text);
      check_range(option, value, text);
      return value;
    }
    case OptionType::choice: {
      const std::string word(text);
      if (std::find(option.choices.begin(), option.choices.end(), word) == option.choices.end()) {
        const std::string near = nearest(word, option.choices);
        throw usage_error(
            fmt::format("\"{}\" is not one of {}", word, fmt::join(option.choices, ", ")),
            near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
      }
      return word;
    }
    case OptionType::list:
      return split_list(text);
    case OptionType::text:
      break;
  }
  return std::string(text);
}

/// The text that a JSON scalar stands for, so that JSON and command line share one parser.
std::string text_of(const Option& option, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) {
    if (option.type != OptionType::flag) {
      throw usage_error(fmt::format("{} is not a {}", value.dump(),
                                    type_names[static_cast<std::size_t>(option.type)]));
    }
    return value.get<bool>() ? "1" : "0";
  }
  if (value.is_number()) return value.dump();
  throw usage_error(fmt::format("{} is not a value", value.dump()));
}

}  // namespace

OptionTable::OptionTable(std::vector<Option> options) : options_(std::move(options)) {
  for (const Option& option : options_) {
    KREPRO_CHECK(find(option.name) == &option);
    for (const std::string& alias : option.aliases) KREPRO_CHECK(find(alias) == &option);
  }
}

const Option* OptionTable::find(std::string_view name) const {
  const std::string wanted = with_dashes(name);
  for (const Option& option : options_) {
    if (with_dashes(option.name) == wanted) return &option;
    for (const std::string& alias : option.aliases) {
      if (with_dashes(alias) == wanted) return &option;
    }
  }
  return nullptr;
}

OptionValue OptionTable::parse(const Option& option, std::string_view text) const {
  try {
    return parse_unnamed(option, text);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", option.name, error.what()), error.remedy());
  }
}

nlohmann::json OptionTable::to_json() const {
  nlohmann::json json = nlohmann::json::array();
  for (const Option& option : options_) {
    nlohmann::json entry = {{"name", option.name},
                            {"aliases", option.aliases},
                            {"type", type_names[static_cast<std::size_t>(option.type)]},
                            {"unit", option.unit},
                            {"default", option.default_text},
                            {"help", option.help},
                            {"means", meaning_names[static_cast<std::size_t>(option.means)]},
                            {"origin", origin_names[static_cast<std::size_t>(option.origin)]}};
    if (option.min < option.max) {
      entry["min"] = option.min;
      entry["max"] = option.max;
    }
    if (!option.choices.empty()) entry["choices"] = option.choices;
    if (option.plain_unit_ns != 0) entry["plain_unit_ns"] = option.plain_unit_ns;
    if (option.optional_value) entry["optional_value"] = true;
    json.push_back(std::move(entry));
  }
  return json;
}

OptionTable OptionTable::from_json(const nlohmann::json& json) {
  std::vector<Option> options;
  try {
    for (const nlohmann::json& entry : json) {
      Option option;
      option.name = entry.at("name").get<std::string>();
      option.aliases = entry.value("aliases", std::vector<std::string>());
      option.type = enum_of<OptionType>(entry.at("type").get<std::string>(), type_names, "a type");
      option.unit = entry.value("unit", "");
      option.default_text = entry.value("default", "");
      option.min = entry.value("min", 0.0);
      option.max = entry.value("max", 0.0);
      option.choices = entry.value("choices", std::vector<std::string>());
      option.help = entry.value("help", "");
      option.means = enum_of<Meaning>(entry.value("means", "none"), meaning_names, "a meaning");
      option.origin = enum_of<Origin>(entry.value("origin", "original"), origin_names, "an origin");
      option.plain_unit_ns = entry.value("plain_unit_ns", std::int64_t{0});
      option.optional_value = entry.value("optional_value", false);
      options.push_back(std::move(option));
    }
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format("not a table of options: {}", error.what()));
  }
  return OptionTable(std::move(options));
}

Options::Options(const OptionTable& table) : table_(&table) {
  for (const Option& option : table.options()) {
    if (option.type == OptionType::flag) {
      values_[option.name] = !option.default_text.empty() && parse_flag(option.default_text);
    } else if (!option.default_text.empty()) {
      values_[option.name] = table.parse(option, option.default_text);
    } else if (option.type == OptionType::list) {
      values_[option.name] = std::vector<std::string>();
    }
  }
}

namespace {

/// The option of that name, or an error with the nearest one.
const Option& known(const OptionTable& table, std::string_view name) {
  const Option* option = table.find(name);
  if (option != nullptr) return *option;
  std::vector<std::string> names;
  for (const Option& each : table.options()) names.push_back(each.name);
  const std::string near = nearest(name, names);
  throw usage_error(fmt::format("unknown option \"{}\"", name),
                    near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

void Options::set(std::string_view name, std::string_view text) {
  const Option& option = known(*table_, name);
  if (option.origin == Origin::refused) {
    throw usage_error(
        fmt::format("{}: known, but not implemented here, and it would change the load{}",
                    option.name, option.help.empty() ? "" : ": " + option.help));
  }
  if (option.origin == Origin::ignored) {
    notes_.push_back(fmt::format("{}: accepted, has no effect on the load here{}", option.name,
                                 option.help.empty() ? "" : ": " + option.help));
    return;
  }
  store(option, table_->parse(option, text));
}

void Options::set_json(std::string_view name, const nlohmann::json& value) {
  const Option& option = known(*table_, name);
  if (value.is_array()) {
    if (option.type != OptionType::list) {
      throw usage_error(fmt::format("{}: one value expected, not a list", option.name));
    }
    for (const nlohmann::json& element : value) {
      store(option, std::vector<std::string>{text_of(option, element)});
    }
    return;
  }
  std::string text;
  try {
    text = text_of(option, value);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", option.name, error.what()), error.remedy());
  }
  set(name, text);
}

void Options::store(const Option& option, OptionValue value) {
  if (option.type == OptionType::list && given_[option.name]) {
    auto& list = std::get<std::vector<std::string>>(values_[option.name]);
    for (std::string& element : std::get<std::vector<std::string>>(value)) {
      list.push_back(std::move(element));
    }
  } else {
    values_[option.name] = std::move(value);
  }
  given_[option.name] = true;
}

void Options::override_with(const Options& other) {
  for (const auto& [name, given] : other.given_) {
    if (!given) continue;
    values_[name] = other.at(name);
    given_[name] = true;
  }
}

bool Options::given(std::string_view name) const {
  const auto found = given_.find(name);
  return found != given_.end() && found->second;
}

bool Options::has(std::string_view name) const { return values_.find(name) != values_.end(); }

const OptionValue& Options::at(std::string_view name) const {
  const auto found = values_.find(name);
  KREPRO_CHECK(found != values_.end());
  return found->second;
}

bool Options::flag(std::string_view name) const { return std::get<bool>(at(name)); }
std::int64_t Options::integer(std::string_view name) const {
  return std::get<std::int64_t>(at(name));
}
double Options::number(std::string_view name) const { return std::get<double>(at(name)); }
const std::string& Options::text(std::string_view name) const {
  return std::get<std::string>(at(name));
}
const std::vector<std::string>& Options::list(std::string_view name) const {
  return std::get<std::vector<std::string>>(at(name));
}

Option make_option(std::string name, std::vector<std::string> aliases, OptionType type,
                   std::string default_text, std::string help) {
  Option made;
  made.name = std::move(name);
  made.aliases = std::move(aliases);
  made.type = type;
  made.default_text = std::move(default_text);
  made.help = std::move(help);
  return made;
}

Option ranged(Option option, double min, double max) {
  option.min = min;
  option.max = max;
  return option;
}

Option meaning(Option option, Meaning means) {
  option.means = means;
  return option;
}

std::string value_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

nlohmann::json Options::to_json() const {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, value] : values_) {
    std::visit([&json, &key = name](const auto& v) { json[key] = v; }, value);
  }
  return json;
}

}  // namespace krepro
