// Plain reads of small kernel files. Nothing here throws: what is absent on a machine is for the
// caller to judge.
#include "common/base/host_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <system_error>

namespace krepro {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view white_space = " \t\r\n\v\f";

/// Reads to the end of the file: files below /proc give no size, and may give less than was asked
/// for. At most `max_bytes`. Returns 0 or errno.
int read_all(int descriptor, std::size_t max_bytes, std::string& text) {
  char buffer[16384];
  while (true) {
    const std::size_t wanted = std::min(sizeof buffer, max_bytes - text.size());
    const ssize_t length = wanted == 0 ? 0 : ::read(descriptor, buffer, wanted);
    if (length == 0) return 0;
    if (length > 0) {
      text.append(buffer, static_cast<std::size_t>(length));
    } else if (errno != EINTR) {
      return errno;
    }
  }
}

}  // namespace

const HostFiles& HostFiles::system() {
  static const HostFiles files = [] {
    const char* root = std::getenv("KREPRO_HOST_ROOT");
    return HostFiles(root == nullptr || *root == '\0' ? "/" : root);
  }();
  return files;
}

fs::path HostFiles::real(std::string_view path) const {
  return root_ / fs::path(path).relative_path();
}

std::optional<std::string> HostFiles::read(std::string_view path, int* error_number) const {
  return read_start(path, std::numeric_limits<std::size_t>::max(), error_number);
}

std::optional<std::string> HostFiles::read_start(std::string_view path, std::size_t max_bytes,
                                                 int* error_number) const {
  ++*opened_;
  std::string text;
  int error = 0;
  const int descriptor = ::open(real(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    error = errno;
  } else {
    error = read_all(descriptor, max_bytes, text);
    ::close(descriptor);
  }
  if (error_number != nullptr) *error_number = error;
  if (error != 0) return std::nullopt;
  return text;
}

std::optional<std::string> HostFiles::read_line(std::string_view path, int* error_number) const {
  std::optional<std::string> text = read(path, error_number);
  // npos + 1 is 0: a text of white space alone becomes empty.
  if (text) text->erase(text->find_last_not_of(white_space) + 1);
  return text;
}

std::optional<std::int64_t> HostFiles::read_number(std::string_view path) const {
  const std::optional<std::string> text = read(path);
  if (!text) return std::nullopt;
  const std::size_t start = text->find_first_not_of(white_space);
  if (start == std::string::npos) return std::nullopt;
  const std::size_t end = std::min(text->find_first_of(white_space, start), text->size());
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text->data() + start, text->data() + end, value);
  if (error != std::errc() || stop != text->data() + end) return std::nullopt;
  return value;
}

std::vector<std::string> HostFiles::list(std::string_view path) const {
  ++*opened_;
  std::vector<std::string> names;
  std::error_code error;
  // increment(error) instead of ++: entries of /proc vanish while they are listed.
  for (fs::directory_iterator entry(real(path), error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool HostFiles::exists(std::string_view path) const {
  ++*opened_;
  std::error_code error;
  return fs::exists(real(path), error);
}

std::optional<std::string> HostFiles::read_link(std::string_view path) const {
  ++*opened_;
  std::error_code error;
  const fs::path target = fs::read_symlink(real(path), error);
  if (error) return std::nullopt;
  return target.string();
}

std::uint64_t status_number(const std::string& status, const std::string& name) {
  const std::size_t at = status.find("\n" + name + ":");
  if (at == std::string::npos) return 0;
  std::istringstream rest(status.substr(at + name.size() + 2));
  std::uint64_t value = 0;
  rest >> value;
  return value;
}

}  // namespace krepro
