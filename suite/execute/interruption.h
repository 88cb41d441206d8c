// Ctrl-C and its kin (SIGINT, SIGTERM, SIGHUP): the first asks the run to end in order, a second
// one ends it at once (the keepers of the children then clean up).
#pragma once

namespace krepro {

class Interruption {
 public:
  /// Installs the handlers; one at a time per process.
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  /// Readable once a signal has arrived; to be polled, never read.
  [[nodiscard]] int fd() const { return read_end_; }
  [[nodiscard]] bool requested() const;
  /// "SIGINT", or "" where none arrived.
  [[nodiscard]] const char* signal_name() const;

 private:
  int read_end_ = -1;
};

/// A write to a closed pipe and a file past RLIMIT_FSIZE must be errors of the write, not the end
/// of the program. Handlers that do nothing rather than SIG_IGN, which children would inherit.
void turn_write_signals_into_errors();

}  // namespace krepro
