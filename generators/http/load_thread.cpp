// Exchanges: writing requests, reading responses, and what happens when a connection ends.
#include "generators/http/load_thread.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"

namespace krepro::http {

namespace {

constexpr std::size_t lean_events = 512;
/// Full reads of one event, 512 KiB: a sender as fast as we are keeps no thread from its other
/// connections, its clock and its end.
constexpr int reads_at_once = 64;

std::size_t seconds_of(const LoadSettings& settings) {
  // An open loop may wait twice, see run_open().
  const std::int64_t waiting_ns = 2 * settings.timeout_ns;
  return static_cast<std::size_t>((settings.duration_ns + waiting_ns) / one_second_ns) + 3;
}

Pacer pacer_of(const LoadPlan& plan, std::size_t index) {
  if (!plan.settings.open_loop()) return {};
  const auto threads = static_cast<double>(plan.settings.threads);
  return {plan.settings.arrivals, plan.settings.rate / threads, plan.seed, index,
          static_cast<double>(index) / threads};
}

Failure failure_of(Malformed malformed) {
  switch (malformed) {
    case Malformed::header:
      return Failure::header;
    case Malformed::long_header:
      return Failure::long_header;
    case Malformed::length:
      return Failure::length;
    case Malformed::chunk:
      return Failure::chunk;
    default:
      return Failure::status_line;
  }
}

}  // namespace

LoadThread::LoadThread(const LoadPlan& plan, std::size_t index)
    : plan_(&plan),
      lean_(plan.settings.pattern == Pattern::lean),
      open_loop_(plan.settings.open_loop()),
      connector_(plan.server),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)),
      connections_(plan.connections_of(index),
                   lean_ ? ConnectionTable::Buffers::shared : ConnectionTable::Buffers::own),
      // wrk asks for up to as many events as it has room for descriptors.
      events_(lean_ ? lean_events : 10 + 3 * plan.settings.connections),
      random_(plan.seed, index),
      result_(seconds_of(plan.settings)),
      pacer_(pacer_of(plan, index)),
      idle_(open_loop_ ? connections_.size() : 0) {
  if (!epoll_.valid()) throw system_error("epoll_create1", errno, ExitCode::not_possible);
  if (!timer_.valid()) throw system_error("timerfd_create", errno, ExitCode::not_possible);
  for (Connection& connection : connections_) {
    connection.parser =
        ResponseParser(plan.settings.method == Method::head,
                       lean_ ? ResponseParser::Scan::lines : ResponseParser::Scan::every_byte);
  }
}

void LoadThread::handle(Connection& connection, std::uint32_t events) {
  switch (connection.stage) {
    case Stage::waiting:
      return;
    case Stage::connecting:
      return connected(connection, events);
    case Stage::handshake:
      return handshake(connection);
    case Stage::ready:
      if (opening_) return;
      break;
  }
  constexpr std::uint32_t ending = EPOLLERR | EPOLLHUP | EPOLLRDHUP;
  // What OpenSSL has read ahead, no event announces.
  const bool read_ahead = lean_ && connection.ssl && SSL_has_pending(connection.ssl.get()) == 1;
  if (((events & (EPOLLIN | ending)) != 0 || read_ahead) &&
      !on_readable(connection, (events & ending) != 0)) {
    return;
  }
  if ((events & EPOLLOUT) != 0 && (connection.interest & EPOLLOUT) != 0) on_writable(connection);
}

bool LoadThread::on_readable(Connection& connection, bool to_the_end) {
  for (int reads = 1;; ++reads) {
    const IoResult got =
        connection.read(connections_.buffer_of(connection), ConnectionTable::buffer_bytes);
    switch (got.state) {
      case IoState::again:
        return true;
      case IoState::ended:
        on_end(connection);
        return false;
      case IoState::failed:
        lost(connection, Failure::reset);
        return false;
      case IoState::done:
        break;
    }
    result_.bytes += got.size;
    if (!consume(connection, got.size)) return false;
    const bool full = got.size == ConnectionTable::buffer_bytes;
    if (!lean_) {
      if (!full || !connection.readable()) return true;
    } else if (connection.ssl) {
      // A read gives one record: what follows it was announced by the same event.
      const bool more = !batch_done_ || SSL_has_pending(connection.ssl.get()) != 0;
      if (!more && !to_the_end) return true;
    } else if (!full && !to_the_end) {
      return true;
    }
    // Nor what TLS has decrypted already; that is one record at most.
    if (reads < reads_at_once || (!lean_ && connection.ssl && connection.readable())) continue;
    // Edges have to be asked for again; the one for writing comes in any case.
    if (lean_) set_interest(connection, connection.interest);
    return true;
  }
}

bool LoadThread::consume(Connection& connection, std::size_t size) {
  const char* data = connections_.buffer_of(connection);
  std::size_t at = 0;
  std::int64_t at_ns = 0;
  batch_done_ = false;
  while (at < size) {
    if (connection.outstanding == 0) {
      broken(connection, Failure::excess);
      return false;
    }
    const ResponseParser::Step step = connection.parser.feed(data + at, size - at);
    at += step.consumed;
    if (step.state == ResponseParser::State::more) break;
    if (step.state == ResponseParser::State::failed) {
      broken(connection, failure_of(connection.parser.malformed()));
      return false;
    }
    at_ns = now_ns();
    finish_response(connection, at_ns);
    // A server that answered all before all was written will not read the rest.
    const bool unread = connection.outstanding == 0 && connection.writing;
    if (!connection.parser.keep_alive() || unread) {
      renew_without_rest(connection);
      return false;
    }
    connection.parser.next();
  }
  batch_done_ = connection.outstanding == 0;
  if (batch_done_ && lean_) go_on(connection, at_ns);
  return connection.stage == Stage::ready;
}

void LoadThread::finish_response(Connection& connection, std::int64_t at_ns) {
  const int status = connection.parser.status();
  ++result_.operations;
  // RFC 9110, 15: a status that no class knows is as one of 500.
  ++result_.statuses[std::min(static_cast<std::size_t>(status / 100), result_.statuses.size() - 1)];
  result_.series.add(at_ns);
  // As wrk, which counts a response that comes too late when it comes.
  const bool late = at_ns - connection.start_ns > plan_->settings.timeout_ns;
  if (late) {
    ++result_.failures[static_cast<std::size_t>(Failure::timeout)];
  } else if (status >= 400) {
    ++result_.failures[static_cast<std::size_t>(Failure::status)];
    connection.refused = true;
  }
  connection.used = true;
  if (open_loop_ && at_ns <= until_ns_) count_in_time();
  --outstanding_;
  if (--connection.outstanding > 0) return;
  connection.repeated = false;
  const bool refused = std::exchange(connection.refused, false);
  (refused || late ? result_.failed : result_.service).record(at_ns - connection.start_ns);
  // A late one stays among the responses: it is what the user waited for.
  if (open_loop_) {
    (refused ? result_.refused : result_.response).record(at_ns - connection.intended_ns);
    result_.last_ns = at_ns;
  }
  if (!lean_) set_interest(connection, EPOLLIN | EPOLLOUT);
}

void LoadThread::go_on(Connection& connection, std::int64_t at_ns) {
  if (open_loop_) return queue_idle(connection);
  // The end of one request is the start of the next: one reading of the clock for both.
  begin_request(connection, at_ns);
  send(connection);
}

void LoadThread::begin_request(Connection& connection, std::int64_t at_ns) {
  connection.request = plan_->requests.pick(random_);
  connection.start_ns = at_ns;
  connection.outstanding = static_cast<std::uint32_t>(plan_->settings.pipeline);
  outstanding_ += plan_->settings.pipeline;
  result_.started += plan_->settings.pipeline;
  connection.writing = true;
  connection.written = 0;
}

void LoadThread::on_writable(Connection& connection) {
  if (!connection.writing) {
    if (lean_) return;
    begin_request(connection, now_ns());
  }
  send(connection);
  if (!lean_ && connection.stage == Stage::ready && !connection.writing) {
    set_interest(connection, EPOLLIN);
  }
}

void LoadThread::send(Connection& connection) {
  const std::string& text = plan_->requests.text(connection.request);
  while (connection.written < text.size()) {
    const IoResult put =
        connection.write(text.data() + connection.written, text.size() - connection.written);
    if (put.state == IoState::again) return;
    if (put.state != IoState::done) return lost(connection, Failure::reset);
    connection.written += put.size;
    // As wrk: what is left waits for the next event.
    if (!lean_) break;
  }
  connection.writing = connection.written < text.size();
}

void LoadThread::on_end(Connection& connection) {
  // Over TLS anyone could end the connection; only the peer can say goodbye (RFC 9112, 9.8).
  const bool whole = !connection.ssl || said_goodbye(connection.ssl.get());
  if (connection.outstanding > 0 && connection.parser.ends_with_connection() && whole) {
    finish_response(connection, now_ns());
    return renew_without_rest(connection);
  }
  lost(connection, connection.parser.untouched() ? Failure::closed : Failure::short_body);
}

void LoadThread::lost(Connection& connection, Failure failure) {
  if (connection.outstanding == 0) return renew(connection);
  // A server may close a connection between two responses, just when a request is under way: it is
  // sent again, once.
  if (!connection.parser.untouched()) return broken(connection, failure);
  if (connection.outstanding < plan_->settings.pipeline) return renew_without_rest(connection);
  if (connection.repeated) return broken(connection, failure);
  connection.repeated = true;
  connection.writing = true;
  connection.written = 0;
  ++result_.repeated;
  renew(connection);
}

std::uint32_t LoadThread::forget_requests(Connection& connection) {
  outstanding_ -= connection.outstanding;
  connection.repeated = false;
  connection.refused = false;
  connection.writing = false;
  return std::exchange(connection.outstanding, 0);
}

void LoadThread::renew_without_rest(Connection& connection) {
  const std::uint32_t rest = forget_requests(connection);
  result_.started -= rest;
  result_.repeated += rest;
  renew(connection);
}

void LoadThread::broken(Connection& connection, Failure failure) {
  ++result_.failures[static_cast<std::size_t>(failure)];
  result_.dropped += forget_requests(connection);
  // Opened again at the next tick and not before, so that a server that fails at once is not
  // stormed.
  close_connection(connection);
}

void LoadThread::renew(Connection& connection) {
  const bool at_once = connection.used;
  close_connection(connection);
  if (at_once) start_connection(connection);
}

}  // namespace krepro::http
