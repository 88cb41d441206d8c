// Making and removing of the roles' groups.
#include "suite/settings/role_groups.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/base/kernel_text.h"
#include "common/base/mount_table.h"
#include "suite/environment/environment.h"

namespace krepro {
namespace {

constexpr const char* slice_name = "krepro.slice";

bool has_part(std::string_view list, std::string_view word, char separator) {
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = list.find(separator, start);
    if (list.substr(start, end - start) == word) return true;
    if (end == std::string_view::npos) return false;
    start = end + 1;
  }
}

/// What binds krepro's own group and would not bind a group at the top: whoever runs krepro in half
/// a CPU wants the load in it. Empty: nothing does.
std::string limit_of_own_group(const CpuHierarchy& hierarchy, const HostFiles& host) {
  const Finding quota = read_item("cgroup.cpu_quota", host);
  const std::filesystem::path limiting = std::filesystem::path(quota.source).parent_path();
  if (quota.value.is_number() && limiting != hierarchy.mount) {
    return fmt::format("krepro's own group may use {:.3g} CPUs' time ({})",
                       quota.value.get<double>(), quota.source);
  }
  if (hierarchy.version == 1) return {};  // CPU sets have a hierarchy of their own.
  const Finding cpus = read_item("cgroup.cpus", host);
  const auto all = host.read_line(hierarchy.mount + "/cpuset.cpus.effective");
  if (cpus.value.is_string() && all && cpus.value != *all) {
    return fmt::format("krepro's own group has CPUs {} only ({})", cpus.value.get<std::string>(),
                       cpus.source);
  }
  return {};
}

/// 0 or errno; a folder that is there already is as good.
int make_folder(const HostFiles& host, const std::string& path) {
  return mkdir(host.real(path).c_str(), 0755) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace

CpuHierarchy find_cpu_hierarchy(const HostFiles& host) {
  CpuHierarchy unified;
  for (const MountEntry& mount :
       parse_mount_table(host.read("/proc/self/mountinfo").value_or(""))) {
    if (mount.type == "cgroup" && has_part(mount.super_options, "cpu", ',')) {
      return {1, mount.point, ""};
    }
    if (mount.type != "cgroup2") continue;
    const std::string controllers =
        host.read_line(mount.point + "/cgroup.controllers").value_or("");
    if (has_part(controllers, "cpu", ' ')) unified = {2, mount.point, ""};
  }
  if (unified.version == 0) unified.problem = "no control group hierarchy with the CPU controller";
  return unified;
}

RoleGroups::RoleGroups(const KnobAccess& access)
    : access_(access), hierarchy_(find_cpu_hierarchy(access.host())) {
  problem_ = hierarchy_.problem;
  slice_ = hierarchy_.mount + "/" + slice_name;
}

RoleGroups::~RoleGroups() { remove(); }

void RoleGroups::make() {
  if (hierarchy_.version == 0 || made()) return;
  const HostFiles& host = access_.host();
  if (const std::string limit = limit_of_own_group(hierarchy_, host); !limit.empty()) {
    problem_ = limit + ": the roles stay in it, so that it binds them too";
    return;
  }
  remove_left();
  touched_ = true;
  int error_number = make_folder(host, slice_);
  if (error_number == 0 && hierarchy_.version == 2) {
    const std::string control = hierarchy_.mount + "/cgroup.subtree_control";
    if (!has_part(host.read_line(control).value_or(""), "cpu", ' ')) {
      error_number = access_.write(control, "+cpu");
      enabled_controller_ = error_number == 0;
    }
    if (error_number == 0) {
      error_number = access_.write(slice_ + "/cgroup.subtree_control", "+cpu");
    }
  }
  for (const char* role : {"load", "serve"}) {
    if (error_number != 0) break;
    const std::string folder = fmt::format("{}/{}-{}", slice_, role, getpid());
    error_number = make_folder(host, folder);
    if (error_number == 0) groups_[role] = folder;
  }
  if (error_number == 0) return;
  remove();
  problem_ = fmt::format("{}: {}", slice_, std::strerror(error_number));
}

void RoleGroups::remove() {
  const HostFiles& host = access_.host();
  if (!touched_) return;
  for (const auto& [role, folder] : groups_) rmdir(host.real(folder).c_str());
  groups_.clear();
  touched_ = false;
  // Stays where another run still has groups in it.
  if (rmdir(host.real(slice_).c_str()) != 0) return;
  if (enabled_controller_) {
    (void)access_.write(hierarchy_.mount + "/cgroup.subtree_control", "-cpu");
    enabled_controller_ = false;
  }
}

void RoleGroups::remove_left() const {
  const HostFiles& host = access_.host();
  for (const std::string& name : host.list(slice_)) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos || (!name.starts_with("load-") && !name.starts_with("serve-"))) {
      continue;
    }
    if (!number_in(std::string_view(name).substr(dash + 1))) continue;
    if (host.exists("/proc/" + name.substr(dash + 1))) continue;
    rmdir(host.real(slice_ + "/" + name).c_str());
  }
}

std::string RoleGroups::describe() const {
  return made() ? fmt::format("cgroup v{}, {}", hierarchy_.version, slice_) : std::string();
}

std::filesystem::path RoleGroups::group_of(const std::string& role, bool real_time) const {
  const auto group = groups_.find(role);
  if (group == groups_.end()) return {};
  if (real_time && access_.host().exists(group->second + "/cpu.rt_runtime_us")) return {};
  return access_.host().real(group->second);
}

std::string RoleGroups::file_of(const Setting& setting) const {
  const std::string role = setting.name.substr(7, setting.name.rfind('/') - 7);
  const auto group = groups_.find(role);
  if (group == groups_.end()) {
    throw not_possible(
        fmt::format("setting {}: no control groups here: {}", setting.name, problem_),
        "run it as root where the hierarchy is writable");
  }
  return group->second + setting.name.substr(setting.name.rfind('/'));
}

void RoleGroups::set(const Setting& setting) {
  const std::string path = file_of(setting);
  const std::size_t slash = path.rfind('/');
  std::vector<std::pair<std::string, std::string>> writes = {
      {path.substr(slash + 1), setting.value}};
  if (hierarchy_.version == 1) writes = as_version_1(path.substr(slash + 1), setting.value);
  for (const auto& [file, value] : writes) {
    const std::string target = path.substr(0, slash + 1) + file;
    const int error_number = access_.write(target, value);
    if (error_number != 0) {
      throw not_possible(fmt::format("setting {} = {}: {}: {}", setting.name, setting.value, target,
                                     std::strerror(error_number)));
    }
    const std::string now = access_.read({target, ""}).value_or("");
    // "max" reads back as "max 100000".
    if (same_value(now, value) || now.starts_with(value + " ")) continue;
    throw not_possible(fmt::format("setting {} = {}: {} reads {} after it", setting.name,
                                   setting.value, target, now));
  }
}

std::string RoleGroups::read_back(const Setting& setting) const {
  const std::string path = file_of(setting);
  const std::size_t slash = path.rfind('/');
  if (hierarchy_.version == 2) return access_.read({path, ""}).value_or("");
  std::string text;
  for (const auto& [file, value] : as_version_1(path.substr(slash + 1), setting.value)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", file,
                        access_.read({path.substr(0, slash + 1) + file, ""}).value_or("absent"));
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> as_version_1(const std::string& file,
                                                              const std::string& value) {
  if (file == "cpu.weight") {
    const auto weight = number_in(value);
    // The kernel's own conversion: 100 is 1024, 1 to 10000 are 2 to 262144.
    if (weight)
      return {{"cpu.shares", std::to_string(std::max<std::uint64_t>(2, *weight * 1024 / 100))}};
  }
  if (file == "cpu.max") {
    const std::vector<std::string_view> words = words_of(value);
    const std::string quota(words.empty() || words[0] == "max" ? "-1" : words[0]);
    const std::string period(words.size() > 1 ? words[1] : "100000");
    return {{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}};
  }
  return {{file, value}};
}

}  // namespace krepro
