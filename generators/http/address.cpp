// Names, addresses and sockets; see address.h.
#include "generators/http/address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "common/base/error.h"
#include "common/timing/clock.h"

namespace krepro::http {

namespace {

constexpr std::int64_t answer_limit_ns = 5'000'000'000;
/// 127.0.0.2 to 127.0.0.250: more than ten million connections.
constexpr std::uint32_t source_limit = 249;

std::vector<Address> resolve(const Url& url) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (problem != 0) {
    throw usage_error(
        fmt::format("the host name \"{}\" does not resolve: {}", url.host,
                    problem == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(problem)),
        "check the spelling, or give the address");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address address;
    address.size = each->ai_addrlen;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    addresses.push_back(address);
  }
  return addresses;
}

/// Waits for a connect that is under way; the error number, 0 when connected.
int wait_connected(int socket, const std::function<void()>& check_interrupted) {
  const std::int64_t deadline_ns = now_ns() + answer_limit_ns;
  pollfd entry{socket, POLLOUT, 0};
  while (poll(&entry, 1, 100) <= 0) {
    check_interrupted();
    if (now_ns() > deadline_ns) return ETIMEDOUT;
  }
  int error_number = 0;
  socklen_t size = sizeof error_number;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &size);
  return error_number;
}

int try_address(const Address& address, const std::function<void()>& check_interrupted) {
  Connector connector(address);
  for (int attempt = 0;; ++attempt) {
    const Started started = connector.start();
    if (started.try_later && attempt < 20) {
      poll(nullptr, 0, 50);
      check_interrupted();
      continue;
    }
    if (started.error_number != 0) return started.error_number;
    return wait_connected(started.socket.get(), check_interrupted);
  }
}

}  // namespace

std::string Address::to_string() const {
  if (family() == AF_UNIX) {
    return fmt::format("unix:{}", reinterpret_cast<const sockaddr_un*>(&storage)->sun_path);
  }
  char host[NI_MAXHOST] = "?";
  char port[NI_MAXSERV] = "?";
  getnameinfo(get(), size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                              : fmt::format("{}:{}", host, port);
}

Address unix_address(const std::string& path) {
  Address address;
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) {
    throw usage_error(fmt::format("the path of the unix socket has more than {} bytes: {}",
                                  sizeof name.sun_path - 1, path));
  }
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  address.size = sizeof name;
  std::memcpy(&address.storage, &name, sizeof name);
  return address;
}

bool Address::is_ipv4_loopback() const {
  if (family() != AF_INET) return false;
  const auto* ipv4 = reinterpret_cast<const sockaddr_in*>(&storage);
  return (ntohl(ipv4->sin_addr.s_addr) >> 24U) == 127;
}

Address find_server(const Url& url, const std::function<void()>& check_interrupted) {
  const std::vector<Address> addresses =
      url.unix_path.empty() ? resolve(url) : std::vector<Address>{unix_address(url.unix_path)};
  std::string reasons;
  for (const Address& address : addresses) {
    const int error_number = try_address(address, check_interrupted);
    if (error_number == 0) return address;
    if (error_number == EMFILE || error_number == ENFILE) {
      throw system_error("socket", error_number, ExitCode::not_possible);
    }
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", address.to_string(),
                           std::strerror(error_number));
  }
  throw usage_error("no connection to " + reasons, "is the server running, and on this port?");
}

bool Connector::bind_source(int socket) const {
  const int on = 1;
  // The port is chosen at connect, by the whole quadruple, and not already here.
  setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + source_);
  return bind(socket, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
}

Started Connector::start() {
  for (;;) {
    Started started;
    started.socket = Descriptor(socket(server_->family(), SOCK_STREAM, 0));
    if (!started.socket.valid()) {
      started.error_number = errno;
      return started;
    }
    const int number = started.socket.get();
    const int flags = fcntl(number, F_GETFL, 0);
    fcntl(number, F_SETFL, flags | O_NONBLOCK);
    if (source_ > 0 && !bind_source(number)) {
      started.error_number = errno;
      return started;
    }
    if (connect(number, server_->get(), server_->size) != 0 && errno != EINPROGRESS) {
      started.error_number = errno;
      if (errno == EADDRNOTAVAIL && server_->is_ipv4_loopback() && source_ < source_limit) {
        ++source_;
        continue;
      }
      started.try_later = errno == EAGAIN || errno == EADDRNOTAVAIL;
      return started;
    }
    if (server_->family() != AF_UNIX) {
      const int on = 1;
      setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return started;
  }
}

}  // namespace krepro::http
