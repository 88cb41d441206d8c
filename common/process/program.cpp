// Search for executable files: see program.h.
#include "common/process/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "common/base/error.h"

namespace krepro {
namespace {

bool is_executable_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

/// Why `path`, which is not an executable file, is none.
std::string reason(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return "no such file";
  }
  if (error) {
    return error.message();
  }
  return std::filesystem::is_directory(status) ? "is a directory" : "not executable";
}

}  // namespace

std::string default_search_path() {
  const char* const path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::optional<std::filesystem::path> find_program(const std::string& name,
                                                  std::string_view search_path) {
  if (name.find('/') != std::string::npos) {
    return is_executable_file(name) ? std::optional<std::filesystem::path>(name) : std::nullopt;
  }
  while (!name.empty()) {
    const std::size_t colon = search_path.find(':');
    const std::string_view folder = search_path.substr(0, colon);
    // An empty element means the current folder, as for the shell.
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_executable_file(candidate)) {
      return candidate;
    }
    if (colon == std::string_view::npos) {
      break;
    }
    search_path.remove_prefix(colon + 1);
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> find_program(const std::string& name) {
  return find_program(name, default_search_path());
}

std::filesystem::path require_program(const std::string& name, std::string_view search_path) {
  const auto found = find_program(name, search_path);
  if (!found) {
    if (name.find('/') == std::string::npos) {
      throw not_possible(fmt::format("{}: no such program in PATH ({})", name, search_path),
                         fmt::format("install the package that has {}, or give its path", name));
    }
    throw not_possible(fmt::format("{}: cannot be executed: {}", name, reason(name)));
  }
  return std::filesystem::absolute(*found);
}

}  // namespace krepro
