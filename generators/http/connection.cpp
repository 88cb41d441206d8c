// Reads, writes and the TLS handshake of one connection; see connection.h.
#include "generators/http/connection.h"

#include <openssl/err.h>
#include <sys/ioctl.h>

namespace krepro::http {

namespace {

IoState state_of_ssl(SSL* ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return IoState::again;
    case SSL_ERROR_ZERO_RETURN:
      return IoState::ended;
    default:
      ERR_clear_error();
      return IoState::failed;
  }
}

}  // namespace

IoResult Connection::read_tls(char* buffer, std::size_t size) {
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl.get(), buffer, size, &got);
  if (result > 0) return {IoState::done, got};
  return {state_of_ssl(ssl.get(), result), 0};
}

IoResult Connection::write_tls(const char* data, std::size_t size) {
  std::size_t put = 0;
  const int result = SSL_write_ex(ssl.get(), data, size, &put);
  if (result > 0) return {IoState::done, put};
  return {state_of_ssl(ssl.get(), result), 0};
}

bool Connection::readable() const {
  if (ssl) return SSL_pending(ssl.get()) > 0;
  int bytes = 0;
  return ioctl(socket.get(), FIONREAD, &bytes) == 0 && bytes > 0;
}

IoState Connection::shake_hands() {
  const int result = SSL_connect(ssl.get());
  return result == 1 ? IoState::done : state_of_ssl(ssl.get(), result);
}

void Connection::close(bool keep_session) {
  if (ssl) {
    SSL_shutdown(ssl.get());
    ERR_clear_error();
    if (keep_session) {
      SSL_SESSION* current = SSL_get1_session(ssl.get());
      session.reset(current != nullptr && SSL_SESSION_is_resumable(current) == 1 ? current
                                                                                 : nullptr);
      if (!session && current != nullptr) SSL_SESSION_free(current);
    }
    ssl.reset();
  }
  socket.reset();
  retrying = false;
  interest = 0;
  stage = Stage::waiting;
}

}  // namespace krepro::http
