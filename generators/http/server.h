// A web server that a trial starts for itself and ends: nginx, or krepro's own. Files, sockets and
// certificates lie in a folder of its own, which is gone afterwards.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/generator/generator.h"
#include "generators/http/settings.h"

namespace krepro::http {

class Server {
 public:
  virtual ~Server() = default;
  /// Where it answers, with the process that a load may look at:
  /// "http://127.0.0.1:4711#process=...".
  [[nodiscard]] virtual std::string endpoint() const = 0;
  [[nodiscard]] virtual const char* name() const = 0;
  /// Becomes readable when it has ended.
  [[nodiscard]] virtual int done_fd() const = 0;
  virtual void stop() = 0;
  /// After done_fd() is readable: what the sample says of it.
  virtual void finish(Sample& sample) = 0;
};

/// All are ready for requests when they return. `folder`: an empty one for their files. Throw
/// not_possible where it is not installed, usage_error where it does not start.
[[nodiscard]] std::unique_ptr<Server> start_nginx(const ServerSettings& settings, Frame& frame);
[[nodiscard]] std::unique_ptr<Server> start_embedded(const ServerSettings& settings, Frame& frame);
/// Where nginx is installed (PATH and the folders for administration); empty where it is not.
[[nodiscard]] std::filesystem::path find_nginx();

}  // namespace krepro::http
