// Small readers for the item tables.
#include "suite/environment/findings.h"

#include <cerrno>
#include <charconv>
#include <map>
#include <sstream>

#include "common/affinity/cpu_set.h"

namespace krepro {

Finding found(nlohmann::json value, std::string source) {
  Finding finding;
  finding.value = std::move(value);
  finding.source = std::move(source);
  return finding;
}

Finding not_found(std::string reason, std::string source) {
  Finding finding;
  finding.source = std::move(source);
  finding.reason = std::move(reason);
  return finding;
}

Finding line_of(const HostFiles& host, const std::string& path) {
  int error_number = 0;
  std::optional<std::string> line = host.read_line(path, &error_number);
  if (!line) return not_found(reason_text(error_number), path);
  // Device-tree texts end with a NUL.
  while (line->ends_with('\0')) line->pop_back();
  if (line->empty()) return not_found("empty", path);
  return found(*line, path);
}

Finding number_of(const HostFiles& host, const std::string& path) {
  if (const std::optional<std::int64_t> number = host.read_number(path)) {
    return found(*number, path);
  }
  return line_of(host, path);
}

Finding chosen_of(const HostFiles& host, const std::string& path) {
  Finding finding = line_of(host, path);
  if (!finding.value.is_string()) return finding;
  const std::string text = finding.value.get<std::string>();
  if (const std::string_view marked = marked_word(text); !marked.empty()) finding.value = marked;
  return finding;
}

Finding first_line_of(const HostFiles& host, std::initializer_list<std::string> paths) {
  Finding finding;
  std::string sources;
  for (const std::string& path : paths) {
    finding = line_of(host, path);
    if (!finding.value.is_null()) return finding;
    sources += (sources.empty() ? "" : ", ") + path;
  }
  finding.source = sources;
  return finding;
}

std::optional<std::string> field_in(const std::string& text, const std::string& field) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(field)) continue;
    std::size_t at = line.find_first_not_of(" \t", field.size());
    if (at == std::string::npos || (line[at] != ':' && line[at] != '=')) continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos) continue;
    return line.substr(at, line.find_last_not_of(" \t") - at + 1);
  }
  return std::nullopt;
}

Finding field_of(const HostFiles& host, const std::string& path, const std::string& field) {
  int error_number = 0;
  const std::optional<std::string> text = host.read(path, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  if (const auto value = field_in(*text, field)) return found(*value, path);
  return not_found("the file has no such line", path);
}

std::optional<std::string> cpuinfo_start(const HostFiles& host, int* error_number) {
  constexpr std::size_t enough_bytes = 16384;
  return host.read_start("/proc/cpuinfo", enough_bytes, error_number);
}

Finding cpuinfo_field(const HostFiles& host, const std::string& field) {
  const std::string path = "/proc/cpuinfo";
  int error_number = 0;
  const std::optional<std::string> text = cpuinfo_start(host, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  if (const auto value = field_in(*text, field)) return found(*value, path);
  return not_found("the file has no such line", path);
}

bool has_word(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  for (std::string each; words >> each;) {
    if (each == word) return true;
  }
  return false;
}

nlohmann::json number_or_text(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && error == std::errc() && end == text.data() + text.size()) return number;
  return text;
}

Finding directory_of(const HostFiles& host, const std::string& directory, std::size_t most) {
  nlohmann::json values = nlohmann::json::object();
  int error_number = 0;
  for (const std::string& name : host.list(directory)) {
    if (values.size() == most) break;
    const auto text = host.read_line(directory + "/" + name, &error_number);
    if (text) values[name] = number_or_text(*text);
  }
  if (values.empty()) {
    const bool there = host.exists(directory);
    return not_found(there && error_number != 0 ? reason_text(error_number)
                     : there                    ? "empty, or no permission"
                                                : "absent",
                     directory);
  }
  return found(std::move(values), directory);
}

Finding per_cpu(const HostFiles& host, const std::string& file) {
  const std::string directory = "/sys/devices/system/cpu";
  std::map<std::string, std::vector<int>> cpus_by_value;
  int error_number = ENOENT;
  for (const std::string& name : host.list(directory)) {
    if (!name.starts_with("cpu") || name.size() == 3 ||
        name.find_first_not_of("0123456789", 3) != std::string::npos) {
      continue;
    }
    const std::optional<std::string> text =
        host.read_line(directory + "/" + name + "/" + file, &error_number);
    if (text) cpus_by_value[*text].push_back(std::stoi(name.substr(3)));
  }
  const std::string source = directory + "/cpu*/" + file;
  if (cpus_by_value.empty()) return not_found(reason_text(error_number), source);
  nlohmann::json value = nlohmann::json::object();
  for (auto& [text, cpus] : cpus_by_value) value[text] = CpuSet(std::move(cpus)).to_string();
  // One value for all CPUs is the usual case, and reads better plain.
  if (value.size() == 1) return found(value.begin().key(), source);
  return found(std::move(value), source);
}

}  // namespace krepro
