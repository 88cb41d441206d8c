// Reading and writing of the control protocol's JSON lines.
#include "common/generator/control_channel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/base/error.h"

namespace krepro {

namespace {

/// A line longer than this is not a command: the peer speaks something else.
constexpr std::size_t max_line_bytes = 4U << 20U;

ControlCommand parse_command(const std::string& line) {
  const nlohmann::json body = nlohmann::json::parse(line, nullptr, false);
  const bool named = body.is_object() && body.contains("cmd") && body["cmd"].is_string();
  const std::string name = named ? body["cmd"].get<std::string>() : "";
  using Kind = ControlCommand::Kind;
  for (const auto& [known, kind] : {std::pair{"configure", Kind::configure},
                                    {"ping", Kind::ping},
                                    {"go", Kind::go},
                                    {"stop", Kind::stop}}) {
    if (name == known) return {kind, body};
  }
  throw usage_error(fmt::format("control: not a command: {}", line.substr(0, 120)));
}

}  // namespace

std::optional<ControlCommand> ControlChannel::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) {
    if (buffer_.size() > max_line_bytes) throw usage_error("control: a line of more than 4 MiB");
    return std::nullopt;
  }
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return parse_command(line);
}

std::optional<ControlCommand> ControlChannel::read_command() {
  if (std::optional<ControlCommand> command = take_line()) return command;
  if (!ended_) {
    std::array<char, 65536> chunk{};
    const ssize_t got = read(in_, chunk.data(), chunk.size());
    if (got > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(got));
      return take_line();
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
    ended_ = true;
  }
  return ControlCommand{ControlCommand::Kind::end_of_file, nlohmann::json()};
}

void ControlChannel::send(const char* event, nlohmann::json details) {
  details["event"] = event;
  std::string line = details.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  line += '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote = write(out_, line.data() + done, line.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace krepro
