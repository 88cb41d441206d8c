// What one thread of the load counts while it runs. One writer; read by others after the end,
// except for the progress count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/timing/histogram.h"
#include "common/timing/series.h"

namespace krepro::http {

/// Why an exchange failed; each is counted apart.
enum class Failure : std::uint8_t {
  connect,      ///< A connection could not be reopened.
  tls,          ///< The handshake of a reopened connection failed.
  reset,        ///< Reading or writing failed: the peer reset the connection, or broke TLS.
  closed,       ///< Closed before a byte of the answer, twice for the same request.
  short_body,   ///< Closed in the middle of a response.
  excess,       ///< Bytes that no request asked for: a body longer than announced.
  timeout,      ///< No whole response within --timeout.
  status,       ///< Status of 400 or above.
  status_line,  ///< The rest: see Malformed.
  header,
  long_header,
  length,
  chunk,
};
inline constexpr std::size_t failure_count = static_cast<std::size_t>(Failure::chunk) + 1;
inline constexpr std::array<const char*, failure_count> failure_names{
    "connect", "tls",         "reset",      "closed",          "short_body", "excess",   "timeout",
    "status",  "status_line", "bad_header", "endless_headers", "bad_length", "bad_chunk"};

struct LoadResult {
  explicit LoadResult(std::size_t seconds) : series(seconds) {}

  std::uint64_t operations = 0;             ///< Complete responses.
  std::atomic<std::uint64_t> progress{0};   ///< The same, for who looks meanwhile.
  std::uint64_t started = 0;                ///< Requests begun.
  std::uint64_t bytes = 0;                  ///< Read (TLS: decrypted).
  std::array<std::uint64_t, 6> statuses{};  ///< By first digit.
  std::array<std::uint64_t, failure_count> failures{};
  std::uint64_t opened = 0;    ///< Connections open at the start.
  std::uint64_t reopened = 0;  ///< Connections opened again during the run.
  std::uint64_t retried = 0;   ///< Openings during the run that had to wait: a full queue.
  std::uint64_t repeated = 0;  ///< Requests sent again on a new connection.
  std::uint64_t dropped = 0;   ///< Requests without a whole response, their connection failed.
  std::uint64_t resumed = 0;   ///< TLS: of the reopened, those that took up a session.
  std::uint64_t waits = 0;     ///< epoll_wait calls.
  std::uint64_t events = 0;    ///< What they returned.
  std::uint64_t unsent = 0;    ///< Open loop: due, and never sent.
  std::uint64_t in_time = 0;   ///< Complete responses until `end_ns`.
  std::uint64_t bytes_in_time = 0;
  std::uint64_t in_flight = 0;  ///< At the end: without a whole response.
  std::int64_t oldest_ns = 0;   ///< The oldest of them.
  std::int64_t end_ns = 0;      ///< Of the load, after the start; open loop: when all was sent.
  std::int64_t last_ns = 0;     ///< Open loop: of the last response, after the start.
  Histogram service;            ///< From the first byte written to the last read.
  Histogram response;           ///< Open loop: from when the request was due.
  Histogram failed;             ///< Service of responses that came late or said no.
  Histogram refused;            ///< Open loop: as `response`, of those that said no.
  Histogram connect;
  Histogram handshake;
  Series series;
};

}  // namespace krepro::http
