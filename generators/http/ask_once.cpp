// A blocking exchange in small steps, so that signals are looked at; see ask_once.h.
#include "generators/http/ask_once.h"

#include <poll.h>

#include <array>

#include "common/timing/clock.h"
#include "generators/http/address.h"
#include "generators/http/connection.h"

namespace krepro::http {

namespace {

enum class Step : std::uint8_t { handshake, write, read };

}  // namespace

int ask_once(const Url& url, std::int64_t limit_ns,
             const std::function<void()>& check_interrupted) {
  const std::int64_t deadline_ns = now_ns() + limit_ns;
  const Address address = find_server(url, check_interrupted);
  Connector connector(address);
  Connection connection;
  connection.socket = connector.start().socket;
  const TlsClient tls(LoadSettings(), url.host);
  if (url.tls) connection.ssl = tls.make(connection.socket.get(), nullptr);
  const std::string request = request_text(LoadSettings(), url, url.path);
  Step step = url.tls ? Step::handshake : Step::write;
  std::array<char, 4096> buffer{};
  while (connection.socket.valid() && now_ns() < deadline_ns) {
    // TLS may want to write in order to read: it is simply tried again.
    pollfd entry{connection.socket.get(), static_cast<short>(step == Step::read ? POLLIN : POLLOUT),
                 0};
    poll(&entry, 1, 10);
    check_interrupted();
    if (step == Step::handshake) {
      const IoState state = connection.shake_hands();
      if (state == IoState::failed || state == IoState::ended) return 0;
      if (state == IoState::done) step = Step::write;
    } else if (step == Step::write) {
      if (connection.write(request.data(), request.size()).state == IoState::done) {
        step = Step::read;
      }
    } else {
      const IoResult got = connection.read(buffer.data(), buffer.size());
      if (got.state == IoState::ended || got.state == IoState::failed) return 0;
      if (got.state == IoState::again) continue;
      connection.parser.feed(buffer.data(), got.size);
      if (connection.parser.status() != 0) return connection.parser.status();
    }
  }
  return 0;
}

}  // namespace krepro::http
