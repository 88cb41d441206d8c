// Reading of /proc, /sys and /boot through one root that tests, agents and fixtures can replace.
// Nothing else in the project opens a path below /proc or /sys (a tidy test checks it).
#pragma once

#include <cstdint>
#include <filesystem>
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
  /// The real path, for the few calls that must open it themselves.
  [[nodiscard]] std::filesystem::path real(std::string_view path) const;

 private:
  std::filesystem::path root_;
};

/// The number behind "NAME:" in the text of /proc/PID/status; 0 where it is not there.
[[nodiscard]] std::uint64_t status_number(const std::string& status, const std::string& name);

}  // namespace krepro
