// The listening sockets of krepro's own server.
#pragma once

#include <string>
#include <vector>

#include "common/process/descriptor.h"
#include "generators/http/settings.h"

namespace krepro::http {

struct Listening {
  std::vector<Descriptor> sockets;  ///< One that is shared, or one for each worker.
  std::string endpoint;             ///< "http://127.0.0.1:4711"
};

/// Binds and listens, on loopback or a unix socket only. Throws usage_error where the port is
/// taken.
[[nodiscard]] Listening listen_for(const ServerSettings& settings, std::size_t workers,
                                   const std::string& unix_path);

}  // namespace krepro::http
