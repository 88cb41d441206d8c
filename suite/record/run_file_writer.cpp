// Writing of run files: exclusive creation, lock, whole lines flushed to disk. What the lines say
// is made elsewhere (run_lines.cpp).
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <utility>

#include "common/base/check.h"
#include "common/base/error.h"
#include "suite/record/run_file.h"
#include "suite/record/wall_clock.h"

namespace krepro {
namespace {

constexpr int most_files_per_minute = 1000;

Error cannot_create(const std::filesystem::path& path, int error_number) {
  if (error_number == EEXIST) {
    return usage_error(
        fmt::format("{} exists already: a run file is never overwritten", path.string()),
        "give another --out FILE, or go on with it: --resume FILE");
  }
  return system_error(fmt::format("cannot write the run file {}", path.string()), error_number);
}

void make_default_directory(const std::filesystem::path& directory) {
  if (directory.filename() != default_results_directory) return;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw system_error(fmt::format("cannot make the directory {}", directory.string()),
                       error.value());
  }
}

void lock(int descriptor, const std::filesystem::path& path) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  const int error_number = errno;
  ::close(descriptor);
  if (error_number == EWOULDBLOCK) {
    throw usage_error(fmt::format("{} is being written by another krepro run", path.string()),
                      "wait for it, or end it");
  }
  throw system_error(fmt::format("cannot lock {}", path.string()), error_number);
}

/// A new name must survive a crash too, not only the bytes.
void flush_directory_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  ::close(descriptor);
}

/// Opened and locked, or -1 where the name is taken.
int open_new(const std::filesystem::path& path) {
  const int descriptor =
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return -1;
  lock(descriptor, path);
  flush_directory_of(path);
  return descriptor;
}

std::string fit_for_file_name(const std::string& label) {
  std::string name;
  for (const char letter : label) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                       std::string_view("._+=-").find(letter) != std::string_view::npos;
    name += plain ? letter : '_';
  }
  return name.starts_with('.') ? "_" + name : name;
}

std::string read_all(int descriptor, const std::filesystem::path& path) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = pread(descriptor, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (count < 0) throw system_error(fmt::format("cannot read {}", path.string()), errno);
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// Where the whole lines end. A last line without its newline is whole if it is JSON all the same.
std::size_t end_of_whole_lines(const std::string& text) {
  const std::size_t last_newline = text.rfind('\n');
  const std::size_t tail = last_newline == std::string::npos ? 0 : last_newline + 1;
  if (tail < text.size()) return nlohmann::json::accept(text.substr(tail)) ? text.size() : tail;
  if (tail == 0) return 0;
  // The newline may have reached the disk before the bytes ahead of it.
  const std::size_t before = tail < 2 ? std::string::npos : text.rfind('\n', tail - 2);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return nlohmann::json::accept(text.substr(start)) ? tail : start;
}

}  // namespace

RunFileWriter RunFileWriter::create(const std::filesystem::path& path) {
  if (path.has_parent_path()) make_default_directory(path.parent_path());
  RunFileWriter writer;
  writer.path_ = path;
  writer.descriptor_ = open_new(path);
  if (writer.descriptor_ < 0) throw cannot_create(path, errno);
  writer.created_ = true;
  return writer;
}

RunFileWriter RunFileWriter::create_named(const std::filesystem::path& directory,
                                          const std::string& label) {
  make_default_directory(directory);
  const std::string stem = fmt::format("{}-{}", fit_for_file_name(label), local_minute_now());
  RunFileWriter writer;
  for (int attempt = 1; attempt <= most_files_per_minute; ++attempt) {
    const std::string name =
        attempt == 1 ? fmt::format("{}.jsonl", stem) : fmt::format("{}-{}.jsonl", stem, attempt);
    writer.path_ = directory / name;
    writer.descriptor_ = open_new(writer.path_);
    if (writer.descriptor_ >= 0) {
      writer.created_ = true;
      return writer;
    }
    if (errno != EEXIST) break;
  }
  throw cannot_create(writer.path_, errno);
}

RunFileWriter RunFileWriter::resume(const std::filesystem::path& path) {
  RunFileWriter writer;
  writer.path_ = path;
  const int descriptor = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) {
    throw system_error(fmt::format("cannot go on with {}", path.string()), errno);
  }
  lock(descriptor, path);
  writer.descriptor_ = descriptor;
  const std::string text = read_all(descriptor, path);
  writer.size_bytes_ = end_of_whole_lines(text);
  writer.cut_text_ = text.substr(writer.size_bytes_);
  if (writer.size_bytes_ == 0) {
    throw usage_error(fmt::format("{} is not a run file of krepro", path.string()));
  }
  writer.cut_back();
  if (text[writer.size_bytes_ - 1] != '\n') {
    if (write(descriptor, "\n", 1) != 1) {
      throw system_error(fmt::format("cannot write {}", path.string()), errno, ExitCode::failed);
    }
    ++writer.size_bytes_;
  }
  return writer;
}

RunFileWriter::RunFileWriter(RunFileWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_bytes_(other.size_bytes_),
      cut_text_(std::move(other.cut_text_)),
      created_(other.created_) {}

RunFileWriter& RunFileWriter::operator=(RunFileWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  path_ = std::move(other.path_);
  size_bytes_ = other.size_bytes_;
  cut_text_ = std::move(other.cut_text_);
  created_ = other.created_;
  return *this;
}

RunFileWriter::~RunFileWriter() { close(); }

void RunFileWriter::close() {
  if (descriptor_ < 0) return;
  if (created_ && size_bytes_ == 0) unlink(path_.c_str());
  ::close(std::exchange(descriptor_, -1));
}

void RunFileWriter::cut_back() {
  // Nothing can be done where cutting fails too: the reader leaves a torn last line out.
  if (ftruncate(descriptor_, static_cast<off_t>(size_bytes_)) == 0) fdatasync(descriptor_);
}

void RunFileWriter::append(const nlohmann::json& line) {
  KREPRO_CHECK(descriptor_ >= 0);
  // Text of programs under test may hold any bytes; replace what is not UTF-8 rather than throw.
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::size_t written = 0;
  int error_number = 0;
  while (written < text.size() && error_number == 0) {
    const ssize_t count = write(descriptor_, text.data() + written, text.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error_number = errno;
    }
  }
  if (error_number == 0 && fdatasync(descriptor_) != 0) error_number = errno;
  if (error_number != 0) {
    cut_back();
    const Error cause = system_error(fmt::format("cannot write {}", path_.string()), error_number,
                                     ExitCode::failed);
    if (size_bytes_ == 0) throw Error(ExitCode::failed, cause.what(), "nothing was run");
    throw Error(ExitCode::failed, fmt::format("{}; what was recorded before is kept", cause.what()),
                fmt::format("make room, then: krepro run --resume {}", path_.string()));
  }
  size_bytes_ += text.size();
}

}  // namespace krepro
