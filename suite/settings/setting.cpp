#include "suite/settings/setting.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/affinity/scheduling.h"
#include "common/base/error.h"

namespace krepro {
namespace {

/// Names that are whole in themselves.
constexpr std::array<std::string_view, 7> plain_names = {
    "governor", "boost", "smt", "thp", "thp_defrag", "schedstats", "sched_ext"};
constexpr std::string_view examples =
    "kernel.numa_balancing (any sysctl), sched/features, sched/base_slice_ns, block/sda/scheduler, "
    "cgroup/load/cpu.weight, scheduling, governor, boost, smt, thp, thp_defrag, schedstats, "
    "sched_ext";

bool one_of(std::string_view word, const auto& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_path_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." &&
         part.find_first_of(" \t\n") == std::string_view::npos;
}

std::vector<std::string_view> parts_of(std::string_view name, char separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = name.find(separator, start);
    parts.push_back(name.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

bool all_path_parts(const std::vector<std::string_view>& parts) {
  return std::all_of(parts.begin(), parts.end(), is_path_part);
}

bool is_role(std::string_view word) { return word == "load" || word == "serve"; }

Error unknown(const std::string& name) {
  std::vector<std::string> names(plain_names.begin(), plain_names.end());
  names.emplace_back("scheduling");
  names.emplace_back("scheduling.load");
  names.emplace_back("scheduling.serve");
  names.emplace_back("sched/features");
  const std::string near = nearest(name, names);
  return usage_error(fmt::format("\"{}\" is not a setting", name),
                     near.empty() ? fmt::format("there are {}", examples)
                                  : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace

SettingKind kind_of_setting(const std::string& name) {
  if (name == "sched_ext") return SettingKind::sched_ext;
  if (one_of(name, plain_names)) return SettingKind::host;
  const std::vector<std::string_view> slashes = parts_of(name, '/');
  const std::vector<std::string_view> dots = parts_of(name, '.');
  if (name == "scheduling" || (dots.size() == 2 && dots[0] == "scheduling" && is_role(dots[1]))) {
    return SettingKind::scheduling;
  }
  if (!all_path_parts(slashes)) throw unknown(name);
  if (slashes[0] == "cgroup" && slashes.size() == 3 && is_role(slashes[1])) {
    return SettingKind::cgroup;
  }
  if (slashes[0] == "sched" && slashes.size() >= 2) return SettingKind::host;
  if (slashes[0] == "block" && slashes.size() == 3) return SettingKind::host;
  if (slashes.size() == 1 && dots.size() >= 2 && all_path_parts(dots)) return SettingKind::host;
  throw unknown(name);
}

void check_setting(const Setting& setting) {
  const SettingKind kind = kind_of_setting(setting.name);
  if (setting.value.empty() || setting.value.find('\n') != std::string::npos) {
    throw usage_error(fmt::format("the value of {} is empty or has several lines", setting.name));
  }
  if (kind == SettingKind::scheduling) (void)parse_scheduling(setting.value);
}

bool changes_machine(const Setting& setting) {
  const SettingKind kind = kind_of_setting(setting.name);
  return kind == SettingKind::host || kind == SettingKind::sched_ext;
}

std::string role_of_setting(const std::string& name) {
  for (const char* role : {"load", "serve"}) {
    if (name == fmt::format("scheduling.{}", role) ||
        name.starts_with(fmt::format("cgroup/{}/", role))) {
      return role;
    }
  }
  return {};
}

std::string label_suffix(const std::vector<Setting>& settings) {
  std::string suffix;
  for (const Setting& setting : settings) {
    suffix += fmt::format("+{}={}", setting.name, setting.value);
  }
  for (char& letter : suffix) {
    if (letter <= ' ' || letter > '~') letter = '_';
  }
  return suffix;
}

}  // namespace krepro
