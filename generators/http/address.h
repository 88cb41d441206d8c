// From a URL to an address that answers: every address of the name is tried, and the one that was
// used is known. Also the sockets of single connections, with further source addresses on loopback
// once the ports of one run out. Speaks no HTTP and no TLS.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <string>

#include "common/process/descriptor.h"
#include "generators/http/url.h"

namespace krepro::http {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  /// "127.0.0.1:8080", "[::1]:8080", "unix:/path".
  [[nodiscard]] std::string to_string() const;
  /// IPv4 and 127.0.0.0/8: other source addresses of this net may be used.
  [[nodiscard]] bool is_ipv4_loopback() const;
};

/// Throws usage_error where the path is too long for one.
[[nodiscard]] Address unix_address(const std::string& path);

/// Resolves the URL's host and connects once to each address until one accepts. Calls
/// `check_interrupted` while it waits. Throws usage_error: the name does not resolve, or every
/// address refused, with each one's reason.
[[nodiscard]] Address find_server(const Url& url, const std::function<void()>& check_interrupted);

/// The outcome of starting one connection.
struct Started {
  Descriptor socket;
  int error_number = 0;    ///< 0: connected or under way.
  bool try_later = false;  ///< A unix socket whose queue is full, or no free port for now.
};

/// How connections are opened: by wrk's calls, with source addresses that it counts up itself.
class Connector {
 public:
  explicit Connector(const Address& server) : server_(&server) {}
  /// socket, two fcntl, connect, and TCP_NODELAY: wrk's calls in their order.
  [[nodiscard]] Started start();

 private:
  [[nodiscard]] bool bind_source(int socket) const;
  const Address* server_;
  std::uint32_t source_ = 0;  ///< 0: the kernel chooses; n: 127.0.0.(1+n).
};

}  // namespace krepro::http
