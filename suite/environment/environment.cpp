// The table of items put together and read.
#include "suite/environment/environment.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/elf_notes.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

nlohmann::json to_json(Finding finding) {
  nlohmann::json json = {{"value", std::move(finding.value)}, {"source", finding.source}};
  if (json["value"].is_null()) json["reason"] = finding.reason;
  if (finding.identity) json["identity"] = true;
  return json;
}

}  // namespace

const std::vector<EnvironmentItem>& environment_items() {
  static const std::vector<EnvironmentItem> items = [] {
    std::vector<EnvironmentItem> all;
    for (const auto& part : {kernel_items(), scheduler_items(), cpu_items(), memory_items(),
                             machine_items(), storage_items(), network_items(), limit_items(),
                             software_items(), counter_source_items()}) {
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
    if (item.varies) environment[item.name]["varies"] = true;
  }
  return environment;
}

Finding read_item(const std::string& name, const HostFiles& host) {
  const std::vector<EnvironmentItem>& items = environment_items();
  const auto item = std::find_if(items.begin(), items.end(),
                                 [&](const EnvironmentItem& each) { return name == each.name; });
  KREPRO_CHECK(item != items.end());
  return item->find(host);
}

nlohmann::json environment_value(const nlohmann::json& environment, const std::string& name) {
  const auto item = environment.find(name);
  if (item == environment.end() || !item->is_object()) return nullptr;
  return item->value("value", nlohmann::json());
}

std::string kernel_build_id(const HostFiles& host) {
  return gnu_build_id_of_notes(host.read("/sys/kernel/notes").value_or(""));
}

std::string kernel_release(const HostFiles& host) {
  return host.read_line("/proc/sys/kernel/osrelease").value_or("");
}

std::string boot_id(const HostFiles& host) {
  return host.read_line("/proc/sys/kernel/random/boot_id").value_or("");
}

std::vector<EnvironmentChange> environment_drift(const nlohmann::json& before,
                                                 const nlohmann::json& after) {
  std::vector<EnvironmentChange> changes;
  for (const EnvironmentItem& item : environment_items()) {
    if (item.varies) continue;
    const nlohmann::json then = environment_value(before, item.name);
    const nlohmann::json now = environment_value(after, item.name);
    if (then != now) changes.push_back({item.name, then, now});
  }
  return changes;
}

nlohmann::json changed_items(const nlohmann::json& before, const nlohmann::json& after) {
  nlohmann::json changed = nlohmann::json::object();
  for (const auto& [name, item] : after.items()) {
    if (environment_value(before, name) != environment_value(after, name)) changed[name] = item;
  }
  return changed;
}

}  // namespace krepro
