// How the parent of the workers ends when something fails, or is told to end. Not for workers: they
// say on stderr what failed and exit with 1, which the parent learns from their status.
#pragma once

#include <sys/types.h>

namespace krepro::hackbench_load {

/// Writes the line "error ERRNO WHAT" for krepro-hackbench, ends and reaps all workers, and exits
/// with 1.
[[noreturn]] void fail(const char* what);

/// Ends all workers that are processes, and reaps them. They are in this process' own group, which
/// holds nobody else (see own_process_group()).
void end_workers();

/// Makes this process the leader of a process group of its own, so that a signal to the group
/// reaches its workers and nobody else: not the script that it was started from.
void own_process_group();

}  // namespace krepro::hackbench_load
