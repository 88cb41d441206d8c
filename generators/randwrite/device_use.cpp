// The search through sysfs, the mount tables of all processes, swap areas, loop devices and open
// files.
#include "generators/randwrite/device_use.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "common/base/mount_table.h"

namespace krepro::randwrite {

namespace {

std::optional<DeviceNumber> parse_number_pair(const std::string& text) {
  DeviceNumber number;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, number.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != ':') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, number.minor);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  return number;
}

std::string folder_of(DeviceNumber number) {
  return fmt::format("/sys/dev/block/{}", to_string(number));
}

std::string kernel_name(DeviceNumber number, const HostFiles& host) {
  std::istringstream lines(host.read(folder_of(number) + "/uevent").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("DEVNAME=")) return line.substr(8);
  }
  return {};
}

bool is_partition(DeviceNumber number, const HostFiles& host) {
  return host.exists(folder_of(number) + "/partition");
}

/// How a device belongs to the one that is to be written: "", "its partition nvme1n1p1", ...
using Related = std::map<DeviceNumber, std::string>;

void add_holders(Related& related, std::vector<std::string>& found, const std::string& folder,
                 const std::string& what, const HostFiles& host) {
  for (const std::string& holder : host.list(folder + "/holders")) {
    const std::string below = folder + "/holders/" + holder;
    std::string name = holder;
    if (const auto mapped = host.read_line(below + "/dm/name")) name += " (" + *mapped + ")";
    found.push_back(fmt::format("{} is held by {}", what, name));
    const auto number = parse_number_pair(host.read_line(below + "/dev").value_or(""));
    if (!number || related.contains(*number)) continue;
    related[*number] = fmt::format("{}, which is built on it,", name);
    add_holders(related, found, below, related[*number], host);
  }
}

/// The device, its partitions, its disk, and all that is built on them; what holds them is noted.
Related find_related(DeviceNumber number, std::vector<std::string>& found, const HostFiles& host) {
  Related related;
  related[number] = "it";
  const std::string folder = folder_of(number);
  add_holders(related, found, folder, "it", host);
  if (is_partition(number, host)) {
    // The disk's folder is the one above the partition's, behind the link of /sys/dev/block.
    const std::string disk = folder + "/..";
    const auto disk_number = parse_number_pair(host.read_line(disk + "/dev").value_or(""));
    if (disk_number) {
      related[*disk_number] = "the disk that it is a partition of";
      add_holders(related, found, disk, related[*disk_number], host);
    }
    return related;
  }
  for (const std::string& entry : host.list(folder)) {
    const std::string below = folder + "/" + entry;
    if (!host.exists(below + "/partition")) continue;
    const auto partition = parse_number_pair(host.read_line(below + "/dev").value_or(""));
    if (!partition) continue;
    related[*partition] = fmt::format("its partition {}", entry);
    add_holders(related, found, below, related[*partition], host);
  }
  return related;
}

/// Names below /dev of the devices, to recognise them in texts.
std::map<std::string, std::string> names_of(const Related& related, const HostFiles& host) {
  std::map<std::string, std::string> names;
  for (const auto& [number, what] : related) {
    const std::string name = kernel_name(number, host);
    if (!name.empty()) names["/dev/" + name] = what;
  }
  return names;
}

/// What `path` is among the devices, by its name or by the device that it leads to; nullptr: none.
const std::string* find_path(const std::string& path, const Related& related,
                             const std::map<std::string, std::string>& names) {
  const auto named = names.find(path);
  if (named != names.end()) return &named->second;
  struct stat status {};
  if (!path.starts_with('/') || stat(path.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) {
    return nullptr;
  }
  const auto found = related.find(device_number(status.st_rdev));
  return found == related.end() ? nullptr : &found->second;
}

std::vector<std::string> process_ids(const HostFiles& host) {
  std::vector<std::string> ids;
  for (const std::string& name : host.list("/proc")) {
    if (name.find_first_not_of("0123456789") == std::string::npos) ids.push_back(name);
  }
  return ids;
}

void check_mount(const MountEntry& mount, const std::string& where, const Related& related,
                 const std::map<std::string, std::string>& names, std::set<std::string>& found) {
  const std::string* what = find_path(mount.source, related, names);
  if (what == nullptr) {
    const auto pair = parse_number_pair(mount.device_number);
    const auto match = pair ? related.find(*pair) : related.end();
    if (match != related.end()) what = &match->second;
  }
  if (what != nullptr) {
    found.insert(fmt::format("{} is mounted on {}{}", *what, mount.point, where));
  }
}

void check_mounts(const Related& related, const std::map<std::string, std::string>& names,
                  std::vector<std::string>& found, const HostFiles& host) {
  std::set<std::string> uses;
  std::set<std::string> seen;
  const std::string own = host.read_link("/proc/self/ns/mnt").value_or("");
  const auto check_table = [&](const std::string& process, const std::string& where) {
    for (const MountEntry& mount :
         parse_mount_table(host.read("/proc/" + process + "/mountinfo").value_or(""))) {
      check_mount(mount, where, related, names, uses);
    }
  };
  check_table("self", "");
  seen.insert(own);
  for (const std::string& process : process_ids(host)) {
    const auto space = host.read_link("/proc/" + process + "/ns/mnt");
    if (space && !seen.insert(*space).second) continue;
    check_table(process, fmt::format(" (in the mount namespace of process {})", process));
  }
  found.insert(found.end(), uses.begin(), uses.end());
}

/// First words of the lines of /proc/swaps.
std::vector<std::string> swap_areas(const HostFiles& host) {
  std::vector<std::string> areas;
  std::istringstream lines(host.read("/proc/swaps").value_or(""));
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line))
    areas.push_back(unescape_octal(line.substr(0, line.find_first_of(" \t"))));
  return areas;
}

/// Loop devices and the files behind them.
std::vector<std::pair<std::string, std::string>> loop_devices(const HostFiles& host) {
  std::vector<std::pair<std::string, std::string>> loops;
  for (const std::string& name : host.list("/sys/block")) {
    if (!name.starts_with("loop")) continue;
    const auto file = host.read_line("/sys/block/" + name + "/loop/backing_file");
    if (file) loops.emplace_back(name, *file);
  }
  return loops;
}

/// Processes that have a device open, our own apart. A device that has just appeared is open in
/// udev's workers for a moment: they only look at it.
void check_open_files(const std::map<std::string, std::string>& names,
                      std::vector<std::string>& found, const HostFiles& host) {
  const std::string own = std::to_string(getpid());
  for (const std::string& process : process_ids(host)) {
    if (process == own) continue;
    const std::string folder = "/proc/" + process;
    for (const std::string& entry : host.list(folder + "/fd")) {
      const auto target = host.read_link(folder + "/fd/" + entry);
      if (!target) continue;
      const auto match = names.find(*target);
      if (match == names.end()) continue;
      const std::string program = host.read_line(folder + "/comm").value_or("?");
      if (program.find("udev") != std::string::npos) break;
      found.push_back(
          fmt::format("{} is open in process {} ({})", match->second, process, program));
      break;
    }
  }
}

}  // namespace

DeviceNumber device_number(dev_t device) { return {major(device), minor(device)}; }

std::string to_string(DeviceNumber number) {
  return fmt::format("{}:{}", number.major, number.minor);
}

DeviceIdentity identify_device(DeviceNumber number, const HostFiles& host) {
  const std::string folder = folder_of(number);
  DeviceIdentity identity;
  identity.name = kernel_name(number, host);
  identity.partition = is_partition(number, host);
  const std::string disk = identity.partition ? folder + "/.." : folder;
  identity.model = host.read_line(disk + "/device/model").value_or("");
  identity.serial = host.read_line(disk + "/device/serial").value_or("");
  identity.wwid =
      host.read_line(disk + "/wwid").value_or(host.read_line(disk + "/device/wwid").value_or(""));
  identity.rotational = host.read_number(disk + "/queue/rotational").value_or(0) == 1;
  identity.logical_block_bytes = static_cast<std::uint64_t>(
      host.read_number(disk + "/queue/logical_block_size").value_or(512));
  constexpr std::uint64_t sector_bytes = 512;  // sysfs counts in these, whatever the device has
  identity.size_bytes =
      static_cast<std::uint64_t>(host.read_number(folder + "/size").value_or(0)) * sector_bytes;
  identity.ram_backed = identity.name.starts_with("ram") || identity.name.starts_with("zram");
  return identity;
}

void to_json(nlohmann::json& json, const DeviceIdentity& identity) {
  json = {{"name", identity.name},
          {"model", identity.model},
          {"serial", identity.serial},
          {"wwid", identity.wwid},
          {"size_bytes", identity.size_bytes},
          {"logical_block_bytes", identity.logical_block_bytes},
          {"rotational", identity.rotational},
          {"partition", identity.partition},
          {"ram_backed", identity.ram_backed}};
}

std::vector<std::string> find_device_uses(DeviceNumber number, const HostFiles& host) {
  std::vector<std::string> found;
  const Related related = find_related(number, found, host);
  const std::map<std::string, std::string> names = names_of(related, host);
  check_mounts(related, names, found, host);
  for (const std::string& area : swap_areas(host)) {
    const std::string* what = find_path(area, related, names);
    if (what != nullptr) found.push_back(fmt::format("{} is swap space", *what));
  }
  for (const auto& [loop, file] : loop_devices(host)) {
    const std::string* what = find_path(file, related, names);
    if (what != nullptr)
      found.push_back(fmt::format("{} is behind the loop device {}", *what, loop));
  }
  check_open_files(names, found, host);
  return found;
}

std::vector<std::string> find_file_uses(const std::string& path, const HostFiles& host) {
  std::vector<std::string> found;
  for (const auto& [loop, file] : loop_devices(host)) {
    if (file == path) found.push_back(fmt::format("it is behind the loop device {}", loop));
  }
  for (const std::string& area : swap_areas(host)) {
    if (area == path) found.emplace_back("it is swap space");
  }
  return found;
}

}  // namespace krepro::randwrite
