// Binding on loopback; see listening.h.
#include "generators/http/listening.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "common/base/error.h"
#include "generators/http/address.h"

namespace krepro::http {

namespace {

/// nginx's.
constexpr int backlog = 511;

Address address_of(const ServerSettings& settings, const std::string& unix_path) {
  if (settings.listen == Listen::unix_socket) return unix_address(unix_path);
  Address address;
  if (settings.listen == Listen::ipv6) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_addr = in6addr_loopback;
    name.sin6_port = htons(settings.port);
    std::memcpy(&address.storage, &name, sizeof name);
    address.size = sizeof name;
  } else {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(settings.port);
    std::memcpy(&address.storage, &name, sizeof name);
    address.size = sizeof name;
  }
  return address;
}

Descriptor listening_socket(const Address& address, bool reuseport) {
  Descriptor made(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) throw system_error("socket", errno, ExitCode::not_possible);
  const int on = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (reuseport) setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (bind(made.get(), address.get(), address.size) != 0 || listen(made.get(), backlog) != 0) {
    throw system_error("listen on " + address.to_string(), errno);
  }
  return made;
}

}  // namespace

Listening listen_for(const ServerSettings& settings, std::size_t workers,
                     const std::string& unix_path) {
  Address address = address_of(settings, unix_path);
  Listening listening;
  for (std::size_t i = 0; i < (settings.reuseport ? workers : 1); ++i) {
    listening.sockets.push_back(listening_socket(address, settings.reuseport));
    // The others share the port that the first one was given.
    address.size = sizeof address.storage;
    getsockname(listening.sockets.front().get(), reinterpret_cast<sockaddr*>(&address.storage),
                &address.size);
  }
  const std::string scheme = settings.tls ? "https" : "http";
  listening.endpoint = settings.listen == Listen::unix_socket
                           ? fmt::format("{}://unix:{}:", scheme, unix_path)
                           : fmt::format("{}://{}", scheme, address.to_string());
  return listening;
}

}  // namespace krepro::http
