// Command lines and figures of the original tools; see original.h.
#include "suite/original/original.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/child.h"
#include "common/process/program.h"

namespace krepro {

namespace {

constexpr std::int64_t version_timeout_ns = 5'000'000'000;

Original original_from_json(const nlohmann::json& json) {
  Original original;
  original.program = json.at("program").get<std::string>();
  original.package = json.value("package", "");
  original.version_arguments = json.value("version_arguments", std::vector<std::string>());
  original.extra_arguments = json.value("extra_arguments", std::vector<std::string>());
  for (const nlohmann::json& figure : json.at("figures")) {
    original.figures.push_back({figure.at("metric").get<std::string>(),
                                figure.at("pattern").get<std::string>(),
                                figure.value("scale", 1.0)});
  }
  for (const nlohmann::json& row : json.value("rows", nlohmann::json::array())) {
    original.rows.push_back({row.at("name").get<std::string>(),
                             row.at("options").get<OptionTexts>(), row.value("operations", 0.0),
                             row.value("placements", std::vector<std::string>()),
                             row.value("serve", OptionTexts()), row.value("floating_calls", false),
                             row.value("cpu_ratio_low", 0.0), row.value("cpu_ratio_high", 0.0)});
  }
  original.long_equals = json.value("long_equals", false);
  original.scaling_option = json.value("scaling_option", "");
  original.operation = json.value("operation", "operation");
  original.time_ratio_low = json.value("time_ratio_low", original.time_ratio_low);
  original.time_ratio_high = json.value("time_ratio_high", original.time_ratio_high);
  original.floating_ratio_low = json.value("floating_ratio_low", original.floating_ratio_low);
  original.floating_ratio_high = json.value("floating_ratio_high", original.floating_ratio_high);
  original.without_start_up = json.value("without_start_up", false);
  original.syscall_tolerance = json.value("syscall_tolerance", original.syscall_tolerance);
  original.switches_tolerance = json.value("switches_tolerance", original.switches_tolerance);
  original.cpu_tolerance = json.value("cpu_tolerance", original.cpu_tolerance);
  return original;
}

/// A duration for a tool that counts in `unit_ns`; "60s" is "60" to one that counts in seconds.
/// What is no whole number of them keeps a unit: a fraction would be cut off (fio takes 1.5 for 1).
std::string plain_duration(std::int64_t duration_ns, std::int64_t unit_ns,
                           const std::string& typed) {
  if (unit_ns == 0) return typed;
  if (duration_ns % unit_ns == 0) return fmt::format("{}", duration_ns / unit_ns);
  constexpr std::int64_t microsecond_ns = 1000;
  constexpr std::int64_t millisecond_ns = 1000 * microsecond_ns;
  if (duration_ns % millisecond_ns == 0) return fmt::format("{}ms", duration_ns / millisecond_ns);
  return fmt::format("{}us", std::max<std::int64_t>(1, duration_ns / microsecond_ns));
}

/// The value as any tool can read it: plain numbers without unit and suffix.
std::string plain_value(const OptionTable& table, const Option& option, const std::string& typed) {
  const OptionValue value = table.parse(option, typed);
  switch (option.type) {
    case OptionType::integer:
    case OptionType::bytes:
      return fmt::format("{}", std::get<std::int64_t>(value));
    case OptionType::duration:
      return plain_duration(std::get<std::int64_t>(value), option.plain_unit_ns, typed);
    case OptionType::number:
    case OptionType::rate:
    case OptionType::share:
      return fmt::format("{}", std::get<double>(value));
    default:
      return typed;
  }
}

std::string text_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_number()) return value.dump();
  throw usage_error(fmt::format("{}: {} is not a value of an option", name, value.dump()));
}

const Option& known(const OptionTable& table, const std::string& name) {
  const Option* option = table.find(name);
  if (option != nullptr) return *option;
  std::vector<std::string> names;
  for (const Option& each : table.options()) names.push_back(each.name);
  const std::string near = nearest(name, names);
  throw usage_error(fmt::format("unknown option \"{}\"", name),
                    near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

std::string first_line(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) return line;
    begin = end + 1;
  }
  return {};
}

/// The last part of an output, on one line, to show what was there instead of what was expected.
std::string tail_of(const std::string& output) {
  constexpr std::size_t shown_max = 120;
  std::string tail = output.size() > shown_max ? output.substr(output.size() - shown_max) : output;
  std::replace(tail.begin(), tail.end(), '\n', ' ');
  return tail;
}

std::regex expression_of(const OriginalFigure& figure) {
  try {
    return std::regex(figure.pattern);
  } catch (const std::regex_error& error) {
    throw usage_error(fmt::format("the pattern of {}, \"{}\", is not a regular expression: {}",
                                  figure.metric, figure.pattern, error.what()));
  }
}

}  // namespace

OriginalProgram OriginalProgram::from_description(const nlohmann::json& description) {
  const std::string name = description.value("name", "?");
  if (!description.contains("original") || description.at("original").is_null()) {
    throw usage_error(
        fmt::format("{} does not reproduce another tool: it names no original", name));
  }
  try {
    OriginalProgram program(original_from_json(description.at("original")),
                            OptionTable::from_json(description.at("options")));
    program.generator_ = name;
    program.positional_ = description.value("positional", "");
    for (const nlohmann::json& metric : description.at("metrics")) {
      program.metrics_.push_back({metric.at("name").get<std::string>(), metric.value("unit", ""),
                                  metric.at("better").get<std::string>() == "higher",
                                  metric.value("primary", false), metric.value("help", "")});
    }
    return program;
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format("{}: what --describe says of the original cannot be read: {}",
                                  name, error.what()));
  }
}

const MetricDescription& OriginalProgram::primary() const {
  const auto found = std::find_if(metrics_.begin(), metrics_.end(),
                                  [](const MetricDescription& metric) { return metric.primary; });
  if (found == metrics_.end()) {
    throw usage_error(fmt::format("{} declares no primary metric", generator_));
  }
  return *found;
}

void OriginalProgram::set_in_rows(const std::string& name, const std::string& value) {
  const Option* option = &known(options_, name);
  for (FidelityRow& row : about_.rows) {
    std::erase_if(row.options,
                  [&](const auto& given) { return options_.find(given.first) == option; });
    row.options.emplace_back(option->name, value);
  }
}

std::vector<std::string> OriginalProgram::arguments(const OptionTexts& options) const {
  std::vector<std::string> result;
  std::vector<std::string> last;
  for (const auto& [name, typed] : options) {
    const Option& option = known(options_, name);
    if (option.origin == Origin::ours) {
      if (typed == option.default_text) continue;
      throw usage_error(
          fmt::format("{}: krepro's own option; {} does not know it", name, about_.program));
    }
    const std::string dashes = option.name.size() == 1 ? "-" : "--";
    if (option.type == OptionType::flag) {
      const bool on = std::get<bool>(options_.parse(option, typed));
      if (option.optional_value) {
        result.push_back(fmt::format("{}{}={}", dashes, option.name, on ? 1 : 0));
      } else if (on) {
        result.push_back(dashes + option.name);
      }
      continue;
    }
    const std::string value = plain_value(options_, option, typed);
    if (option.name == positional_) {
      last.push_back(value);
    } else if (about_.long_equals && option.name.size() > 1) {
      result.push_back(fmt::format("--{}={}", option.name, value));
    } else {
      result.push_back(dashes + option.name);
      result.push_back(value);
    }
  }
  result.insert(result.end(), last.begin(), last.end());
  return result;
}

std::vector<std::string> OriginalProgram::arguments_from_json(const nlohmann::json& options) const {
  OptionTexts texts;
  for (const auto& [name, value] : options.items()) {
    if (value.is_array()) {
      for (const nlohmann::json& element : value) texts.emplace_back(name, text_of(name, element));
    } else {
      texts.emplace_back(name, text_of(name, value));
    }
  }
  return arguments(texts);
}

std::vector<std::string> OriginalProgram::command(
    const std::vector<std::string>& option_arguments) const {
  std::vector<std::string> argv{about_.program};
  argv.insert(argv.end(), about_.extra_arguments.begin(), about_.extra_arguments.end());
  argv.insert(argv.end(), option_arguments.begin(), option_arguments.end());
  return argv;
}

std::map<std::string, double> OriginalProgram::read_figures(const std::string& output) const {
  std::map<std::string, double> figures;
  for (const OriginalFigure& figure : about_.figures) {
    std::smatch match;
    if (!std::regex_search(output, match, expression_of(figure)) || match.size() < 2) {
      throw Error(ExitCode::failed, fmt::format("{}: no {} in its output, which ends with \"{}\"",
                                                about_.program, figure.metric, tail_of(output)));
    }
    const std::string text = match[1].str();
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value)) {
      throw Error(ExitCode::failed, fmt::format("{}: {} is \"{}\", not a number", about_.program,
                                                figure.metric, text));
    }
    figures[figure.metric] = value * figure.scale;
  }
  return figures;
}

std::optional<std::filesystem::path> OriginalProgram::find() const {
  return find_program(about_.program);
}

void OriginalProgram::require_installed() const {
  if (find()) return;
  throw not_possible(
      fmt::format("{}, the original of {}, is not installed", about_.program, generator_),
      about_.package.empty()
          ? "install it so that it is found in PATH"
          : fmt::format("apt-get install --no-install-recommends {}", about_.package));
}

std::string OriginalProgram::version() const {
  SpawnRequest request;
  request.argv = {about_.program};
  request.argv.insert(request.argv.end(), about_.version_arguments.begin(),
                      about_.version_arguments.end());
  request.pipe_stdin = false;
  const CommandOutput output = run_command(request, version_timeout_ns);
  // Some print it to stderr, with a status that says failure (hackbench).
  const std::string line = first_line(output.out);
  if (!line.empty()) return line;
  const std::string error_line = first_line(output.err);
  return error_line.empty() ? "unknown" : error_line;
}

}  // namespace krepro
