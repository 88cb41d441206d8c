// Descriptors, pipes and closing what a forked process does not need: see descriptor.h.
#include "common/process/descriptor.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

#include "common/base/error.h"
#include "common/base/host_files.h"

namespace krepro {
namespace {

/// False where the kernel (before 5.9) or a container's filter has no close_range.
bool close_range(unsigned first, unsigned last) {
#ifdef SYS_close_range
  return first > last || syscall(SYS_close_range, first, last, 0U) == 0;
#else
  return first > last;
#endif
}

void close_one_by_one(const std::vector<int>& kept) {
  // The process's own descriptors, so never those of a fixture.
  for (const std::string& name : HostFiles("/").list("/proc/self/fd")) {
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (!std::binary_search(kept.begin(), kept.end(), number)) {
      ::close(number);
    }
  }
}

}  // namespace

Descriptor above_standard_streams(int number) {
  if (number < 0 || number > STDERR_FILENO) {
    return Descriptor(number);
  }
  const Descriptor low(number);
  return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw system_error("create a pipe", errno, ExitCode::not_possible);
  }
  Pipe pipe = {above_standard_streams(ends[0]), above_standard_streams(ends[1])};
  if (!pipe.read_end.valid() || !pipe.write_end.valid()) {
    throw system_error("create a pipe", errno, ExitCode::not_possible);
  }
  return pipe;
}

Descriptor open_null() {
  Descriptor null = above_standard_streams(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) {
    throw system_error("open /dev/null", errno, ExitCode::not_possible);
  }
  return null;
}

void close_all_except(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 0;
  bool done = true;
  for (const int number : kept) {
    if (number < 0 || static_cast<unsigned>(number) < first) {
      continue;  // No descriptor, or one named twice.
    }
    const auto kept_number = static_cast<unsigned>(number);
    done = done && (kept_number == 0 || close_range(first, kept_number - 1));
    first = kept_number + 1;
  }
  done = done && close_range(first, std::numeric_limits<unsigned>::max());
  if (!done) {
    close_one_by_one(kept);
  }
}

}  // namespace krepro
