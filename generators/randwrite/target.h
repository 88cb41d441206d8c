// What is written to or read from: a regular file or a block device, checked, laid out and held for
// the length of the trial. Nothing that the user has is overwritten without being named.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/host_files.h"
#include "common/generator/generator.h"
#include "generators/randwrite/settings.h"

namespace krepro::randwrite {

enum class TargetKind : std::uint8_t { file, device };

/// What jobs want of a target; jobs that name the same one share it.
struct TargetRequest {
  std::string path;                  ///< As given, or as chosen here.
  const JobSettings* job = nullptr;  ///< How it is laid out.
  bool writes = false;
  bool reads = false;
  bool direct = false;
  std::uint64_t end_bytes = 0;  ///< Where the jobs' ranges end, as far as they are given in bytes.
  bool whole = false;           ///< Some range reaches to the target's end, or is given in percent.
};

/// What a worker needs to open it, and the sample to tell of it.
struct TargetFacts {
  TargetKind kind = TargetKind::file;
  std::string path;  ///< Absolute, links resolved.
  dev_t device = 0;  ///< A device's number, or that of a file's file system.
  ino_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t direct_alignment = 512;
  std::string filesystem;  ///< "ext4"; empty for a device
  bool ram_backed = false;
  nlohmann::json told = nlohmann::json::object();  ///< For the sample's "extra".
};

class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;
  [[nodiscard]] const TargetFacts& facts() const { return facts_; }
  /// Discards or fills the range. Throws where it is not possible.
  void precondition(Precondition how, std::uint64_t offset, std::uint64_t bytes, Frame& frame);

 protected:
  /// A descriptor to write through; opened anew where none is held.
  [[nodiscard]] virtual int writable_fd() = 0;
  TargetFacts facts_;
};

/// Checks and prepares it, or throws a usage error that says what stands in the way and what would
/// remove it. Everything is checked before anything is written.
[[nodiscard]] std::unique_ptr<Target> open_target(const TargetRequest& request,
                                                  const TrialSettings& trial, const HostFiles& host,
                                                  Frame& frame);

/// The two kinds; open_target() chooses. `path` is absolute.
[[nodiscard]] std::unique_ptr<Target> open_file_target(const TargetRequest& request,
                                                       const std::string& path,
                                                       const TrialSettings& trial,
                                                       const HostFiles& host, Frame& frame);
[[nodiscard]] std::unique_ptr<Target> open_device_target(const TargetRequest& request,
                                                         const std::string& path,
                                                         const TrialSettings& trial,
                                                         const HostFiles& host, Frame& frame);

/// Removes files that trials with chosen names left in `folder` when they were killed: those of the
/// job `name` that are marked and that nobody holds. Each is noted.
void remove_left_behind(const std::string& folder, const std::string& name, Frame& frame);

/// Writes `bytes` of random data from `offset` on, and an fsync if wanted. Throws a usage error
/// (ENOSPC ...); interrupted when the trial is to end.
void fill_range(int fd, const std::string& path, std::uint64_t offset, std::uint64_t bytes,
                bool fsync_after, Frame& frame);

}  // namespace krepro::randwrite
