// Writes through a temporary name beside the file.
#include "common/generator/json_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/base/error.h"

namespace krepro {

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
  if (path_.empty() || is_stdout()) return;
  if (std::filesystem::is_directory(path_)) {
    throw usage_error(fmt::format("--json {}: is a directory", path_));
  }
  partial_ = fmt::format("{}.{}.part", path_, getpid());
  std::FILE* file = std::fopen(partial_.c_str(), "we");
  if (file == nullptr) {
    const int error_number = errno;
    partial_.clear();
    throw system_error("--json " + path_, error_number);
  }
  std::fclose(file);
}

JsonFile::~JsonFile() {
  if (!partial_.empty()) unlink(partial_.c_str());
}

void JsonFile::write(const nlohmann::json& json) {
  if (path_.empty()) return;
  const std::string text =
      json.dump(is_stdout() ? -1 : 1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::FILE* file = is_stdout() ? stdout : std::fopen(partial_.c_str(), "we");
  if (file == nullptr) throw system_error("--json " + path_, errno, ExitCode::failed);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool flushed = (is_stdout() ? std::fflush(file) : std::fclose(file)) == 0;
  if (!written || !flushed) throw system_error("write --json " + path_, errno, ExitCode::failed);
  if (is_stdout()) return;
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) {
    throw system_error("--json " + path_, errno, ExitCode::failed);
  }
  partial_.clear();
}

}  // namespace krepro
