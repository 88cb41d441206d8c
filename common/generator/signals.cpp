// The handlers do nothing but remember the first signal and write one byte.
#include "common/generator/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "common/base/check.h"
#include "common/base/error.h"

namespace krepro {

namespace {

// Signal handlers can reach nothing but globals; these are touched by this file only.
int signal_pipe[2] = {-1, -1};
std::atomic<int> first_signal{0};

void on_end_signal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) {
    _exit(static_cast<int>(ExitCode::interrupted));
  }
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(signal_pipe[1], &byte, 1);
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

}  // namespace

void catch_end_signals() {
  KREPRO_CHECK(pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) == 0);
  set_handlers(on_end_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

int end_signal_fd() { return signal_pipe[0]; }
int end_signal() { return first_signal.load(); }
void restore_end_signals() {
  set_handlers(SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace krepro
