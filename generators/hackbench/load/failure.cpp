// The end of a load that failed: all workers first, then the parent. See failure.h.
#include "generators/hackbench/load/failure.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace krepro::hackbench_load {

void fail(const char* what) {
  printf("error %d %s\n", errno, what);
  fflush(stdout);
  end_workers();
  exit(1);
}

void end_workers() {
  // Workers have SIGTERM at its default, or (just forked) a handler that ends them.
  signal(SIGCHLD, SIG_DFL);
  signal(SIGTERM, SIG_IGN);
  kill(0, SIGTERM);
  while (wait(nullptr) > 0 || errno == EINTR) {
  }
}

void own_process_group() {
  if (getpgrp() != getpid() && setpgid(0, 0) != 0) {
    fail("setpgid");
  }
}

}  // namespace krepro::hackbench_load
