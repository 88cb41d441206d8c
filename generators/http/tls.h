// TLS on the load's side, by OpenSSL on the socket itself: the same reads and writes that wrk
// makes. Certificates are not verified, as wrk does not: the servers are test machines with
// certificates of their own making.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "generators/http/settings.h"

namespace krepro::http {

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using SslPointer = std::unique_ptr<SSL, SslFree>;
using SslContext = std::unique_ptr<SSL_CTX, SslFree>;
using SslSession = std::unique_ptr<SSL_SESSION, SslFree>;

/// The oldest entry of OpenSSL's error queue as text; empties the queue.
[[nodiscard]] std::string take_ssl_error();

/// Whether the peer of a connection of TlsClient ended it by TLS (close_notify), and not only by
/// TCP.
[[nodiscard]] bool said_goodbye(const SSL* ssl);

/// Shared by all connections of a load. Throws not_possible where OpenSSL refuses the version.
class TlsClient {
 public:
  TlsClient(const LoadSettings& load, const std::string& host);
  /// For a connected socket; offers `session` where there is one.
  [[nodiscard]] SslPointer make(int socket, SSL_SESSION* session) const;
  [[nodiscard]] bool keeps_sessions() const { return sessions_; }

 private:
  SslContext context_;
  std::string host_;  ///< For the server name indication; empty for addresses.
  bool sessions_;
};

}  // namespace krepro::http
