// The table of items put together and read.
#include "suite/environment/environment.h"

#include <fmt/core.h>

#include <cstring>
#include <optional>

#include "suite/environment/findings.h"

namespace krepro {
namespace {

nlohmann::json to_json(Finding finding) {
  nlohmann::json json = {{"value", std::move(finding.value)}, {"source", finding.source}};
  if (json["value"].is_null()) json["reason"] = finding.reason;
  if (finding.identity) json["identity"] = true;
  return json;
}

std::uint32_t word_at(const std::string& bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

std::size_t padded(std::size_t size) { return (size + 3U) & ~std::size_t{3U}; }

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

const std::vector<EnvironmentItem>& environment_items() {
  static const std::vector<EnvironmentItem> items = [] {
    std::vector<EnvironmentItem> all;
    for (const auto& part : {kernel_items(), cpu_items(), machine_items(), limit_items()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return items;
}

nlohmann::json read_environment(const HostFiles& host) {
  nlohmann::json environment = nlohmann::json::object();
  for (const EnvironmentItem& item : environment_items()) {
    environment[item.name] = to_json(item.find(host));
  }
  return environment;
}

nlohmann::json environment_value(const nlohmann::json& environment, const std::string& name) {
  const auto item = environment.find(name);
  if (item == environment.end() || !item->is_object()) return nullptr;
  return item->value("value", nlohmann::json());
}

// ELF notes (elf(5)): name size, descriptor size, type, then both, each padded to four bytes.
std::string kernel_build_id(const HostFiles& host) {
  constexpr std::uint32_t gnu_build_id = 3;
  constexpr std::size_t header = 12;
  const std::string notes = host.read("/sys/kernel/notes").value_or("");
  std::size_t at = 0;
  while (at + header <= notes.size()) {
    const std::size_t name_size = word_at(notes, at);
    const std::size_t data_size = word_at(notes, at + 4);
    const std::uint32_t type = word_at(notes, at + 8);
    const std::size_t name_at = at + header;
    const std::size_t data_at = name_at + padded(name_size);
    if (data_at + data_size > notes.size()) break;
    if (type == gnu_build_id && notes.compare(name_at, name_size, std::string("GNU\0", 4)) == 0) {
      return hexadecimal(std::string_view(notes).substr(data_at, data_size));
    }
    at = data_at + padded(data_size);
  }
  return {};
}

std::string kernel_release(const HostFiles& host) {
  return host.read_line("/proc/sys/kernel/osrelease").value_or("");
}

std::string boot_id(const HostFiles& host) {
  return host.read_line("/proc/sys/kernel/random/boot_id").value_or("");
}

std::vector<std::string> environment_warnings(const nlohmann::json& environment) {
  std::vector<std::string> warnings;
  const nlohmann::json governor = environment_value(environment, "cpu.governor");
  if (!governor.is_null() && governor != "performance") {
    warnings.push_back(
        fmt::format("CPU frequency governor is {}: clocks follow the load; for comparisons set "
                    "\"performance\" on both kernels",
                    governor.is_string() ? governor.get<std::string>() : governor.dump()));
  }
  const nlohmann::json load = environment_value(environment, "load.average_1min");
  const nlohmann::json cpus = environment_value(environment, "cpu.count_online");
  if (load.is_number() && cpus.is_number_integer() && cpus.get<double>() > 0 &&
      load.get<double>() > 0.25 * cpus.get<double>()) {
    warnings.push_back(
        fmt::format("load average is {} on {} CPUs at the start: something else is running here",
                    load.get<double>(), cpus.get<std::int64_t>()));
  }
  const nlohmann::json steal = environment_value(environment, "virtualisation.steal_share");
  if (steal.is_number() && steal.get<double>() > 0.01) {
    warnings.push_back(fmt::format(
        "{:.1f} % of this virtual machine's CPU time since its boot was stolen by its host",
        100 * steal.get<double>()));
  }
  return warnings;
}

}  // namespace krepro
