// The client's TLS context; see tls.h.
#include "generators/http/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>

#include "common/base/error.h"

namespace krepro::http {

namespace {

bool is_address(const std::string& host) {
  in6_addr buffer{};
  return inet_pton(AF_INET, host.c_str(), &buffer) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &buffer) == 1;
}

bool set_version(SSL_CTX* context, TlsVersion version) {
  if (version == TlsVersion::any) return true;
  const int number = version == TlsVersion::only_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
  return SSL_CTX_set_min_proto_version(context, number) == 1 &&
         SSL_CTX_set_max_proto_version(context, number) == 1;
}

/// A mark at the peer's goodbye: with SSL_OP_IGNORE_UNEXPECTED_EOF, OpenSSL's own is set without
/// it.
void mark_goodbye(const SSL* ssl, int where, int value) {
  constexpr int description = 0xff;
  if (where == SSL_CB_READ_ALERT && (value & description) == SSL_AD_CLOSE_NOTIFY) {
    SSL* marked = const_cast<SSL*>(ssl);
    SSL_set_app_data(marked, marked);
  }
}

}  // namespace

bool said_goodbye(const SSL* ssl) { return SSL_get_app_data(ssl) != nullptr; }

std::string take_ssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

TlsClient::TlsClient(const LoadSettings& load, const std::string& host)
    : context_(SSL_CTX_new(TLS_client_method())),
      host_(is_address(host) ? "" : host),
      sessions_(load.tls_sessions) {
  if (!context_ || !set_version(context_.get(), load.tls_version)) {
    throw not_possible("OpenSSL cannot be set up: " + take_ssl_error());
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_mode(context_.get(), SSL_MODE_AUTO_RETRY);
  // A server that closes without a TLS goodbye ends the stream; the framing tells a short body, or
  // said_goodbye().
  SSL_CTX_set_options(context_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_info_callback(context_.get(), mark_goodbye);
  if (!sessions_) SSL_CTX_set_options(context_.get(), SSL_OP_NO_TICKET);
  if (load.pattern == Pattern::lean) SSL_CTX_set_read_ahead(context_.get(), 1);
}

SslPointer TlsClient::make(int socket, SSL_SESSION* session) const {
  SslPointer ssl(SSL_new(context_.get()));
  if (!ssl || SSL_set_fd(ssl.get(), socket) != 1) return nullptr;
  if (!host_.empty()) SSL_set_tlsext_host_name(ssl.get(), host_.c_str());
  if (session != nullptr) SSL_set_session(ssl.get(), session);
  return ssl;
}

}  // namespace krepro::http
