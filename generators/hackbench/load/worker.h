// Senders and receivers, call by call as rt-tests' hackbench has them. Nothing here may allocate,
// lock, or make a system call that the original does not make: this is what is measured.
#pragma once

namespace krepro::hackbench_load {

/// Shared by all workers; set before the first is created.
struct Load {
  bool threads = false;
  unsigned loops = 0;
  unsigned datasize = 0;  ///< bytes
};
extern Load load;

/// What a sender gets; one for all senders of a group.
struct SenderContext {
  unsigned channels;
  int ready_fd;
  int wake_fd;
  int* write_ends;  ///< One for each channel of the group, in the same block of memory.
};

struct ReceiverContext {
  unsigned long long messages;
  int ends[2];
  int ready_fd;
  int wake_fd;
};

void* run_sender(void* context);
void* run_receiver(void* context);

}  // namespace krepro::hackbench_load
