// From settings to files.
#include "suite/settings/knob.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/error.h"
#include "common/base/kernel_text.h"

namespace krepro {
namespace {

constexpr const char* debug_folder = "/sys/kernel/debug/sched";
constexpr const char* cpufreq_folder = "/sys/devices/system/cpu/cpufreq";
constexpr const char* no_turbo = "/sys/devices/system/cpu/intel_pstate/no_turbo";

std::string single_spaced(const std::string& text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    for (const std::string_view word : words_of(line)) {
      if (!result.empty()) result += ' ';
      result += word;
    }
  }
  return result;
}

std::vector<KnobWrite> feature_writes(const Setting& setting, const KnobAccess& access) {
  const std::string path = std::string(debug_folder) + "/features";
  std::vector<KnobWrite> writes;
  for (const std::string_view word : words_of(setting.value)) {
    const std::string feature(word.starts_with("NO_") ? word.substr(3) : word);
    const Knob knob{path, feature};
    int error_number = 0;
    if (!access.read(knob, &error_number)) {
      if (error_number == 0) {
        throw not_possible(fmt::format("sched/features: this kernel has no feature {}", feature),
                           fmt::format("it has those in {}", path));
      }
      break;  // Said when it is written.
    }
    writes.push_back({knob, std::string(word)});
  }
  return writes.empty() ? std::vector<KnobWrite>{{{path, ""}, setting.value}} : writes;
}

std::vector<KnobWrite> governor_writes(const Setting& setting, const KnobAccess& access) {
  std::vector<KnobWrite> writes;
  for (const std::string& name : access.host().list(cpufreq_folder)) {
    if (!name.starts_with("policy")) continue;
    writes.push_back(
        {{fmt::format("{}/{}/scaling_governor", cpufreq_folder, name), ""}, setting.value});
  }
  if (writes.empty()) {
    throw not_possible("governor: this machine has no frequency governor (no cpufreq driver)",
                       "leave it out of the profile; virtual machines rarely have one");
  }
  return writes;
}

bool is_off(const std::string& value) {
  return value == "0" || value == "off" || value == "false" || value == "no";
}

std::vector<KnobWrite> boost_writes(const Setting& setting, const KnobAccess& access) {
  const bool off = is_off(setting.value);
  if (access.host().exists(no_turbo)) return {{{no_turbo, ""}, off ? "1" : "0"}};
  return {{{std::string(cpufreq_folder) + "/boost", ""}, off ? "0" : "1"}};
}

std::string block_path(const std::string& name) {
  const std::size_t last = name.rfind('/');
  return fmt::format("/sys/block/{}/queue/{}", name.substr(6, last - 6), name.substr(last + 1));
}

std::string sysctl_path(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return "/proc/sys/" + name;
}

}  // namespace

int KnobAccess::write(const std::string& path, const std::string& text) const {
  const int descriptor = ::open(host_.real(path).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  const int error = written < 0 ? errno : written == static_cast<ssize_t>(text.size()) ? 0 : EIO;
  // Some files of the kernel refuse a value only when they are closed.
  return ::close(descriptor) != 0 && error == 0 ? errno : error;
}

std::optional<std::string> KnobAccess::read(const Knob& knob, int* error_number) const {
  const std::optional<std::string> text = host_.read(knob.path, error_number);
  if (!text) return std::nullopt;
  if (!knob.feature.empty()) {
    for (const std::string_view line : lines_of(*text)) {
      for (const std::string_view word : words_of(line)) {
        if (word == knob.feature || word == "NO_" + knob.feature) return std::string(word);
      }
    }
    return std::nullopt;
  }
  const std::string value = single_spaced(*text);
  const std::string_view marked = marked_word(value);
  return marked.empty() ? value : std::string(marked);
}

std::vector<KnobWrite> knob_writes(const Setting& setting, const KnobAccess& access) {
  const std::string& name = setting.name;
  if (name == "sched/features") return feature_writes(setting, access);
  if (name == "governor") return governor_writes(setting, access);
  if (name == "boost") return boost_writes(setting, access);
  std::string path;
  std::string value = setting.value;
  if (name == "smt") {
    path = "/sys/devices/system/cpu/smt/control";
    value = is_off(value) ? "off" : value == "1" || value == "true" ? "on" : value;
  } else if (name == "thp") {
    path = "/sys/kernel/mm/transparent_hugepage/enabled";
  } else if (name == "thp_defrag") {
    path = "/sys/kernel/mm/transparent_hugepage/defrag";
  } else if (name == "schedstats") {
    path = sysctl_path("kernel.sched_schedstats");
  } else if (name.starts_with("sched/")) {
    path = std::string(debug_folder) + name.substr(5);
  } else if (name.starts_with("block/")) {
    path = block_path(name);
  } else {
    path = sysctl_path(name);
  }
  return {{{path, ""}, value}};
}

bool same_value(const std::string& left, const std::string& right) {
  const std::string first = single_spaced(left);
  const std::string second = single_spaced(right);
  if (first == second) return true;
  const auto a = number_in(first);
  const auto b = number_in(second);
  return a && b && *a == *b;
}

}  // namespace krepro
