// hackbench-load: the process that is measured. krepro-hackbench starts it, tells it to go, and
// reads what it says on stdout. It links nothing but libc, so that its mappings and its resident
// size, which the end of every worker has to undo while the clock runs, are those of the original.
// Not for use by hand, and no place for checks of options and limits: krepro-hackbench has made
// them. docs: see load_process.h for the lines that go to and fro.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "generators/hackbench/load/channel.h"
#include "generators/hackbench/load/failure.h"
#include "generators/hackbench/load/worker.h"

namespace krepro::hackbench_load {
namespace {

union Worker {
  pthread_t thread;
  pid_t process;
};

struct Setup {
  ChannelKind channel = ChannelKind::unix_socket;
  unsigned groups = 0;
  unsigned channels_per_group = 0;
  bool fifo = false;

  [[nodiscard]] size_t workers() const { return size_t{2} * groups * channels_per_group; }
};

struct Barrier {
  int ready[2];
  int wake[2];
};

struct Capacity {
  int min = INT_MAX;
  int max = 0;
};

/// What wait4(2) said of one worker.
struct Reaped {
  pid_t process;
  int status;
  rusage usage;
};

pid_t parent_process = 0;
std::atomic<int> worker_ended_early = 0;
Barrier barrier;

long long clock_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// SIGINT and SIGTERM end parent and workers at once, at any moment; whoever started us reaps them.
void end_at_once(int /*signal_number*/) {
  if (getpid() != parent_process) {
    _exit(1);  // A worker that was forked just now and has not reset its signals.
  }
  kill(0, SIGKILL);
}

/// A worker process ended before the start signal: wakes the parent, which waits for bytes on the
/// ready channel. Where that is full, the parent is awake.
void notice_early_end(int /*signal_number*/) {
  worker_ended_early = 1;
  pollfd ready{barrier.ready[1], POLLOUT, 0};
  if (getpid() == parent_process && poll(&ready, 1, 0) == 1) {
    const ssize_t ignored = write(barrier.ready[1], "!", 1);
    static_cast<void>(ignored);
  }
}

size_t stack_size() {
  // The original's size. A message that does not fit would overrun its stack: larger only then.
  const size_t smallest = static_cast<size_t>(PTHREAD_STACK_MIN);
  const size_t page = 4096;
  return load.datasize <= smallest / 2 ? smallest
                                       : smallest + (load.datasize + page - 1) / page * page;
}

Worker start_process(void* (*run)(void*), void* context) {
  Worker worker{};
  worker.process = fork();
  if (worker.process < 0) {
    fail("fork");
  }
  if (worker.process == 0) {
    run(context);
    exit(0);
  }
  return worker;
}

Worker start_thread(void* (*run)(void*), void* context) {
  Worker worker{};
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error == 0) {
    error = pthread_attr_setstacksize(&attributes, stack_size());
  }
  if (error == 0) {
    error = pthread_create(&worker.thread, &attributes, run, context);
  }
  if (error != 0) {
    errno = error;
    fail("pthread_create");
  }
  return worker;
}

Worker start_worker(void* (*run)(void*), void* context) {
  return load.threads ? start_thread(run, context) : start_process(run, context);
}

void* allocate(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory == nullptr) {
    fail("malloc");
  }
  return memory;
}

/// One group: for each channel the channel and its receiver, then the senders, which all share the
/// channels' write ends. A parent of processes keeps none of the ends.
void start_group(const Setup& setup, Worker* workers, Capacity& capacity) {
  const unsigned count = setup.channels_per_group;
  auto* sender = static_cast<SenderContext*>(allocate(sizeof(SenderContext) + count * sizeof(int)));
  sender->write_ends = reinterpret_cast<int*>(sender + 1);
  for (unsigned channel = 0; channel < count; ++channel) {
    auto* receiver = static_cast<ReceiverContext*>(allocate(sizeof(ReceiverContext)));
    int ends[2];
    open_channel(setup.channel, ends);
    const int bytes = channel_capacity(setup.channel, ends[1]);
    capacity.min = bytes < capacity.min ? bytes : capacity.min;
    capacity.max = bytes > capacity.max ? bytes : capacity.max;
    *receiver = {static_cast<unsigned long long>(count) * load.loops,
                 {ends[0], ends[1]},
                 barrier.ready[1],
                 barrier.wake[0]};
    workers[channel] = start_worker(run_receiver, receiver);
    sender->write_ends[channel] = ends[1];
    if (!load.threads) {
      close(ends[0]);
    }
  }
  sender->channels = count;
  sender->ready_fd = barrier.ready[1];
  sender->wake_fd = barrier.wake[0];
  for (unsigned i = 0; i < count; ++i) {
    workers[count + i] = start_worker(run_sender, sender);
  }
  if (!load.threads) {
    for (unsigned channel = 0; channel < count; ++channel) {
      close(sender->write_ends[channel]);
    }
  }
}

/// A thread's id without a system call of the thread: the id of its CPU clock holds it
/// (the kernel's MAKE_THREAD_CPUCLOCK: the complement, shifted left by three).
pid_t thread_id(pthread_t thread) {
  clockid_t clock = 0;
  const int error = pthread_getcpuclockid(thread, &clock);
  if (error != 0) {
    errno = error;
    fail("pthread_getcpuclockid");
  }
  return ~(clock >> 3);
}

[[noreturn]] void fail_of_worker(const Reaped& worker) {
  // Written at once: the others may have ended well, or wait for ever for the one that is gone.
  printf("failed %d %d\n", worker.process, worker.status);
  fflush(stdout);
  end_workers();
  exit(1);
}

/// One byte per worker. After that SIGCHLD is what it is in the original again: no handler runs
/// while the clock does.
void wait_for_workers(size_t count) {
  char byte = 0;
  for (size_t i = 0; i < count; ++i) {
    if (read(barrier.ready[0], &byte, 1) != 1) {
      fail("waiting for the workers");
    }
    Reaped worker{};
    if (worker_ended_early != 0 && (worker.process = waitpid(-1, &worker.status, WNOHANG)) > 0) {
      fail_of_worker(worker);
    }
  }
  signal(SIGCHLD, SIG_DFL);
}

void print_ids(const char* role, const Worker* workers, unsigned count) {
  printf("%s", role);
  for (unsigned i = 0; i < count; ++i) {
    printf(" %d", load.threads ? thread_id(workers[i].thread) : workers[i].process);
  }
  printf("\n");
}

void report_ready(const Setup& setup, const Worker* workers, const Capacity& capacity) {
  const unsigned count = setup.channels_per_group;
  printf("channels %u capacity_min %d capacity_max %d\n", setup.groups * count, capacity.min,
         capacity.max);
  if (load.threads) {
    printf("stack %zu\n", stack_size());
  }
  for (unsigned group = 0; group < setup.groups; ++group) {
    print_ids("receivers", workers + size_t{2} * group * count, count);
    print_ids("senders", workers + (size_t{2} * group + 1) * count, count);
  }
  printf("ready\n");
  fflush(stdout);
}

/// Waits for the byte that says go. Where krepro-hackbench is gone or has closed the pipe, all
/// ends.
void wait_for_go() {
  char go = 0;
  if (read(STDIN_FILENO, &go, 1) != 1) {
    end_workers();
    exit(0);
  }
}

void reap_processes(Reaped* reaped, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Reaped& worker = reaped[i];
    worker.process = wait4(-1, &worker.status, 0, &worker.usage);
    if (worker.process < 0) {
      fail("wait4");
    }
    if (worker.status != 0) {
      fail_of_worker(worker);
    }
  }
}

void join_threads(const Worker* workers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int error = pthread_join(workers[i].thread, nullptr);
    if (error != 0) {
      errno = error;
      fail("pthread_join");
    }
  }
}

long long microseconds(const timeval& time) { return time.tv_sec * 1'000'000LL + time.tv_usec; }

void print_usage(const rusage& usage) {
  printf("%ld %ld %lld %lld\n", usage.ru_nvcsw, usage.ru_nivcsw, microseconds(usage.ru_utime),
         microseconds(usage.ru_stime));
}

void report_processes(const Reaped* reaped, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    printf("reaped %d ", reaped[i].process);
    print_usage(reaped[i].usage);
  }
}

void report_threads(const rusage& before) {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  usage.ru_nvcsw -= before.ru_nvcsw;
  usage.ru_nivcsw -= before.ru_nivcsw;
  timersub(&usage.ru_utime, &before.ru_utime, &usage.ru_utime);
  timersub(&usage.ru_stime, &before.ru_stime, &usage.ru_stime);
  printf("process ");
  print_usage(usage);
}

void catch_signals() {
  signal(SIGINT, end_at_once);
  signal(SIGTERM, end_at_once);
  signal(SIGHUP, SIG_IGN);
  if (!load.threads) {
    signal(SIGCHLD, notice_early_end);
  }
}

void become_fifo() {
  const sched_param priority{1};
  if (sched_setscheduler(0, SCHED_FIFO, &priority) < 0) {
    fail("sched_setscheduler(SCHED_FIFO)");
  }
}

/// From the start signal until all workers are reaped; the time between in ns.
long long run_timed(const Worker* workers, Reaped* reaped, size_t count) {
  const char start = '*';
  const long long start_ns = clock_ns();
  if (write(barrier.wake[1], &start, 1) != 1) {
    fail("starting the workers");
  }
  if (load.threads) {
    join_threads(workers, count);
  } else {
    reap_processes(reaped, count);
  }
  return clock_ns() - start_ns;
}

void run(const Setup& setup) {
  const size_t count = setup.workers();
  auto* workers = static_cast<Worker*>(calloc(count, sizeof(Worker)));
  if (workers == nullptr) {
    fail("calloc");
  }
  open_channel(setup.channel, barrier.ready);
  open_channel(setup.channel, barrier.wake);
  catch_signals();

  Capacity capacity;
  for (unsigned group = 0; group < setup.groups; ++group) {
    start_group(setup, workers + size_t{2} * group * setup.channels_per_group, capacity);
  }
  // After the last fork, so that no worker carries it; written to, so that no page fault is timed.
  const size_t bytes = (load.threads ? 1 : count) * sizeof(Reaped);
  auto* reaped = static_cast<Reaped*>(memset(allocate(bytes), 0, bytes));
  if (setup.fifo) {
    become_fifo();
  }
  wait_for_workers(count);
  report_ready(setup, workers, capacity);
  wait_for_go();

  rusage before;
  getrusage(RUSAGE_SELF, &before);
  const long long elapsed_ns = run_timed(workers, reaped, count);
  printf("elapsed_ns %lld\n", elapsed_ns);
  if (load.threads) {
    report_threads(before);
  } else {
    report_processes(reaped, count);
  }
  printf("end\n");
}

Setup parse(int argc, char** argv) {
  if (argc != 8) {
    fprintf(stderr, "hackbench-load is a part of krepro-hackbench, and started by it\n");
    exit(2);
  }
  const auto number = [](const char* text) {
    return static_cast<unsigned>(strtoul(text, nullptr, 10));
  };
  Setup setup;
  load.threads = strcmp(argv[1], "threads") == 0;
  setup.channel = strcmp(argv[2], "pipe") == 0   ? ChannelKind::pipe
                  : strcmp(argv[2], "inet") == 0 ? ChannelKind::inet
                                                 : ChannelKind::unix_socket;
  setup.groups = number(argv[3]);
  setup.channels_per_group = number(argv[4]);
  load.loops = number(argv[5]);
  load.datasize = number(argv[6]);
  setup.fifo = strcmp(argv[7], "fifo") == 0;
  return setup;
}

int load_main(int argc, char** argv) {
  const Setup setup = parse(argc, argv);
  parent_process = getpid();
  own_process_group();
  // Before any worker is made, as the original prints its first lines: the buffer exists and is
  // empty at fork.
  printf("hackbench-load 1\n");
  fflush(nullptr);
  run(setup);
  return 0;
}

}  // namespace
}  // namespace krepro::hackbench_load

int main(int argc, char** argv) { return krepro::hackbench_load::load_main(argc, argv); }
