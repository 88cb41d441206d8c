// Opening connections, before the run and again during it.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/timing/clock.h"
#include "generators/http/load_thread.h"

namespace krepro::http {

namespace {

/// Without one connection more that is open.
constexpr std::int64_t opening_limit_ns = 30'000'000'000;
constexpr int opening_wait_ms = 50;
constexpr std::int64_t opening_wait_ns = opening_wait_ms * 1'000'000LL;
/// Of a thread: more would only stand in the server's queues, and be turned away where these are
/// full.
constexpr std::size_t under_way_at_once = 64;

int socket_error(int socket) {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &size);
  return error_number;
}

}  // namespace

void LoadThread::open(const std::atomic<bool>& abandoned) {
  std::int64_t deadline_ns = now_ns() + opening_limit_ns;
  while (ready_ < connections_.size()) {
    const std::size_t ready_before = ready_;
    start_waiting(now_ns());
    const int count =
        epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), opening_wait_ms);
    handle_events(count);
    if (abandoned.load()) throw Error(ExitCode::interrupted, "interrupted");
    if (ready_ > ready_before) deadline_ns = now_ns() + opening_limit_ns;
    if (now_ns() > deadline_ns) {
      throw usage_error(
          fmt::format(
              "only {} of a thread's {} connections to {} are open, and none came in 30 s{}",
              ready_, connections_.size(), plan_->server.to_string(),
              opening_problem_.empty() ? "" : " (" + opening_problem_ + ")"),
          "the server's listen backlog, net.core.somaxconn, net.ipv4.tcp_max_syn_backlog and "
          "net.ipv4.ip_local_port_range limit them");
    }
  }
  opening_ = false;
  result_.opened = ready_;
}

void LoadThread::start_waiting(std::int64_t at_ns) {
  for (Connection& connection : connections_) {
    if (under_way_ >= under_way_at_once) return;
    if (connection.stage != Stage::waiting) continue;
    // One that failed is not tried again at once.
    if (connection.opened_ns != 0 && at_ns - connection.opened_ns < opening_wait_ns) continue;
    start_connection(connection);
    if (connection.stage == Stage::waiting) return;  // What it lacks the others lack too.
    ++under_way_;
  }
}

void LoadThread::set_interest(Connection& connection, std::uint32_t interest) {
  epoll_event event{};
  event.events = interest;
  event.data.ptr = &connection;
  const int operation = connection.interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  connection.interest = interest;
  epoll_ctl(epoll_.get(), operation, connection.socket.get(), &event);
}

void LoadThread::start_connection(Connection& connection) {
  const std::int64_t at_ns = now_ns();
  if (!connection.retrying) connection.opened_ns = at_ns;
  Started started = connector_.start();
  if (started.error_number != 0) {
    const int error_number = started.error_number;
    opening_problem_ = std::strerror(error_number);
    if (opening_) {
      if (error_number == EMFILE || error_number == ENFILE) {
        throw system_error("socket", error_number, ExitCode::not_possible);
      }
      return;
    }
    // Over TCP the kernel tries again by itself where a server's queue is full; on a unix socket
    // it says so, and each tick tries again.
    const bool queue_is_full = error_number == EAGAIN && plan_->server.family() == AF_UNIX;
    if (queue_is_full && at_ns - connection.opened_ns <= plan_->settings.timeout_ns) {
      if (!std::exchange(connection.retrying, true)) ++result_.retried;
      return;
    }
    broken(connection, Failure::connect);
    return;
  }
  connection.retrying = false;
  connection.socket = std::move(started.socket);
  connection.stage = Stage::connecting;
  connection.used = false;
  connection.parser.next();
  if (!opening_) ++result_.reopened;
  // wrk's level-triggered interest in writing makes it spin through a TLS handshake; before the run
  // nobody needs that.
  const bool edges = lean_ || opening_;
  set_interest(connection, edges ? EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET : EPOLLIN | EPOLLOUT);
}

void LoadThread::connected(Connection& connection, std::uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
    const int error_number = socket_error(connection.socket.get());
    if (error_number != 0) {
      return opening_failed(connection, Failure::connect, std::strerror(error_number));
    }
  }
  const std::int64_t at_ns = now_ns();
  result_.connect.record(at_ns - connection.opened_ns);
  if (plan_->tls == nullptr) return became_ready(connection);
  connection.opened_ns = at_ns;
  connection.ssl = plan_->tls->make(connection.socket.get(), connection.session.get());
  if (!connection.ssl) return opening_failed(connection, Failure::tls, take_ssl_error());
  connection.stage = Stage::handshake;
  handshake(connection);
}

void LoadThread::handshake(Connection& connection) {
  switch (connection.shake_hands()) {
    case IoState::again:
      return;
    case IoState::done:
      result_.handshake.record(now_ns() - connection.opened_ns);
      if (!opening_ && SSL_session_reused(connection.ssl.get()) == 1) ++result_.resumed;
      return became_ready(connection);
    default:
      return opening_failed(connection, Failure::tls,
                            "the TLS handshake failed: does the server speak TLS on this port, "
                            "and this version?");
  }
}

void LoadThread::became_ready(Connection& connection) {
  connection.stage = Stage::ready;
  if (opening_) {
    ++ready_;
    --under_way_;
    return;
  }
  if (!lean_) {
    // As wrk, which registers its handlers for reading and for writing one after the other.
    set_interest(connection, EPOLLIN | EPOLLOUT);
    set_interest(connection, EPOLLIN | EPOLLOUT);
    return;
  }
  if (connection.repeated) return send(connection);
  go_on(connection, now_ns());
}

void LoadThread::opening_failed(Connection& connection, Failure failure,
                                const std::string& reason) {
  if (opening_ && failure == Failure::tls) throw usage_error(reason);
  opening_problem_ = reason;
  if (opening_) {
    --under_way_;
    return close_connection(connection);
  }
  broken(connection, failure);
}

void LoadThread::close_connection(Connection& connection) {
  if (!lean_ && connection.interest != 0) {
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
  }
  connection.close(plan_->tls != nullptr && plan_->tls->keeps_sessions());
}

}  // namespace krepro::http
