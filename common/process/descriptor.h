// File descriptors that are closed when their owner ends, pipes, and closing all the others after a
// fork. Not for sockets' or files' own business.
#pragma once

#include <unistd.h>

#include <utility>
#include <vector>

namespace krepro {

/// Owner of one descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (number_ >= 0) {
      ::close(number_);
    }
    number_ = number;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// Takes over `number` (or -1) and gives it a number of 3 or above; -1 where descriptors ran out.
[[nodiscard]] Descriptor above_standard_streams(int number);
/// Both ends close-on-exec and numbered 3 or above, so that they never collide with the standard
/// streams of a program to be started, even where the caller runs with those closed. Throws
/// not_possible when descriptors run out.
[[nodiscard]] Pipe make_pipe();
/// /dev/null for reading and writing, close-on-exec, numbered 3 or above.
[[nodiscard]] Descriptor open_null();
/// Closes every descriptor of the process that is not in `kept` (any order, -1 is ignored). Its
/// cost does not depend on RLIMIT_NOFILE.
void close_all_except(std::vector<int> kept);

}  // namespace krepro
