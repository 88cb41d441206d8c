// One worker process of krepro's own server: an event loop that accepts, parses requests and
// answers with static files, opened and read for each request as nginx does.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace krepro::http {

struct EmbeddedWorker {
  int listening = -1;   ///< Socket; may be shared with other workers.
  int stop = -1;        ///< Readable when the worker is to end.
  int access_log = -1;  ///< -1: none.
  bool tcp = true;
  std::string peer;         ///< Whom it listens to, as nginx logs it: "127.0.0.1", "::1", "unix:".
  std::string root;         ///< Folder of the static files.
  std::string certificate;  ///< Path, for TLS; empty: plain.
  std::string key;
  std::uint64_t keepalive_requests = 1000;
  std::atomic<std::uint64_t>* requests = nullptr;  ///< Counted here, in shared memory.
};

/// Returns when told to stop.
void run_embedded_worker(const EmbeddedWorker& worker);

}  // namespace krepro::http
