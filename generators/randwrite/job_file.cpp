// Parsing of job files.
#include "generators/randwrite/job_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "common/base/error.h"

namespace krepro::randwrite {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// "[name]" -> "name"; throws for a bracket that is not closed or encloses nothing.
std::string section_name(const std::string& line) {
  const std::string name = line.back() == ']' ? trimmed(line.substr(1, line.size() - 2)) : "";
  if (name.empty())
    throw usage_error(fmt::format("\"{}\" is not a section: expected [name]", line));
  return name;
}

void set_option(Options& options, const std::string& line) {
  const std::size_t equals = line.find('=');
  const std::string name = trimmed(line.substr(0, equals));
  const std::string value =
      equals == std::string::npos ? std::string() : trimmed(line.substr(equals + 1));
  if (name.starts_with("include ") || name == "include") {
    throw usage_error("include: job files are not included into each other here");
  }
  if (value.find("${") != std::string::npos) {
    throw usage_error(
        fmt::format("{}: variables are not expanded here; profiles have parameters", name));
  }
  const Option* option = options.table().find(name);
  if (option != nullptr && option->origin == Origin::original && option->type != OptionType::flag &&
      equals == std::string::npos) {
    throw usage_error(fmt::format("{}: a value is missing", name));
  }
  if (option != nullptr && option->name == "jobfile") {
    throw usage_error("jobfile: not within a job file");
  }
  options.set(name, value);
}

}  // namespace

std::vector<JobSection> parse_job_file(const std::string& text, const std::string& path,
                                       const Options& overrides) {
  std::vector<JobSection> sections;
  Options global(overrides.table());
  Options* current = nullptr;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    try {
      if (line.front() == '[') {
        const std::string name = section_name(line);
        if (name == "global") {
          current = &global;
        } else {
          sections.push_back({name, global});
          current = &sections.back().options;
        }
      } else if (current == nullptr) {
        throw usage_error(fmt::format("\"{}\" stands before the first [section]", line));
      } else {
        set_option(*current, line);
      }
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}:{}: {}", path, number, error.what()),
                  error.remedy());
    }
  }
  if (sections.empty()) throw usage_error(fmt::format("{}: no job in it", path));
  for (JobSection& section : sections) section.options.override_with(overrides);
  return sections;
}

std::vector<JobSection> read_job_file(const std::string& path, const Options& overrides) {
  std::ifstream in(path);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) {
    throw system_error(fmt::format("job file {}", path), errno != 0 ? errno : ENOENT);
  }
  return parse_job_file(text.str(), path, overrides);
}

}  // namespace krepro::randwrite
