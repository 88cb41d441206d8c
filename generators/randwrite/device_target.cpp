// A block device: who it is, whether anybody uses it, what it carries, and the user's word that it
// may be overwritten; then held exclusively until the trial is over.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/descriptor.h"
#include "generators/randwrite/device_use.h"
#include "generators/randwrite/signature.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

namespace {

class DeviceTarget : public Target {
 public:
  DeviceTarget(TargetFacts facts, Descriptor held) : held_(std::move(held)) {
    facts_ = std::move(facts);
  }

 protected:
  [[nodiscard]] int writable_fd() override { return held_.get(); }

 private:
  Descriptor held_;
};

/// "/dev/nvme1n1 (Amazon EC2 NVMe Instance Storage, 1.7 TiB)"
std::string title_of(const std::string& path, const DeviceIdentity& identity) {
  const std::string size = format_bytes(static_cast<double>(identity.size_bytes));
  if (identity.model.empty()) return fmt::format("{} ({})", path, size);
  return fmt::format("{} ({}, {})", path, identity.model, size);
}

bool names_device(const std::string& path, dev_t device) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISBLK(status.st_mode) && status.st_rdev == device;
}

bool is_allowed(const TrialSettings& trial, dev_t device) {
  return std::any_of(trial.allowed_devices.begin(), trial.allowed_devices.end(),
                     [device](const std::string& path) { return names_device(path, device); });
}

void check_model(const std::string& path, const DeviceIdentity& identity,
                 const TrialSettings& trial) {
  if (identity.model.find(trial.device_model) != std::string::npos) return;
  throw usage_error(
      fmt::format("{}: its model is \"{}\", and device-model asks for \"{}\"", path,
                  identity.model.empty() ? "unknown" : identity.model, trial.device_model),
      "name the right device; numbers in names depend on the order of probing");
}

/// Throws unless everything allows the device to be overwritten.
void check_overwriting(const std::string& path, const std::string& title, dev_t device, int fd,
                       const TrialSettings& trial, const HostFiles& host) {
  const std::vector<std::string> uses = find_device_uses(device_number(device), host);
  if (!uses.empty()) {
    throw usage_error(
        fmt::format("{} is in use and is not overwritten: {}", title, fmt::join(uses, "; ")),
        "name a spare device; no option overrides this");
  }
  const std::string signature = find_signature(fd);
  const bool allowed = is_allowed(trial, device);
  if (allowed && (signature.empty() || trial.destroy_signature)) return;
  const std::string carries = signature.empty() ? "carries no signature"
                                                : fmt::format("carries a signature: {}", signature);
  std::vector<std::string> missing;
  if (!allowed) missing.push_back("--allow-device-write=" + path);
  if (!signature.empty() && !trial.destroy_signature) missing.emplace_back("--destroy-signature");
  throw usage_error(fmt::format("{} would be overwritten. It is not in use and {}", title, carries),
                    fmt::format("To go on: add {}", fmt::join(missing, " ")));
}

Descriptor open_or_throw(const std::string& path, int flags) {
  Descriptor fd(open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid()) throw system_error(fmt::format("open {}", path), errno);
  return above_standard_streams(fd.release());
}

/// The kernel's own word: a claim that excludes file systems, swap, md, device mapper.
Descriptor claim(const std::string& path) {
  Descriptor fd(open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (fd.valid()) return above_standard_streams(fd.release());
  if (errno == EBUSY) {
    throw usage_error(
        fmt::format("{} is in use and is not overwritten: the kernel refuses exclusive use", path),
        "name a spare device; no option overrides this");
  }
  throw system_error(fmt::format("open {} for exclusive use", path), errno);
}

std::uint64_t device_bytes(int fd, const std::string& path) {
  std::uint64_t bytes = 0;
  if (ioctl(fd, BLKGETSIZE64, &bytes) != 0) {
    throw system_error(fmt::format("size of {}", path), errno);
  }
  if (bytes == 0) throw usage_error(fmt::format("{}: the device is empty (no medium?)", path));
  return bytes;
}

}  // namespace

std::unique_ptr<Target> open_device_target(const TargetRequest& request, const std::string& path,
                                           const TrialSettings& trial, const HostFiles& host,
                                           Frame& frame) {
  Descriptor fd = open_or_throw(path, O_RDONLY);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) throw system_error(path, errno);
  TargetFacts facts;
  facts.kind = TargetKind::device;
  facts.path = path;
  facts.device = status.st_rdev;
  facts.inode = status.st_ino;
  facts.size_bytes = device_bytes(fd.get(), path);
  DeviceIdentity identity = identify_device(device_number(status.st_rdev), host);
  identity.size_bytes = facts.size_bytes;
  facts.direct_alignment = identity.logical_block_bytes;
  facts.ram_backed = identity.ram_backed;
  const std::string title = title_of(path, identity);
  check_model(path, identity, trial);
  if (request.end_bytes > facts.size_bytes) {
    throw usage_error(fmt::format("{}: the range ends at {}, beyond the device", title,
                                  format_bytes(static_cast<double>(request.end_bytes))));
  }
  if (request.writes) {
    check_overwriting(path, title, status.st_rdev, fd.get(), trial, host);
    int read_only = 0;
    if (ioctl(fd.get(), BLKROGET, &read_only) == 0 && read_only != 0) {
      throw usage_error(fmt::format("{} is read-only", title));
    }
    fd = claim(path);
  }
  frame.note(fmt::format("{}: {}{}", request.writes ? "overwriting" : "reading", title,
                         identity.serial.empty() ? "" : ", serial " + identity.serial));
  if (facts.ram_backed) frame.note(fmt::format("{} is memory: the figures are memory's", path));
  facts.told["kind"] = "device";
  facts.told["device"] = identity;
  return std::make_unique<DeviceTarget>(std::move(facts), std::move(fd));
}

}  // namespace krepro::randwrite
