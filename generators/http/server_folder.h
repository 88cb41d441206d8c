// The folder of a server that a trial starts: its static files, its key and certificate. Not the
// server itself.
#pragma once

#include <filesystem>

#include "common/generator/generator.h"
#include "generators/http/settings.h"

namespace krepro::http {

/// A new folder below the temporary one, readable for nginx's unprivileged workers; removed with
/// the object.
class ServerFolder {
 public:
  ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;
  ~ServerFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path files() const { return path_ / "files"; }

  /// Whether any user may reach it: a folder above may be closed to others, as root's home is.
  [[nodiscard]] bool open_to_all() const;

 private:
  std::filesystem::path path_;
};

/// Writes the static files (file_path()) below `root`. Throws system_error on a full disk.
void write_static_files(const std::filesystem::path& root, const ServerSettings& settings);

/// Makes an RSA-4096 key and a certificate that it signs itself for localhost, 127.0.0.1 and ::1,
/// into key.pem and certificate.pem of the folder. Takes seconds; looks at signals meanwhile.
void make_certificate(const std::filesystem::path& folder, Frame& frame);

}  // namespace krepro::http
