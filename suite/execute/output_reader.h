// Reading what a child prints, without ever blocking and within bounds: whole lines of its standard
// output, the end of its standard error.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

namespace krepro {

/// Collects lines from a pipe. Memory is bounded: a line longer than `max_line_bytes` is given out
/// cut, and overlong() says so.
class LineReader {
 public:
  explicit LineReader(std::size_t max_line_bytes = 16U << 20U) : max_line_bytes_(max_line_bytes) {}
  /// Takes what is there, at most 64 KiB; false at end of file or on an error.
  bool read_from(int descriptor);
  /// The next whole line without its newline; after the end also an unfinished last one.
  [[nodiscard]] std::optional<std::string> take();
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] bool overlong() const { return overlong_; }

 private:
  void split(const char* data, std::size_t size);
  std::size_t max_line_bytes_;
  std::deque<std::string> lines_;
  std::string partial_;
  bool ended_ = false;
  bool overlong_ = false;
};

/// Keeps the last `limit_bytes` of a stream.
class TailReader {
 public:
  explicit TailReader(std::size_t limit_bytes = 64U << 10U) : limit_bytes_(limit_bytes) {}
  bool read_from(int descriptor);
  [[nodiscard]] const std::string& text() const { return text_; }
  /// The last line that is not empty, for reasons of one line; "" where there is none.
  [[nodiscard]] std::string last_line() const;
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::size_t limit_bytes_;
  std::string text_;
  bool ended_ = false;
};

/// Makes reads from it, and writes to it, return at once.
void set_nonblocking(int descriptor);

}  // namespace krepro
