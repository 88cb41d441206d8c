// Where a load goes, as the user or a server's endpoint writes it: http:// and https:// with names,
// IPv4 and IPv6 addresses, and unix sockets as nginx writes them ("http://unix:/path:/uri").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace krepro::http {

struct Url {
  bool tls = false;
  std::string host;        ///< Without brackets; "localhost" for a unix socket.
  std::string port;        ///< As digits: never empty, except for a unix socket.
  std::string unix_path;   ///< Empty: TCP.
  std::string path = "/";  ///< With the query, without the fragment.
  std::string fragment;    ///< Behind '#'; never sent.
  /// The value of Host: brackets kept, the port only where it was written.
  std::string host_header;
};

/// Throws usage_error that shows what was expected.
[[nodiscard]] Url parse_url(std::string_view text);

}  // namespace krepro::http
