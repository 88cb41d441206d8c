// Channels, made call by call as the original makes them; see channel.h.
#include "generators/hackbench/load/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "generators/hackbench/load/failure.h"

namespace krepro::hackbench_load {
namespace {

void set_non_blocking(int socket_fd, int value) {
  if (ioctl(socket_fd, FIONBIO, &value) < 0) {
    fail("ioctl FIONBIO");
  }
}

/// Accepts the one connection on its way. The original takes it for granted that a connection over
/// loopback is complete when connect(2) returns; where it is not, we wait instead of failing.
int accept_one(int listener) {
  for (;;) {
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    const int accepted = accept(listener, reinterpret_cast<sockaddr*>(&peer), &size);
    if (accepted >= 0) {
      return accepted;
    }
    if (errno != EAGAIN) {
      fail("accept");
    }
    pollfd wait_for{listener, POLLIN, 0};
    poll(&wait_for, 1, -1);
  }
}

void open_inet(int ends[2]) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int sending = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || sending < 0) {
    fail("socket");
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = inet_addr("127.0.0.1");
  address.sin_port = 0;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  if (bind(listener, generic, size) < 0) {
    fail("bind");
  }
  if (getsockname(listener, generic, &size) < 0) {
    fail("getsockname");
  }
  if (listen(listener, 10) < 0) {
    fail("listen");
  }
  set_non_blocking(sending, 1);
  set_non_blocking(listener, 1);
  if (connect(sending, generic, size) < 0 && errno != EINPROGRESS) {
    fail("connect");
  }
  ends[0] = accept_one(listener);
  ends[1] = sending;
  set_non_blocking(sending, 0);
  close(listener);
}

}  // namespace

void open_channel(ChannelKind kind, int ends[2]) {
  switch (kind) {
    case ChannelKind::pipe:
      if (pipe(ends) < 0) {
        fail("pipe");
      }
      return;
    case ChannelKind::unix_socket:
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) {
        fail("socketpair");
      }
      return;
    case ChannelKind::inet:
      open_inet(ends);
      return;
  }
}

int channel_capacity(ChannelKind kind, int write_end) {
  if (kind == ChannelKind::pipe) {
    return fcntl(write_end, F_GETPIPE_SZ);
  }
  int bytes = -1;
  socklen_t size = sizeof(bytes);
  return getsockopt(write_end, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 ? bytes : -1;
}

}  // namespace krepro::hackbench_load
