// The text of hackbench's documentation page, below what is generated from its tables.
#pragma once

namespace krepro::hackbench {

inline constexpr const char* details = R"(## What it does, call by call

`krepro-hackbench` checks options and limits and starts `hackbench-load`, a small program that
links nothing but libc. That one makes the load, with the system calls of rt-tests 2.4's
hackbench in their order:

1. It opens two channels of the kind under test, *ready* and *wake* (`pipe2`; `socketpair`; with
   `--inet` a listening socket, a connecting one and `accept`).
2. For each group, `--fds` times: it opens a channel, makes a receiver (`fork`, or a thread with a
   stack of PTHREAD_STACK_MIN) and, where workers are processes, closes the read end. Then it makes
   `--fds` senders, which share the write ends of all channels of the group, and closes those.
3. Each worker sets SIGTERM and SIGINT to their defaults (receiving processes close their write
   end), writes one byte to *ready* and polls *wake*, which it never reads.
4. With `--fifo`, the main task, and no worker, becomes SCHED_FIFO with priority 1.
5. The main task reads one byte per worker. All are parked now: `krepro-hackbench` reads back
   their scheduling policy and CPUs, and the trial is ready.
6. At *go* it reads the clock, writes **one** byte to *wake*, which releases all workers at once,
   and reaps them (`wait4`, `pthread_join`). The clock stops when the last one is reaped: the
   workers' exit is part of the time.
7. A sender writes a message of `--datasize` bytes to each channel of its group, `--loops` times. A
   receiver reads `--fds` x `--loops` messages; both go on after a partial transfer. Then a receiver
   frees its context: in a thread, this sets up an arena of the allocator while the clock runs.

Messages: groups x fds x fds x loops, each one `write` and one `read`.

## What differs from the original, on purpose

- Workers are parked for the moment that reading back takes (some 10 us a worker); the original
  starts the clock as soon as the last byte of *ready* has come.
- The main task makes a few calls more in the set-up: the capacity of each channel
  (`F_GETPIPE_SZ`, `SO_SNDBUF`), a process group of its own, a handler for SIGCHLD until the start
  (a worker that dies in the set-up makes the original wait for ever), one write for the list of
  workers. None is made by a worker, and none while the clock runs.
- `wait4` is asked for the usage of each worker, which `wait` is not. No call is added.
- A worker that fails or is killed ends the trial at once, with an error; the original waits on.
  Where all senders of a receiver are gone, it fails; the original would read for ever.
- SIGINT and SIGTERM kill all workers at once; only ours: they are in a process group of their own.
- Time in nanoseconds (CLOCK_MONOTONIC), where the original rounds down to milliseconds.
- Threads get a larger stack where a message does not fit on the original's, which would crash.
- `--pipe` with `--inet`, and `--threads` with `--process`, are errors; the original lets the last
  of `-T` and `-P` win.
- hackbench-load maps as many files as the original does and has the same size when it forks,
  within 20 % (a test compares them): what a worker maps, its exit has to undo. Linked statically
  (the static preset) it maps less, and the exit of processes is cheaper: such a build is not for
  comparing with dynamic ones.

## How to read its figures

- CPU time per message is exact as a sum; how it splits into user and system time is sampled by
  the kernel's tick on most configurations.
- Switches and CPU time of processes come from `wait4`, and so include a worker's first steps (some
  three switches each). Threads leave no figures of their own behind: there they are the process'
  from the start signal to the end, in `extra`, and none per role.
- A stopped trial counts no messages: nothing counts while the load runs.
- An unprivileged user's pipes shrink to a page or two past `fs.pipe-user-pages-soft`. That is another
  benchmark; a note says so, and `extra` has the smallest and the largest capacity.
- `perf bench sched messaging` is the same pattern. Its names `--group`, `--nr_loops`, `--thread`,
  `-t`, `-p`, `-g`, `-l` are accepted.
)";

}  // namespace krepro::hackbench
