// The control protocol's lines: commands in on one descriptor, events out on another.
// docs/control-protocol.md.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace krepro {

/// What came in.
struct ControlCommand {
  enum class Kind : std::uint8_t { configure, ping, go, stop, end_of_file };
  Kind kind = Kind::end_of_file;
  nlohmann::json body;  ///< The whole object; null for end_of_file.
};

class ControlChannel {
 public:
  ControlChannel(int in, int out) : in_(in), out_(out) {}
  [[nodiscard]] int in_fd() const { return in_; }
  /// Reads what is there (blocks when there is nothing: poll in_fd() first) and returns the next
  /// whole command, if any. After end of file: end_of_file for ever. Throws usage_error for a line
  /// that is not a command.
  [[nodiscard]] std::optional<ControlCommand> read_command();
  /// A command is already buffered: do not poll.
  [[nodiscard]] bool buffered() const { return buffer_.find('\n') != std::string::npos; }
  /// Writes {"event": name, ...details} as one line. A reader that is gone is not an error here:
  /// end of file on `in` tells.
  void send(const char* event, nlohmann::json details = nlohmann::json::object());

 private:
  [[nodiscard]] std::optional<ControlCommand> take_line();
  int in_;
  int out_;
  bool ended_ = false;
  std::string buffer_;
};

}  // namespace krepro
