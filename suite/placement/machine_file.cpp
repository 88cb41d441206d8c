// Reading topology files: see machine_file.h and docs/placement.md.
#include "suite/placement/machine_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/base/error.h"

namespace krepro {

namespace {

constexpr std::size_t largest_topology_bytes = 64U << 20U;

std::string trimmed_line(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

CpuSet listed_cpus(const std::string& text, const std::string& where) {
  try {
    return CpuSet::parse(text);
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", where, error.what()), error.remedy());
  }
}

/// "0-3 4-7": the kinds from the least capable to the most.
std::vector<CpuSet> kinds_of(const std::string& text, const std::string& where) {
  std::vector<CpuSet> kinds;
  std::istringstream words(text);
  for (std::string word; words >> word;) kinds.push_back(listed_cpus(word, where));
  return kinds;
}

/// What the lines with a key say, kept until the description has been read.
struct Overrides {
  std::string architecture;
  CpuSet allowed;
  CpuSet offline;
  std::vector<CpuSet> kinds;

  void read(const std::string& key, const std::string& value, const std::string& where) {
    if (key == "architecture") {
      architecture = value;
    } else if (key == "allowed") {
      allowed = listed_cpus(value, where);
    } else if (key == "offline") {
      offline = listed_cpus(value, where);
    } else if (key == "kinds") {
      kinds = kinds_of(value, where);
    } else {
      const std::string near = nearest(key, {"architecture", "allowed", "offline", "kinds"});
      throw usage_error(fmt::format("{}: unknown key \"{}\"", where, key),
                        near.empty() ? "known are architecture, allowed, offline and kinds"
                                     : fmt::format("did you mean \"{}\"?", near));
    }
  }

  void apply(Machine& machine, const std::string& name) const {
    const auto require = [&](const CpuSet& cpus, const char* what) {
      const CpuSet missing = cpus - machine.online;
      if (missing.empty()) return;
      throw usage_error(fmt::format("{}: {} names CPUs {} that the description has not", name, what,
                                    missing.to_string()));
    };
    require(allowed, "allowed");
    require(offline, "offline");
    machine.architecture = architecture;
    if (!allowed.empty()) machine.allowed = allowed;
    machine.kinds = kinds;
    for (const CpuSet& kind : kinds) require(kind, "kinds");
    take_offline(machine, offline);
    if (machine.allowed.empty()) throw usage_error(name + ": no CPU is left");
  }
};

/// True for "key = value", and not for a description, whose '=' stands in parentheses.
bool is_setting(const std::string& line) {
  const std::size_t equals = line.find('=');
  return equals != std::string::npos && equals < line.find_first_of("(:");
}

std::string read_topology_text(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw usage_error(fmt::format("{} is a directory", path.string()),
                      "expected a topology file: lstopo FILE.xml writes one");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw usage_error(fmt::format("topology {}: cannot be read", path.string()),
                      "lstopo FILE.xml writes one");
  }
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.size() > largest_topology_bytes) {
    throw usage_error(fmt::format("{}: too large for a topology", path.string()));
  }
  return text;
}

}  // namespace

Machine parse_machine_text(const std::string& text, const std::string& name) {
  Overrides overrides;
  std::string description;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = trimmed_line(line);
    if (line.empty() || line.front() == '#') continue;
    if (is_setting(line)) {
      const std::size_t equals = line.find('=');
      overrides.read(trimmed_line(line.substr(0, equals)), trimmed_line(line.substr(equals + 1)),
                     fmt::format("{}:{}", name, number));
    } else {
      description += (description.empty() ? "" : " ") + line;
    }
  }
  if (description.empty()) {
    throw usage_error(fmt::format("{}: there is no description of a machine", name),
                      "for instance pack:1 numa:1 l3:12 core:4 pu:2(indexes=2*48:48*1)");
  }
  Machine machine;
  try {
    machine = read_machine_from_synthetic(description);
  } catch (const Error& error) {
    throw usage_error(fmt::format("{}: {}", name, error.what()));
  }
  overrides.apply(machine, name);
  return machine;
}

Machine read_machine_file(const std::filesystem::path& path) {
  const std::string text = read_topology_text(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '<') return read_machine_from_xml(path);
  return parse_machine_text(text, path.string());
}

Machine machine_from(const std::filesystem::path& file) {
  return file.empty() ? read_machine() : read_machine_file(file);
}

}  // namespace krepro
