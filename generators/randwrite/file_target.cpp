// A regular file: used only if krepro made it or the user said so; laid out as fio does it, marked,
// locked against other trials, and removed at the end if krepro made it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/descriptor.h"
#include "generators/randwrite/device_use.h"
#include "generators/randwrite/file_mark.h"
#include "generators/randwrite/file_system.h"
#include "generators/randwrite/target.h"

namespace krepro::randwrite {

namespace {

class FileTarget : public Target {
 public:
  FileTarget() = default;
  ~FileTarget() override {
    if (!removes_) return;
    unlink(facts_.path.c_str());
    unlink(mark_path(facts_.path).c_str());
  }

  void open(const TargetRequest& request, const std::string& path, const TrialSettings& trial,
            const HostFiles& host, Frame& frame);

 protected:
  [[nodiscard]] int writable_fd() override { return held_.get(); }

 private:
  void open_existing(const TargetRequest& request, const TrialSettings& trial,
                     const HostFiles& host);
  void create(const TargetRequest& request);
  void check_direct(const TargetRequest& request);
  void lay_out(const TargetRequest& request, Frame& frame);
  void learn(const TargetRequest& request, const HostFiles& host, Frame& frame);

  Descriptor held_;
  bool made_ = false;  ///< By krepro, now or earlier.
  bool created_ = false;
  bool removes_ = false;
  bool laid_out_ = false;
  std::uint64_t old_size_ = 0;
};

/// Bytes that the layout needs beyond what the file has.
void check_space(const std::string& path, std::uint64_t needed) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  struct statvfs space {};
  if (statvfs(folder.c_str(), &space) != 0) throw system_error(folder.string(), errno);
  const std::uint64_t free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  if (needed <= free_bytes) return;
  throw usage_error(fmt::format("{}: needs {} and {} has {} free", path,
                                format_bytes(static_cast<double>(needed)), folder.string(),
                                format_bytes(static_cast<double>(free_bytes))),
                    "lower --size, or name a file where there is more space");
}

void FileTarget::open_existing(const TargetRequest& request, const TrialSettings& trial,
                               const HostFiles& host) {
  const std::string& path = facts_.path;
  held_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!held_.valid()) throw system_error(fmt::format("open {}", path), errno);
  struct stat status {};
  fstat(held_.get(), &status);
  old_size_ = static_cast<std::uint64_t>(status.st_size);
  made_ = is_marked_as_made(held_.get(), path);
  const bool changes = request.writes || old_size_ < request.end_bytes;
  if (!changes) return;
  const std::vector<std::string> uses = find_file_uses(path, host);
  if (!uses.empty()) {
    throw usage_error(
        fmt::format("{} is in use and is not overwritten: {}", path, fmt::join(uses, "; ")));
  }
  if (!made_ && !trial.overwrite_existing) {
    throw usage_error(fmt::format("{} exists, was not made by krepro, and would be {}", path,
                                  request.writes ? "overwritten" : "filled with data to be read"),
                      "name another file, or add --overwrite-existing");
  }
  held_ = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!held_.valid()) throw system_error(fmt::format("open {}", path), errno);
}

void FileTarget::create(const TargetRequest& request) {
  const std::string& path = facts_.path;
  if (request.end_bytes == 0) {
    throw usage_error(fmt::format("{} does not exist", path), "give --size to make it");
  }
  held_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!held_.valid()) throw system_error(fmt::format("create {}", path), errno);
  created_ = true;
  made_ = true;
}

void FileTarget::check_direct(const TargetRequest& request) {
  if (!request.direct) return;
  const Descriptor probe(::open(facts_.path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (probe.valid()) {
    facts_.direct_alignment = direct_alignment(probe.get());
    return;
  }
  if (errno != EINVAL) throw system_error(fmt::format("open {}", facts_.path), errno);
  throw not_possible(
      fmt::format("{}: {} does not support O_DIRECT (direct=1)", facts_.path, facts_.filesystem),
      "take --direct=0, or a file on another file system");
}

void allocate(int fd, const std::string& path, std::uint64_t bytes, Fallocate how) {
  const auto length = static_cast<off_t>(bytes);
  int error = 0;
  switch (how) {
    case Fallocate::none:
      return;
    case Fallocate::native:
      if (fallocate(fd, 0, 0, length) != 0) error = errno;
      if (error == EOPNOTSUPP || error == ENOSYS) error = 0;  // as fio: then without
      break;
    case Fallocate::posix:
      error = posix_fallocate(fd, 0, length);
      break;
    case Fallocate::keep:
      if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length) != 0) error = errno;
      break;
    case Fallocate::truncate:
      if (ftruncate(fd, length) != 0) error = errno;
      break;
  }
  if (error != 0) throw system_error(fmt::format("allocate {}", path), error);
}

void FileTarget::lay_out(const TargetRequest& request, Frame& frame) {
  const JobSettings& job = *request.job;
  if (job.create_on_open || request.end_bytes <= old_size_) return;
  const bool with_data = request.reads || job.overwrite;
  const std::string& path = facts_.path;
  const bool takes_space =
      with_data || (job.fallocate != Fallocate::none && job.fallocate != Fallocate::truncate);
  if (takes_space) {
    struct stat status {};
    fstat(held_.get(), &status);
    constexpr std::uint64_t stat_block_bytes = 512;
    const std::uint64_t owned = static_cast<std::uint64_t>(status.st_blocks) * stat_block_bytes;
    check_space(path, request.end_bytes - std::min(owned, request.end_bytes));
  }
  // A file that is too small is laid out anew, so that its extents are those of a new one.
  if (old_size_ != 0 && ftruncate(held_.get(), 0) != 0) {
    throw system_error(fmt::format("truncate {}", path), errno);
  }
  allocate(held_.get(), path, request.end_bytes, job.fallocate);
  if (with_data) {
    fill_range(held_.get(), path, 0, request.end_bytes, job.create_fsync, frame);
  }
  posix_fadvise(held_.get(), 0, static_cast<off_t>(request.end_bytes), POSIX_FADV_DONTNEED);
  laid_out_ = true;
}

void FileTarget::learn(const TargetRequest& request, const HostFiles& host, Frame& frame) {
  struct stat status {};
  fstat(held_.get(), &status);
  facts_.device = status.st_dev;
  facts_.inode = status.st_ino;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  facts_.size_bytes = std::max(size, request.end_bytes);
  const auto allocated = static_cast<std::uint64_t>(status.st_blocks) * 512;
  const char* layout = allocated >= facts_.size_bytes ? "allocated" : "sparse";
  facts_.told = {{"kind", "file"},
                 {"filesystem", facts_.filesystem},
                 {"ram_backed", facts_.ram_backed},
                 {"created", created_},
                 {"made_by_krepro", made_},
                 {"removed_at_end", removes_},
                 {"laid_out", laid_out_},
                 {"layout", layout},
                 {"size_bytes", size},
                 {"allocated_bytes", allocated}};
  const DeviceIdentity disk = identify_device(device_number(status.st_dev), host);
  if (!disk.name.empty()) facts_.told["device"] = disk;
  if (request.reads && allocated < facts_.size_bytes / 100 * 99) {
    frame.note(fmt::format("{} is sparse ({} of {} allocated): reads of holes touch no device",
                           facts_.path, format_bytes(static_cast<double>(allocated)),
                           format_bytes(static_cast<double>(facts_.size_bytes))));
  }
}

void FileTarget::open(const TargetRequest& request, const std::string& path,
                      const TrialSettings& trial, const HostFiles& host, Frame& frame) {
  facts_.kind = TargetKind::file;
  facts_.path = path;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  facts_.filesystem = file_system_of(folder, host);
  facts_.ram_backed = facts_.filesystem == "tmpfs" || facts_.filesystem == "ramfs";
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    open_existing(request, trial, host);
  } else {
    create(request);
  }
  const bool changes = request.writes || old_size_ < request.end_bytes;
  if (made_ && changes && !request.job->keep_files) removes_ = true;
  if (changes && flock(held_.get(), LOCK_EX | LOCK_NB) != 0) {
    removes_ = false;
    throw usage_error(fmt::format("{} is in use by another krepro", path));
  }
  if (created_) mark_as_made(held_.get(), path);
  check_direct(request);
  if (changes) lay_out(request, frame);
  learn(request, host, frame);
  if (facts_.ram_backed) {
    frame.note(fmt::format("{} lies on {}{}: the figures are memory's, not a device's", path,
                           facts_.filesystem,
                           request.direct ? " (which accepted O_DIRECT without meaning)" : ""));
  }
}

}  // namespace

void remove_left_behind(const std::string& folder, const std::string& name, Frame& frame) {
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    // NAME.COPY.0.PROCESS
    const std::string found = entry.path().filename().string();
    if (!found.starts_with(name + ".")) continue;
    const std::string rest = found.substr(name.size() + 1);
    const std::size_t middle = rest.find(".0.");
    if (middle == std::string::npos || !is_number(rest.substr(0, middle)) ||
        !is_number(rest.substr(middle + 3))) {
      continue;
    }
    const std::string path = entry.path().string();
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    // A trial that lives holds the lock, and marks its file only under it.
    if (!fd.valid() || flock(fd.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (!is_marked_as_made(fd.get(), path)) continue;
    unlink(path.c_str());
    unlink(mark_path(path).c_str());
    frame.note(fmt::format("removed {}, left behind by a trial that was killed", path));
  }
}

std::unique_ptr<Target> open_file_target(const TargetRequest& request, const std::string& path,
                                         const TrialSettings& trial, const HostFiles& host,
                                         Frame& frame) {
  auto target = std::make_unique<FileTarget>();
  target->open(request, path, trial, host, frame);
  return target;
}

}  // namespace krepro::randwrite
