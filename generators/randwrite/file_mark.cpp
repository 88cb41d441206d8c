// Setting and reading the mark.
#include "generators/randwrite/file_mark.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <fstream>

#include "common/base/error.h"

namespace krepro::randwrite {

namespace {

constexpr const char* attribute = "user.krepro.made";

/// Names one file for as long as it exists: a mark that was left behind fits no other.
std::string identity_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return {};
  return fmt::format("{} {}", status.st_dev, status.st_ino);
}

}  // namespace

std::string mark_path(const std::string& path) { return path + ".krepro-made"; }

void mark_as_made(int fd, const std::string& path) {
  if (fsetxattr(fd, attribute, "1", 1, 0) == 0) return;
  std::ofstream mark(mark_path(path), std::ios::trunc);
  mark << identity_of(fd) << '\n';
  mark.close();
  if (!mark) throw system_error(fmt::format("mark {}", mark_path(path)), errno);
}

bool is_marked_as_made(int fd, const std::string& path) {
  char value = 0;
  if (fgetxattr(fd, attribute, &value, 1) == 1 && value == '1') return true;
  std::ifstream mark(mark_path(path));
  std::string line;
  return std::getline(mark, line) && !line.empty() && line == identity_of(fd);
}

}  // namespace krepro::randwrite
