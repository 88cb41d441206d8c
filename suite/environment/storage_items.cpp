// Items about block devices and file systems: the queues' settings, what is mounted where and how.
// Serial numbers are marked: they tell which machine this is.
#include <fmt/core.h>

#include "common/base/mount_table.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

constexpr const char* block_directory = "/sys/block";
/// A machine with more of them has too much to say.
constexpr std::size_t most_devices = 64;
constexpr std::size_t most_mounts = 64;

/// Devices that data can lie on: no memory disks, and loop devices only with a file behind them.
std::vector<std::string> block_devices(const HostFiles& host) {
  std::vector<std::string> names;
  for (const std::string& name : host.list(block_directory)) {
    if (name.starts_with("ram") || name.starts_with("zram") || names.size() == most_devices) {
      continue;
    }
    const std::string directory = std::string(block_directory) + "/" + name;
    if (host.read_number(directory + "/size").value_or(0) > 0) names.push_back(name);
  }
  return names;
}

nlohmann::json queue_of(const HostFiles& host, const std::string& device) {
  const std::string directory = fmt::format("{}/{}/queue/", block_directory, device);
  nlohmann::json queue = nlohmann::json::object();
  for (const char* file : {"nr_requests", "rq_affinity", "write_cache", "fua", "discard_max_bytes",
                           "rotational", "wbt_lat_usec", "nomerges", "read_ahead_kb",
                           "max_sectors_kb", "io_poll", "logical_block_size"}) {
    if (const auto text = host.read_line(directory + file)) queue[file] = number_or_text(*text);
  }
  const Finding scheduler = chosen_of(host, directory + "scheduler");
  if (!scheduler.value.is_null()) queue["scheduler"] = scheduler.value;
  return queue;
}

Finding queues_item(const HostFiles& host) {
  nlohmann::json devices = nlohmann::json::object();
  for (const std::string& name : block_devices(host)) {
    nlohmann::json device = queue_of(host, name);
    const std::string directory = fmt::format("{}/{}/", block_directory, name);
    device["size_bytes"] = host.read_number(directory + "size").value_or(0) * 512;
    for (const char* file : {"device/model", "device/firmware_rev", "device/numa_node"}) {
      const auto text = host.read_line(directory + file);
      if (text && !text->empty()) {
        device[std::string(file).substr(7)] = number_or_text(*text);
      }
    }
    devices[name] = std::move(device);
  }
  const std::string source = std::string(block_directory) + "/*/queue";
  if (devices.empty()) return not_found("absent", source);
  return found(std::move(devices), source);
}

Finding serials_item(const HostFiles& host) {
  nlohmann::json serials = nlohmann::json::object();
  for (const std::string& name : block_devices(host)) {
    const std::string directory = fmt::format("{}/{}/", block_directory, name);
    for (const char* file : {"device/serial", "serial", "wwid", "device/wwid"}) {
      const auto text = host.read_line(directory + file);
      if (!text || text->empty()) continue;
      serials[name] = *text;
      break;
    }
  }
  const std::string source = std::string(block_directory) + "/*/device/serial";
  Finding finding = serials.empty() ? not_found("absent", source) : found(serials, source);
  finding.identity = true;
  return finding;
}

/// Mounts that a load's files may lie on.
bool holds_data(const MountEntry& mount) {
  const std::string& type = mount.type;
  if (type == "tmpfs") return mount.point == "/tmp" || mount.point == "/dev/shm";
  return mount.source.starts_with("/dev/") || type == "overlay" || type == "nfs" ||
         type == "nfs4" || type == "zfs";
}

Finding mounts_item(const HostFiles& host) {
  const std::string path = "/proc/self/mountinfo";
  int error_number = 0;
  const auto text = host.read(path, &error_number);
  if (!text) return not_found(reason_text(error_number), path);
  nlohmann::json mounts = nlohmann::json::object();
  for (const MountEntry& mount : parse_mount_table(*text)) {
    if (mounts.size() == most_mounts) break;
    if (!holds_data(mount)) continue;
    mounts[mount.point] = {{"type", mount.type},
                           {"device", mount.source},
                           {"options", mount.options + "," + mount.super_options}};
  }
  return found(std::move(mounts), path);
}

}  // namespace

std::vector<EnvironmentItem> storage_items() {
  return {
      {"storage.devices", queues_item},
      {"storage.serials", serials_item},
      {"storage.mounts", mounts_item},
  };
}

}  // namespace krepro
