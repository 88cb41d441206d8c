// Which kind of target a path is, and what both kinds have in common.
#include "generators/randwrite/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"

namespace krepro::randwrite {

namespace {

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  return "neither a regular file nor a block device";
}

/// The absolute path of a file that does not exist yet; its folder must, and must be able to hold
/// files that mean something.
std::string path_of_new_file(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    throw usage_error(fmt::format("{}: a symbolic link that leads nowhere", path));
  }
  const std::filesystem::path given(path);
  const std::filesystem::path folder = given.has_parent_path() ? given.parent_path() : ".";
  if (!given.has_filename()) {
    throw usage_error(fmt::format("{}: there is no such directory", path));
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  if (error) throw usage_error(fmt::format("{}: there is no directory {}", path, folder.string()));
  struct stat dev {};
  if (stat(real.c_str(), &status) == 0 && stat("/dev", &dev) == 0 && status.st_dev == dev.st_dev &&
      real.string().starts_with("/dev")) {
    throw usage_error(fmt::format("{}: there is no such device, and no regular file is made in {}",
                                  path, real.string()),
                      "check the name of the device");
  }
  return real / given.filename();
}

}  // namespace

std::unique_ptr<Target> open_target(const TargetRequest& request, const TrialSettings& trial,
                                    const HostFiles& host, Frame& frame) {
  const std::string& path = request.path;
  if (path.empty()) throw usage_error("filename: it is empty");
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) throw system_error(path, errno);
    return open_file_target(request, path_of_new_file(path), trial, host, frame);
  }
  const std::string real = std::filesystem::canonical(path).string();
  if (S_ISREG(status.st_mode)) return open_file_target(request, real, trial, host, frame);
  if (S_ISBLK(status.st_mode)) return open_device_target(request, real, trial, host, frame);
  throw usage_error(fmt::format("{}: it is {}", path, kind_name(status.st_mode)),
                    S_ISDIR(status.st_mode)
                        ? "name a file in it with --filename, or give --directory"
                        : "a regular file or a block device is needed");
}

void fill_range(int fd, const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                bool fsync_after, Frame& frame) {
  constexpr std::size_t chunk_bytes = 1U << 20U;
  std::vector<std::uint64_t> chunk(chunk_bytes / sizeof(std::uint64_t));
  RandomStream random(0x6B726570726FULL);
  for (std::uint64_t& word : chunk) word = random.next();
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    frame.check_interrupted();
    chunk[0] = offset;  // no two chunks are alike
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_bytes, end - offset));
    const ssize_t done = pwrite(fd, chunk.data(), wanted, static_cast<off_t>(offset));
    if (done <= 0) {
      if (done < 0 && errno == EINTR) continue;
      throw system_error(fmt::format("filling {}", path), done < 0 ? errno : ENOSPC);
    }
    offset += static_cast<std::uint64_t>(done);
  }
  if (fsync_after && fsync(fd) != 0) throw system_error(fmt::format("fsync {}", path), errno);
}

void Target::precondition(Precondition how, std::uint64_t offset, std::uint64_t bytes,
                          Frame& frame) {
  if (how == Precondition::none) return;
  const int fd = writable_fd();
  if (how == Precondition::fill) {
    fill_range(fd, facts_.path, offset, bytes, true, frame);
    return;
  }
  std::uint64_t range[2] = {offset, bytes};
  const int result = facts_.kind == TargetKind::device
                         ? ioctl(fd, BLKDISCARD, range)
                         : fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                     static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (result != 0) {
    throw Error(ExitCode::not_possible,
                fmt::format("precondition=discard: {}: {}", facts_.path, std::strerror(errno)),
                "take precondition=fill or none");
  }
}

}  // namespace krepro::randwrite
