// One connection of the load: its socket, TLS, the response being read and the request being
// written. A few hundred bytes, so that ten thousand fit; what it reads into is
// connection_table.h's.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/process/descriptor.h"
#include "generators/http/response_parser.h"
#include "generators/http/tls.h"

namespace krepro::http {

enum class Stage : std::uint8_t {
  waiting,  ///< Not open: to be opened at the next tick.
  connecting,
  handshake,
  ready,  ///< Open.
};

enum class IoState : std::uint8_t { done, again, ended, failed };
struct IoResult {
  IoState state = IoState::done;
  std::size_t size = 0;
};

struct Connection {
  Stage stage = Stage::waiting;
  bool repeated = false;       ///< The request in flight has been sent before.
  bool used = false;           ///< A response has come whole on this connection.
  bool queued = false;         ///< Open loop: stands in the queue of idle connections.
  bool refused = false;        ///< A response to what is outstanding said no.
  bool retrying = false;       ///< Waits to be opened since opened_ns: the server's queue is full.
  std::uint32_t interest = 0;  ///< EPOLLIN, EPOLLOUT; 0: not registered.
  std::uint32_t outstanding = 0;  ///< Responses that are still to come.
  std::uint32_t request = 0;      ///< Which of the requests.
  std::size_t written = 0;        ///< Bytes of it so far.
  bool writing = false;           ///< A request is begun and not wholly written.
  std::int64_t start_ns = 0;      ///< Of the request.
  std::int64_t opened_ns = 0;     ///< Start of the first connect, then of the handshake.
  std::int64_t intended_ns = 0;   ///< Open loop: when it was due.
  ResponseParser parser;
  Descriptor socket;
  SslPointer ssl;
  SslSession session;

  /// One read or write, on the socket or through TLS.
  [[nodiscard]] IoResult read(char* buffer, std::size_t size) {
    if (ssl) return read_tls(buffer, size);
    return result_of(::read(socket.get(), buffer, size));
  }
  [[nodiscard]] IoResult write(const char* data, std::size_t size) {
    if (ssl) return write_tls(data, size);
    return result_of(::write(socket.get(), data, size));
  }
  /// Bytes that can be read without waiting; asked by wrk after a read that filled its buffer.
  [[nodiscard]] bool readable() const;
  /// One step of the handshake.
  [[nodiscard]] IoState shake_hands();
  /// Keeps the session where `keep`, and closes.
  void close(bool keep_session);

 private:
  static IoResult result_of(ssize_t size) {
    if (size > 0) return {IoState::done, static_cast<std::size_t>(size)};
    if (size == 0) return {IoState::ended, 0};
    return {errno == EAGAIN || errno == EINTR ? IoState::again : IoState::failed, 0};
  }
  [[nodiscard]] IoResult read_tls(char* buffer, std::size_t size);
  [[nodiscard]] IoResult write_tls(const char* data, std::size_t size);
};

}  // namespace krepro::http
