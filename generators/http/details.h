// The text of http's documentation page, below what is generated from its tables.
#pragma once

namespace krepro::http {

inline constexpr const char* details = R"(## What it does, call by call

By hand, `krepro http -t 2 -c 64 -d 10s http://127.0.0.1:8080/` loads a server that runs, with
wrk's options; without a URL it starts one of its own first (`--server`). Under the suite the
server and the load are two processes (`--role serve`, `--role load`), each placed by the profile;
a row that names a server by its URL has no process for one.

Each thread of the load has connections of its own, which stay on it, and one epoll set. All
connections are open, TLS handshakes included, before the trial is ready. Then, in the default
pattern, a request makes the system calls that wrk 4.1 makes:

1. `epoll_wait` (with room for 10 + 3 x connections events) says that the socket can be written;
   `write`; `epoll_ctl` takes the interest in writing back.
2. `epoll_wait` says that there is something to read; `read` into the 8 KiB behind the connection's
   record, and where these are full `ioctl(FIONREAD)`, and again; every byte of the headers is
   looked at, and a response with one that no header may have is refused. Once the response is
   whole, `epoll_ctl` registers the interest in writing again. The next request is written after
   the next `epoll_wait`, and not at once. Buffers and bytes are part of the load: with one buffer
   for all and a search for line ends, the thread slept 1.4 times as often as wrk's (64
   connections, one thread and nginx with one worker, a CPU each), with them as often.
3. Every 100 ms the thread wakes up: wrk records its rate then; here overdue requests are looked
   for.

`--pattern=lean` is another load: each connection is registered once, edge-triggered, and the next
request is written as soon as a response is whole: `epoll_wait`, `read`, `write`. The ticks are a
`timerfd` in the epoll set, so that a wait sets no timer of its own. It leaves more CPU to the
server, and other idle times to the scheduler; it is for load hosts that are not the system under
test. The sample's `extra.pattern` tells.

The loops of all patterns are krepro's own and no library's: each call that they make is part of the
load.

With `-R`, requests are due by a schedule (constant or Poisson) over all threads, which does not
wait for the server. One that is due goes out on a connection that is idle, and waits where none
is; `response` counts from when it was due, `service` from when it was sent. After the duration,
what was due is sent as long as `--timeout`, and each request waited for as long; what found no idle
connection by then is `extra.unsent`, with a note. The achieved rate is that of the responses which
came while requests were sent: a slow one at the end (`extra.last_response_ns`) counts for one. The
pattern is lean then, waits are to the nanosecond (`epoll_pwait2`), and the threads' timer slack is
1 ns.

With `--pipeline=N` the N requests go out in one write, and the next N when all are answered; a
latency is that of all N.

## What counts

A response is framed by RFC 9112: Content-Length, chunked, until the connection ends, interim
responses, 204, 304 and HEAD. A body that lasts until the connection ends is whole over TLS only
where the server says goodbye (close_notify). A server that closes with `Connection: close` or after
`keepalive_requests` is nothing wrong: the connection is opened again at once, as wrk does, and
counted (`extra.connections`). A request on a connection that is closed before a byte of an answer
is sent again once (`repeated`); so are pipelined requests behind the last response of a connection.
Everything else is an error of the sample, by kind:

| kind | meaning |
|---|---|
| `connect`, `tls` | a connection, or its handshake, failed during the run; where the queue of a unix socket is full it is tried again each tick, for `--timeout` |
| `reset` | reading or writing failed in the middle |
| `closed` | closed before an answer, twice for the same request |
| `short_body` | closed in the middle of a response |
| `excess` | bytes that nobody asked for: a body longer than announced |
| `timeout` | no whole response within `--timeout`, or a whole one after it |
| `status` | a status of 400 or above |
| `status_line`, `bad_header`, `endless_headers`, `bad_length`, `bad_chunk` | not HTTP |

After an error the connection is opened again at the next tick of 100 ms, so that a server that
fails at once is not stormed. Headers are bounded to 64 KiB a response; nothing of a body is kept.
Whole responses that are errors (`status`, late ones) are done all the same; their latencies are
`service_of_errors`, and with a rate those of a `status` are `response_of_errors`: late ones stay in
`response`, which would look quicker without them. In `extra.requests`, started = done + dropped +
in flight at the end, where dropped are the requests whose connection failed under them.

## The server

`--server=nginx` runs the installed nginx in a private instance: a configuration and a prefix of
its own below the temporary folder, gone afterwards; nothing of the system's nginx is touched. It
is nginx's defaults but for `worker_processes` (`--server-workers`; 0: `auto`, which counts the
machine's CPUs and not those it may use), the access log (off; nginx's and Phoronix' default is on)
and `worker_connections` (65536); with TLS it speaks versions 1.2 and 1.3, whatever its own default
is; and a static file answers POST too, of any size. As root its workers run as nginx's own user,
where that one can reach the files; else (a TMPDIR in a closed folder) they stay root, with a note. The sample of the
server holds the configuration. `sendfile` is therefore off, where the nginx.conf that nginx comes
with turns it on: a plain response is a `pread64` and a `writev` here, a `writev` and a `sendfile`
there. With TLS nginx does not use it, and there is no difference.
`--server=embedded` is krepro's own, by Boost.Asio and Beast, in nginx's process model: a master,
worker processes with an epoll loop each that accept from a shared socket, and static files opened
and read for each request and sent with nginx's headers by one `writev`. Under the same wrk run (612
bytes, floating, 64 and 200 connections) it made 5 to 6 % more requests a second than nginx; with 2
workers its context switches a request were 0.95 to 1.14 of nginx's. A single worker is never idle
and hardly switches (nginx 0.001 to 0.006 a request, ours up to 0.013). For published nginx rows
take nginx.
Both listen on 127.0.0.1, ::1 or a unix socket only. `--tls` makes an RSA-4096 key and a certificate
at set-up, which takes seconds.

Files are `/test.html` where there is one `--file-size`, else `/SIZE.html` each; the load requests
all of them alike unless `--path` says otherwise.

CPU time and context switches of the server's processes are read from `/proc` before and after the
load, so only on the same host; for a server that krepro did not start, `--server-pid` names its
master. Its CPU time is in clock ticks: 10 ms on most kernels.

## What differs from wrk, on purpose

- Connections are opened before the trial and not within its time. With TLS, wrk's sockets are
  writable meanwhile, so that it spins on `epoll_wait` and `read` until the server has signed:
  6 ms of the server's time a connection with RSA-4096, which a short run of wrk pays from its rate.
- As many connections as asked are opened; wrk opens floor(c / t) x t: 192 for 200 on 64 threads.
  `--wrk-rounding` does the same, with a note.
- Where threads outnumber connections there are fewer threads, with a note; wrk refuses.
- The trial ends at its duration; wrk's threads look at it every 100 ms.
- wrk counts an overdue response when it comes, and waits for ever where none comes; here the
  request is given up at the first tick after `--timeout`.
- wrk's `read` that finds nothing counts as a read error and renews the connection; here it is not
  an error.
- A body that ends with the connection is a response, and no read error.
- Lua scripts (`-s`) are refused: `--path`, `--method`, `--body-size` and `--pipeline` are there for
  what they are mostly used for.
- Certificates are not verified (nor does wrk).

)";

}  // namespace krepro::http
