// Reading of /proc, /sys and /boot through one root that tests, agents and fixtures can replace.
// Nothing else in the project opens a path below /proc or /sys (a tidy test checks it).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krepro {

class HostFiles {
 public:
  /// `root` replaces "/" in every path: HostFiles("/fixture").read("/proc/stat") reads
  /// /fixture/proc/stat.
  explicit HostFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}
  /// The machine itself, or the tree that the environment variable KREPRO_HOST_ROOT names.
  [[nodiscard]] static const HostFiles& system();

  /// The whole text, or nothing; `error_number` (if given) then receives errno.
  [[nodiscard]] std::optional<std::string> read(std::string_view path,
                                                int* error_number = nullptr) const;
  /// At most its first `max_bytes` bytes, for files that grow with the machine (/proc/cpuinfo).
  [[nodiscard]] std::optional<std::string> read_start(std::string_view path, std::size_t max_bytes,
                                                      int* error_number = nullptr) const;
  /// The text without trailing white space.
  [[nodiscard]] std::optional<std::string> read_line(std::string_view path,
                                                     int* error_number = nullptr) const;
  /// The first token as a number; nothing where absent or not a number ("max" too).
  [[nodiscard]] std::optional<std::int64_t> read_number(std::string_view path) const;
  /// Names in a directory, sorted; empty where absent.
  [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  /// The target of a symbolic link (not resolved further).
  [[nodiscard]] std::optional<std::string> read_link(std::string_view path) const;
  /// How many files and directories this object, or one that it was copied from, has opened or
  /// tried to: what reading a large machine costs.
  [[nodiscard]] std::uint64_t opened() const { return opened_->load(); }
  /// The real path, for the few calls that must open it themselves.
  [[nodiscard]] std::filesystem::path real(std::string_view path) const;

 private:
  std::filesystem::path root_;
  std::shared_ptr<std::atomic<std::uint64_t>> opened_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// The number behind "NAME:" in the text of /proc/PID/status; 0 where it is not there.
[[nodiscard]] std::uint64_t status_number(const std::string& status, const std::string& name);

}  // namespace krepro
