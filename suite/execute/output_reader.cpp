// Bounded buffers over non-blocking pipes.
#include "suite/execute/output_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace krepro {
namespace {

/// One read: bytes, 0 for "nothing now", -1 for the end.
ssize_t read_once(int descriptor, std::array<char, 65536>& buffer) {
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) return count;
    if (count == 0) return -1;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) return -1;
  }
}

}  // namespace

void set_nonblocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

// One read per call: a child that prints without end must not keep the loop from its deadlines.
bool LineReader::read_from(int descriptor) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read_once(descriptor, buffer);
  if (count > 0) split(buffer.data(), static_cast<std::size_t>(count));
  if (count < 0) ended_ = true;
  return !ended_;
}

void LineReader::split(const char* data, std::size_t size) {
  std::string_view rest(data, size);
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    const std::string_view piece = rest.substr(0, newline);
    const std::size_t room = max_line_bytes_ - partial_.size();
    if (piece.size() > room) overlong_ = true;
    partial_.append(piece.substr(0, room));
    if (newline == std::string_view::npos) return;
    lines_.push_back(std::move(partial_));
    partial_.clear();
    rest.remove_prefix(newline + 1);
  }
}

std::optional<std::string> LineReader::take() {
  if (lines_.empty()) {
    if (!ended_ || partial_.empty()) return std::nullopt;
    lines_.push_back(std::move(partial_));
    partial_.clear();
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

bool TailReader::read_from(int descriptor) {
  std::array<char, 65536> buffer{};
  const ssize_t count = read_once(descriptor, buffer);
  if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
  if (count < 0) ended_ = true;
  if (text_.size() > limit_bytes_) text_.erase(0, text_.size() - limit_bytes_);
  return !ended_;
}

std::string TailReader::last_line() const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::size_t newline = rest.rfind('\n');
    const std::string_view line =
        newline == std::string_view::npos ? rest : rest.substr(newline + 1);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return std::string(line);
    if (newline == std::string_view::npos) break;
    rest = rest.substr(0, newline);
  }
  return {};
}

}  // namespace krepro
