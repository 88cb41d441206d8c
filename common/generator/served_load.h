// By hand and with a server of its own (role both): the program starts itself a second time with
// --role serve, exactly as the suite would, and drives it by the control protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/generator/command_line.h"
#include "common/generator/generator.h"
#include "common/process/child.h"

namespace krepro {

/// The generator has a server, and the command line neither names one nor asks for a single role.
[[nodiscard]] bool needs_own_server(const Description& description, const CommandLine& line);

class ServedLoad {
 public:
  /// Starts the server and waits until it is ready. Throws its error.
  ServedLoad(const CommandLine& line, Frame& frame);
  [[nodiscard]] const std::string& endpoint() const { return endpoint_; }
  void go();
  /// Tells the server to end and returns its sample (null where it gave none).
  [[nodiscard]] nlohmann::json stop();

 private:
  void send(const nlohmann::json& command);
  [[nodiscard]] nlohmann::json next_event(Frame* frame);
  Child child_;
  std::string buffer_;
  std::string endpoint_;
};

}  // namespace krepro
