// One thread of the load: its connections, its epoll set and its loop. In wrk's pattern it makes
// wrk's system calls: an interest in writing is registered for every request and taken back once
// the request is written. In the lean pattern each connection is registered once, edge-triggered,
// and a request is written as soon as it is due. Knows no options and writes no sample.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/generator/worker_pool.h"
#include "generators/http/connection_table.h"
#include "generators/http/load_plan.h"
#include "generators/http/load_result.h"

namespace krepro::http {

class LoadThread {
 public:
  LoadThread(const LoadPlan& plan, std::size_t index);
  LoadThread(const LoadThread&) = delete;
  LoadThread& operator=(const LoadThread&) = delete;

  /// Opens all connections, TLS handshakes included, and returns when they are open. Throws where
  /// none comes for half a minute, and interrupted once `abandoned` is set.
  void open(const std::atomic<bool>& abandoned);
  /// The load, to its end.
  void run(const WorkerContext& context);
  [[nodiscard]] const LoadResult& result() const { return result_; }

 private:
  // load_opening.cpp
  void start_waiting(std::int64_t at_ns);
  void start_connection(Connection& connection);
  void connected(Connection& connection, std::uint32_t events);
  void handshake(Connection& connection);
  void became_ready(Connection& connection);
  void opening_failed(Connection& connection, Failure failure, const std::string& reason);
  void set_interest(Connection& connection, std::uint32_t interest);
  void close_connection(Connection& connection);

  // load_thread.cpp: exchanges
  void handle(Connection& connection, std::uint32_t events);
  [[nodiscard]] bool on_readable(Connection& connection, bool to_the_end);
  [[nodiscard]] bool consume(Connection& connection, std::size_t size);
  void on_end(Connection& connection);
  void on_writable(Connection& connection);
  void begin_request(Connection& connection, std::int64_t at_ns);
  void send(Connection& connection);
  void finish_response(Connection& connection, std::int64_t at_ns);
  /// The connection is open, and nothing is outstanding on it.
  void go_on(Connection& connection, std::int64_t at_ns);
  void lost(Connection& connection, Failure failure);
  void broken(Connection& connection, Failure failure);
  void renew(Connection& connection);
  /// Nothing is asked for on it any more; how many were.
  std::uint32_t forget_requests(Connection& connection);
  /// Pipelined requests that are not answered are as if they had not been made.
  void renew_without_rest(Connection& connection);

  // load_loops.cpp
  void tick(std::int64_t at_ns);
  void run_wrk(const WorkerContext& context);
  void run_lean(const WorkerContext& context);
  void run_open(const WorkerContext& context);
  void send_due(std::int64_t at_ns);
  /// What is done so far is done before the end that the rate stands on.
  void count_in_time() {
    result_.in_time = result_.operations;
    result_.bytes_in_time = result_.bytes;
  }
  void handle_events(int count);
  void queue_idle(Connection& connection);
  [[nodiscard]] Connection* next_idle();
  void account_for_the_end(std::int64_t at_ns);

  const LoadPlan* plan_;
  const bool lean_;
  const bool open_loop_;
  bool opening_ = true;
  Connector connector_;
  Descriptor epoll_;
  Descriptor timer_;  ///< Lean.
  ConnectionTable connections_;
  std::vector<epoll_event> events_;
  RandomStream random_;
  LoadResult result_;
  bool timer_expired_ = false;   ///< Lean: the timer's event has come.
  bool batch_done_ = false;      ///< consume() saw the last outstanding response of a connection.
  std::size_t ready_ = 0;        ///< Connections that are open, while opening.
  std::size_t under_way_ = 0;    ///< Those that are being opened, while opening.
  std::string opening_problem_;  ///< The last reason why one could not be opened.

  // The open loop's schedule.
  Pacer pacer_;
  std::int64_t due_ns_ = 0;      ///< The next request that is not sent yet.
  std::int64_t until_ns_ = 0;    ///< Requests that are due from here on are not part of the trial.
  std::int64_t give_up_ns_ = 0;  ///< Those that are not sent until then never are.
  std::uint64_t outstanding_ = 0;
  std::vector<Connection*> idle_;  ///< A ring: each connection stands in it once at most.
  std::size_t idle_head_ = 0;
  std::size_t idle_count_ = 0;
};

}  // namespace krepro::http
