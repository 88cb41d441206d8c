// A machine that tests make up: files below a directory that stands for "/". For tests only.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/host_files.h"

namespace krepro::test {

/// A directory that stands for "/"; removed at its end.
class MadeUpRoot {
 public:
  MadeUpRoot() {
    char pattern[] = "/tmp/krepro-root-XXXXXX";
    path_ = mkdtemp(pattern);
  }
  MadeUpRoot(const MadeUpRoot&) = delete;
  MadeUpRoot& operator=(const MadeUpRoot&) = delete;
  ~MadeUpRoot() { std::filesystem::remove_all(path_); }

  void put(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = path_ / std::filesystem::path(file).relative_path();
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  [[nodiscard]] std::string get(const std::string& file) const {
    return HostFiles(path_).read(file).value_or("");
  }
  void remove(const std::string& file) const {
    std::filesystem::remove_all(path_ / std::filesystem::path(file).relative_path());
  }
  [[nodiscard]] HostFiles host() const { return HostFiles(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace krepro::test
