// The file that --json names: opened before the load starts, so that a path that cannot be written
// is found at once; it appears whole or not at all.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace krepro {

class JsonFile {
 public:
  /// `path`: "" for none, "-" for standard output. Throws usage_error where it cannot be written.
  explicit JsonFile(std::string path);
  JsonFile(const JsonFile&) = delete;
  JsonFile& operator=(const JsonFile&) = delete;
  ~JsonFile();
  [[nodiscard]] bool is_stdout() const { return path_ == "-"; }
  /// Writes the document; a file is replaced by rename. Throws an Error (failed) on a full disk.
  void write(const nlohmann::json& json);

 private:
  std::string path_;
  std::string partial_;  ///< Beside the file; removed unless renamed.
};

}  // namespace krepro
