// Signal handlers that only remember the signal and write one byte into a pipe.
#include "suite/execute/interruption.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "common/base/error.h"

namespace krepro {
namespace {

constexpr std::array<int, 3> ending_signals = {SIGINT, SIGTERM, SIGHUP};

// Signal handlers reach nothing but globals.
std::atomic<int> first_signal{0};
std::atomic<int> wake_fd{-1};

void on_ending_signal(int signal_number) {
  const int saved_errno = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal_number)) {
    _exit(static_cast<int>(ExitCode::interrupted));
  }
  const char byte = 0;
  if (write(wake_fd.load(), &byte, 1) < 0) {
    // The pipe is empty before its only write; there is nothing else to do in a handler.
  }
  errno = saved_errno;
}

void do_nothing(int) {}

void install(int signal_number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw system_error("cannot make a pipe", errno);
  }
  read_end_ = ends[0];
  first_signal = 0;
  wake_fd = ends[1];
  for (const int signal_number : ending_signals) {
    struct sigaction current {};
    sigaction(signal_number, nullptr, &current);
    // nohup ignores SIGHUP on purpose.
    if (signal_number == SIGHUP && current.sa_handler == SIG_IGN) continue;
    install(signal_number, on_ending_signal, SA_RESTART);
  }
}

Interruption::~Interruption() {
  for (const int signal_number : ending_signals) install(signal_number, SIG_DFL, 0);
  close(wake_fd.exchange(-1));
  close(read_end_);
}

bool Interruption::requested() const { return first_signal.load() != 0; }

const char* Interruption::signal_name() const {
  switch (first_signal.load()) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "";
  }
}

void turn_write_signals_into_errors() {
  install(SIGPIPE, do_nothing, SA_RESTART);
  install(SIGXFSZ, do_nothing, SA_RESTART);
}

}  // namespace krepro
