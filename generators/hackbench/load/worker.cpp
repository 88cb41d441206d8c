// What is measured: the calls of senders and receivers. See worker.h.
#include "generators/hackbench/load/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace krepro::hackbench_load {
namespace {

[[noreturn]] void worker_failed(const char* what) {
  fprintf(stderr, "hackbench-load: %s: %s\n", what, strerror(errno));
  exit(1);  // A thread ends the whole process with this.
}

void reset_signals() {
  signal(SIGTERM, SIG_DFL);
  signal(SIGINT, SIG_DFL);
}

/// One byte says "here", then poll(2) until the start signal. The byte of the start signal is never
/// read, so that one byte releases all workers.
void wait_for_start(int ready_fd, int wake_fd) {
  const char here = '*';
  pollfd start{wake_fd, POLLIN, 0};
  if (write(ready_fd, &here, 1) != 1) {
    worker_failed("telling that the worker is ready");
  }
  if (poll(&start, 1, -1) != 1) {
    worker_failed("waiting for the start");
  }
}

void send_message(int write_end, const char* message, size_t size) {
  size_t done = 0;
  do {
    const ssize_t wrote = write(write_end, message + done, size - done);
    if (wrote < 0) {
      worker_failed("sender: write");
    }
    done += static_cast<size_t>(wrote);
  } while (done < size);
}

void receive_message(int read_end, char* message, size_t size) {
  size_t done = 0;
  do {
    const ssize_t got = read(read_end, message + done, size - done);
    if (got < 0) {
      worker_failed("receiver: read");
    }
    if (got == 0) {  // The original would read on for ever.
      errno = EPIPE;
      worker_failed("receiver: all senders are gone");
    }
    done += static_cast<size_t>(got);
  } while (done < size);
}

}  // namespace

Load load;

void* run_sender(void* context) {
  const auto* sender = static_cast<const SenderContext*>(context);
  const unsigned size = load.datasize;
  // On the stack, as the original has it: a worker's stack is part of what its end has to undo.
  char* message = static_cast<char*>(__builtin_alloca(size));
  reset_signals();
  wait_for_start(sender->ready_fd, sender->wake_fd);
  memset(message, '-', size);
  for (unsigned loop = 0; loop < load.loops; ++loop) {
    for (unsigned channel = 0; channel < sender->channels; ++channel) {
      send_message(sender->write_ends[channel], message, size);
    }
  }
  return nullptr;
}

void* run_receiver(void* context) {
  auto* receiver = static_cast<ReceiverContext*>(context);
  const unsigned size = load.datasize;
  char* message = static_cast<char*>(__builtin_alloca(size));
  reset_signals();
  if (!load.threads) {
    close(receiver->ends[1]);
  }
  wait_for_start(receiver->ready_fd, receiver->wake_fd);
  for (unsigned long long received = 0; received < receiver->messages; ++received) {
    receive_message(receiver->ends[0], message, size);
  }
  // Not tidiness: in a thread, the first call of the allocator sets up an arena (mmap, munmap,
  // mprotect) while the clock runs, and so it does in the original.
  free(receiver);
  return nullptr;
}

}  // namespace krepro::hackbench_load
