// Runs a generator's program for a test: by hand to its end, or as a conversation over the control
// protocol.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/process/child.h"

namespace krepro::conformance {

/// A generator of this build.
struct Program {
  std::string name;
  [[nodiscard]] std::string path() const;
  /// Its --describe, parsed.
  [[nodiscard]] nlohmann::json describe() const;
  /// Command-line arguments of the example ("--name=value"); with `lasting`, of the one that lasts.
  [[nodiscard]] std::vector<std::string> example_arguments(bool lasting) const;
  /// The same as the options of a configure command.
  [[nodiscard]] nlohmann::json example_options(bool lasting) const;
};

[[nodiscard]] std::vector<Program> programs();

/// Runs `program` with the arguments until it ends, at most a minute.
[[nodiscard]] CommandOutput run(const Program& program, const std::vector<std::string>& arguments);

/// The suite's side of the control protocol. For a load with a server, configure starts that first,
/// with the same options, as the suite does.
class Conversation {
 public:
  Conversation(const Program& program, const std::string& role);
  void say(nlohmann::json command);
  void say_text(const std::string& text);
  /// The next event of that name; others are skipped. Null when the program ends or 60 s pass.
  [[nodiscard]] nlohmann::json hear(const std::string& event);
  [[nodiscard]] Child& child() { return child_; }

 private:
  void start_server(nlohmann::json& configure);
  Program program_;
  bool needs_server_ = false;
  Child child_;
  std::string buffer_;
  std::unique_ptr<Conversation> server_;
};

}  // namespace krepro::conformance
