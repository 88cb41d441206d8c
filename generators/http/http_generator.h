// The http generator: in the role `load` it makes requests as wrk does, in the role `serve` it runs
// a server, nginx or its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "common/generator/generator.h"
#include "common/generator/worker_pool.h"
#include "generators/http/load_plan.h"
#include "generators/http/load_thread.h"
#include "generators/http/process_accounts.h"
#include "generators/http/server.h"

namespace krepro::http {

class HttpGenerator : public Generator {
 public:
  [[nodiscard]] const Description& description() const override;
  void configure(const Options& options, Frame& frame) override;
  void prepare(Frame& frame) override;
  [[nodiscard]] nlohmann::json ready_details() override;
  void start() override;
  [[nodiscard]] int done_fd() const override;
  [[nodiscard]] Progress progress() override;
  void stop() override;
  [[nodiscard]] Sample finish() override;
  [[nodiscard]] std::string human_result(const Sample& sample) const override;

 private:
  void configure_load(const Options& options, Frame& frame);
  void prepare_load(Frame& frame);
  void prepare_server(Frame& frame);
  void open_connections(Frame& frame);
  [[nodiscard]] Sample finish_load();
  [[nodiscard]] Sample finish_server();

  Role role_ = Role::load;
  bool all_threads_ = false;
  std::string named_server_;  ///< The endpoint or URL of a load.
  ServerSettings server_settings_;
  std::unique_ptr<Server> server_;
  std::optional<ProcessAccounts> accounts_before_;  ///< Of the server's processes.
  std::optional<std::int64_t> server_pid_;
  Url url_;
  LoadPlan plan_;
  std::unique_ptr<TlsClient> tls_;
  std::vector<std::unique_ptr<LoadThread>> threads_;
  std::unique_ptr<WorkerPool> pool_;
  std::atomic<bool> abandoned_{false};
  std::int64_t start_ns_ = 0;
};

}  // namespace krepro::http
