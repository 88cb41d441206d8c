// SIGINT, SIGTERM and SIGHUP as an event: a pipe that becomes readable. The second signal ends the
// process at once.
#pragma once

namespace krepro {

/// Installs the handlers (and ignores SIGPIPE: a closed standard output must not lose the result).
/// Call once, early.
void catch_end_signals();
/// Readable once a signal has arrived.
[[nodiscard]] int end_signal_fd();
/// The first signal that arrived, or 0.
[[nodiscard]] int end_signal();
/// In a forked worker process: default handlers again.
void restore_end_signals();

}  // namespace krepro
