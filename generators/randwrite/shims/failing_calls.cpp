// Preloaded into the program by tests: makes single calls fail, as sick devices and some kernels
// do. KREPRO_SHIM names what fails:
//   fsync-eio:N     the Nth fsync or fdatasync fails with EIO
//   short-write:N   the Nth pwrite writes half, and what follows fails with ENOSPC
//   direct-einval   open with O_DIRECT fails with EINVAL
//   ring            every 10th completion is EAGAIN, short or (an fsync) cancelled, in turn
// In the last case it also ends the process where an fsync is submitted with writes in flight; not
// where a cancelled one is issued again, for the writes that have started since are not its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string>

namespace {

template <typename Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// The number behind "what:" if that is asked for; 0: it is not.
unsigned long asked(const char* what) {
  const char* text = std::getenv("KREPRO_SHIM");
  const std::string wanted = std::string(what) + ":";
  if (text == nullptr || std::string(text).compare(0, wanted.size(), wanted) != 0) return 0;
  return std::strtoul(text + wanted.size(), nullptr, 10);
}

bool asked_for(const char* what) {
  const char* text = std::getenv("KREPRO_SHIM");
  return text != nullptr && std::string(text) == what;
}

unsigned long syncs = 0;
unsigned long writes = 0;

bool sync_fails() {
  if (asked("fsync-eio") == 0 || ++syncs != asked("fsync-eio")) return false;
  errno = EIO;
  return true;
}

/// What was seen of the ring so far.
io_uring* ring = nullptr;
unsigned submitted = 0;
unsigned looked_at = 0;
unsigned troubles = 0;
bool cancelled_sync = false;

void look_at_submissions(io_uring* of) {
  ring = of;
  const unsigned queued = ring->sq.sqe_tail - ring->sq.sqe_head;
  const unsigned in_flight = submitted - *ring->cq.khead;
  for (unsigned i = 0; i < queued; ++i) {
    const io_uring_sqe& entry = ring->sq.sqes[(ring->sq.sqe_head + i) & *ring->sq.kring_mask];
    if (entry.opcode != IORING_OP_FSYNC) continue;
    if (in_flight + i > 0 && !cancelled_sync) _exit(99);
    cancelled_sync = false;
  }
  submitted += queued;
}

void spoil_completions() {
  for (; looked_at != *ring->cq.ktail; ++looked_at) {
    io_uring_cqe& completion = ring->cq.cqes[looked_at & *ring->cq.kring_mask];
    if (looked_at % 10 != 9) continue;
    if (completion.res == 0) {
      completion.res = -ECANCELED;
      cancelled_sync = true;
    } else if (completion.res > 1) {
      completion.res = ++troubles % 2 == 0 ? -EAGAIN : completion.res / 2;
    }
  }
}

}  // namespace

// The C library names its parameters with reserved words.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

int fsync(int fd) { return sync_fails() ? -1 : original<int (*)(int)>("fsync")(fd); }

int fdatasync(int fd) { return sync_fails() ? -1 : original<int (*)(int)>("fdatasync")(fd); }

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
  const auto real = original<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const unsigned long nth = asked("short-write");
  if (nth != 0) {
    ++writes;
    if (writes == nth) return real(fd, data, bytes / 2, offset);
    if (writes > nth) {
      errno = ENOSPC;
      return -1;
    }
  }
  return real(fd, data, bytes, offset);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_DIRECT) != 0 && asked_for("direct-einval")) {
    errno = EINVAL;
    return -1;
  }
  return original<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}

int io_uring_submit_and_get_events(io_uring* of) {
  const bool spoils = asked_for("ring");
  if (spoils) look_at_submissions(of);
  const int result = original<int (*)(io_uring*)>("io_uring_submit_and_get_events")(of);
  if (spoils) spoil_completions();
  return result;
}

int io_uring_enter(unsigned fd, unsigned count, unsigned least, unsigned flags, sigset_t* mask) {
  const int result = original<int (*)(unsigned, unsigned, unsigned, unsigned, sigset_t*)>(
      "io_uring_enter")(fd, count, least, flags, mask);
  if (ring != nullptr && asked_for("ring")) spoil_completions();
  return result;
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
