// The two loops of a thread: closed (each response is followed by the next request) and open
// (requests are due by a schedule that does not wait for the server).
#include <sys/prctl.h>
#include <sys/timerfd.h>

#include <algorithm>

#include "common/base/units.h"
#include "common/timing/clock.h"
#include "generators/http/load_thread.h"

namespace krepro::http {

namespace {

/// wrk wakes up as often, to record its rate.
constexpr std::int64_t loop_tick_ns = 100'000'000;
constexpr std::int64_t one_millisecond_ns = 1'000'000;

/// wrk's clock for ticks and waits. With ticks between two milliseconds, a wait that is rounded
/// down to 0 would have the loop spin until the tick.
std::int64_t whole_milliseconds(std::int64_t ns) { return ns / one_millisecond_ns; }

/// Once, so many nanoseconds (at least 1) from now.
void set_timer(int timer, std::int64_t after_ns) {
  const itimerspec once{{0, 0}, {after_ns / one_second_ns, after_ns % one_second_ns}};
  timerfd_settime(timer, 0, &once, nullptr);
}

}  // namespace

void LoadThread::run(const WorkerContext& context) {
  result_.series.start(context.start_ns);
  if (open_loop_) return run_open(context);
  lean_ ? run_lean(context) : run_wrk(context);
}

void LoadThread::handle_events(int count) {
  ++result_.waits;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.ptr == nullptr) {
      timer_expired_ = true;
    } else {
      handle(*static_cast<Connection*>(event.data.ptr), event.events);
    }
  }
  if (count > 0) result_.events += static_cast<std::uint64_t>(count);
  result_.progress.store(result_.operations, std::memory_order_relaxed);
}

void LoadThread::tick(std::int64_t at_ns) {
  for (Connection& connection : connections_) {
    switch (connection.stage) {
      case Stage::waiting:
        start_connection(connection);
        break;
      case Stage::connecting:
      case Stage::handshake:
        if (at_ns - connection.opened_ns > plan_->settings.timeout_ns) {
          broken(connection,
                 connection.stage == Stage::handshake ? Failure::tls : Failure::connect);
        }
        break;
      case Stage::ready:
        if (connection.outstanding > 0 &&
            at_ns - connection.start_ns > plan_->settings.timeout_ns) {
          broken(connection, Failure::timeout);
        }
        break;
    }
  }
}

void LoadThread::run_wrk(const WorkerContext& context) {
  result_.waits = 0;
  result_.events = 0;
  const std::int64_t end_ns = context.start_ns + plan_->settings.duration_ns;
  const std::int64_t end_ms = whole_milliseconds(end_ns + one_millisecond_ns - 1);
  std::int64_t at_ns = now_ns();
  std::int64_t next_tick_ms = whole_milliseconds(at_ns + loop_tick_ns);
  for (Connection& connection : connections_) set_interest(connection, EPOLLIN | EPOLLOUT);
  while (at_ns < end_ns && !context.stopped()) {
    if (whole_milliseconds(at_ns) >= next_tick_ms) {
      tick(at_ns);
      next_tick_ms = whole_milliseconds(at_ns + loop_tick_ns);
    }
    // wrk reads the clock again before it waits.
    const std::int64_t wait_ms =
        std::max<std::int64_t>(0, std::min(next_tick_ms, end_ms) - whole_milliseconds(now_ns()));
    handle_events(epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                             static_cast<int>(wait_ms)));
    at_ns = now_ns();
  }
  result_.end_ns = at_ns - context.start_ns;
  account_for_the_end(at_ns);
}

void LoadThread::run_lean(const WorkerContext& context) {
  result_.waits = 0;
  result_.events = 0;
  const std::int64_t end_ns = context.start_ns + plan_->settings.duration_ns;
  // Ticks are events like others: with a time limit, every wait that sleeps would set a timer and
  // every one that returns would have to read the clock.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), &event);
  timer_expired_ = true;
  for (Connection& connection : connections_) go_on(connection, now_ns());
  while (!context.stopped()) {
    if (timer_expired_) {
      timer_expired_ = false;
      const std::int64_t at_ns = now_ns();
      if (at_ns >= end_ns) break;
      tick(at_ns);
      set_timer(timer_.get(), std::min(loop_tick_ns, end_ns - at_ns));
    }
    handle_events(epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1));
  }
  const std::int64_t at_ns = now_ns();
  result_.end_ns = at_ns - context.start_ns;
  account_for_the_end(at_ns);
}

void LoadThread::queue_idle(Connection& connection) {
  if (connection.queued) return;
  connection.queued = true;
  idle_[(idle_head_ + idle_count_) % idle_.size()] = &connection;
  ++idle_count_;
}

Connection* LoadThread::next_idle() {
  while (idle_count_ > 0) {
    Connection* connection = idle_[idle_head_];
    idle_head_ = (idle_head_ + 1) % idle_.size();
    --idle_count_;
    connection->queued = false;
    // One that the server closed meanwhile comes back when it is open again.
    if (connection->stage == Stage::ready && connection->outstanding == 0) return connection;
  }
  return nullptr;
}

void LoadThread::send_due(std::int64_t at_ns) {
  while (due_ns_ <= at_ns && due_ns_ < until_ns_ && at_ns < give_up_ns_) {
    Connection* connection = next_idle();
    if (connection == nullptr) return;
    connection->intended_ns = due_ns_;
    begin_request(*connection, at_ns);
    send(*connection);
    due_ns_ = pacer_.next_ns();
  }
}

void LoadThread::run_open(const WorkerContext& context) {
  result_.waits = 0;
  result_.events = 0;
  // Otherwise the kernel may let the thread sleep 50 us longer than asked.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  until_ns_ = context.start_ns + plan_->settings.duration_ns;
  pacer_.start(context.start_ns);
  due_ns_ = pacer_.next_ns();
  for (Connection& connection : connections_) queue_idle(connection);
  std::int64_t at_ns = now_ns();
  std::int64_t next_tick_ns = at_ns + loop_tick_ns;
  // What was due is sent and waited for, so that the slow ones are not left out: sent for as long
  // as a request may take, and each waited for as long. The ticks end those that take longer.
  give_up_ns_ = until_ns_ + plan_->settings.timeout_ns;
  const std::int64_t end_ns = give_up_ns_ + plan_->settings.timeout_ns + 2 * loop_tick_ns;
  const auto more_to_send = [&] { return due_ns_ < until_ns_ && at_ns < give_up_ns_; };
  std::int64_t sent_ns = at_ns;
  while (at_ns < end_ns && !context.stopped() && (more_to_send() || outstanding_ > 0)) {
    const std::uint64_t started = result_.started;
    send_due(at_ns);
    if (result_.started != started) {
      sent_ns = at_ns;
      count_in_time();
    }
    if (at_ns >= next_tick_ns) {
      tick(at_ns);
      next_tick_ns = at_ns + loop_tick_ns;
    }
    std::int64_t wake_ns = std::min(next_tick_ns, end_ns);
    if (more_to_send()) wake_ns = std::min(wake_ns, idle_count_ > 0 ? due_ns_ : give_up_ns_);
    const std::int64_t wait_ns = std::max<std::int64_t>(0, wake_ns - now_ns());
    const timespec wait{wait_ns / one_second_ns, wait_ns % one_second_ns};
    handle_events(epoll_pwait2(epoll_.get(), events_.data(), static_cast<int>(events_.size()),
                               &wait, nullptr));
    at_ns = now_ns();
  }
  // The rate is that until all was sent: a slow response at the end lacks, and stretches nothing.
  result_.end_ns = std::max(sent_ns, std::min(at_ns, until_ns_)) - context.start_ns;
  if (result_.last_ns != 0) result_.last_ns -= context.start_ns;
  for (; due_ns_ < std::min(until_ns_, at_ns); due_ns_ = pacer_.next_ns()) ++result_.unsent;
  account_for_the_end(at_ns);
}

void LoadThread::account_for_the_end(std::int64_t at_ns) {
  result_.series.add(at_ns, 0);
  for (Connection& connection : connections_) {
    if (connection.outstanding == 0) continue;
    // Since the last tick.
    if (at_ns - connection.start_ns >= plan_->settings.timeout_ns) {
      broken(connection, Failure::timeout);
      continue;
    }
    result_.in_flight += connection.outstanding;
    result_.oldest_ns = std::max(result_.oldest_ns, at_ns - connection.start_ns);
  }
}

}  // namespace krepro::http
