// Static files of a server; see server_folder.h.
#include "generators/http/server_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "common/base/error.h"

namespace krepro::http {

ServerFolder::ServerFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "krepro-http-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw system_error("mkdtemp " + pattern, errno);
  path_ = pattern;
  // Started as root, nginx's workers are another user.
  chmod(path_.c_str(), 0755);
}

ServerFolder::~ServerFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

bool ServerFolder::open_to_all() const {
  std::filesystem::path part;
  for (const std::filesystem::path& name : path_) {
    part /= name;
    const std::filesystem::perms may = std::filesystem::status(part).permissions();
    if ((may & std::filesystem::perms::others_exec) == std::filesystem::perms::none) return false;
  }
  return true;
}

void write_static_files(const std::filesystem::path& root, const ServerSettings& settings) {
  std::filesystem::create_directory(root);
  // nginx's workers read them as another user, whatever the umask is.
  chmod(root.c_str(), 0755);
  for (std::size_t i = 0; i < settings.file_sizes.size(); ++i) {
    const std::filesystem::path path = root / file_path(settings.file_sizes, i).substr(1);
    std::ofstream file(path, std::ios::binary);
    const std::string block(65536, 'x');
    for (std::uint64_t left = settings.file_sizes[i]; left > 0;) {
      const std::uint64_t part = std::min<std::uint64_t>(left, block.size());
      file.write(block.data(), static_cast<std::streamsize>(part));
      left -= part;
    }
    file.close();
    if (!file) throw system_error("write " + path.string(), errno);
    chmod(path.c_str(), 0644);
  }
}

}  // namespace krepro::http
