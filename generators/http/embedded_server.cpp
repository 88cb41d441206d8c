// krepro's own server, in nginx's process model: this process is the master, and forks workers that
// accept from a shared listening socket (or one each) and answer.
#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "common/affinity/cpu_set.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/base/version.h"
#include "common/generator/worker_pool.h"
#include "common/process/descriptor.h"
#include "common/timing/clock.h"
#include "generators/http/embedded_worker.h"
#include "generators/http/listening.h"
#include "generators/http/process_accounts.h"
#include "generators/http/server.h"
#include "generators/http/server_folder.h"

namespace krepro::http {

namespace {

struct RequestCount {
  alignas(64) std::atomic<std::uint64_t> requests{0};
};

const char* peer_name(Listen listen) {
  if (listen == Listen::unix_socket) return "unix:";
  return listen == Listen::ipv6 ? "::1" : "127.0.0.1";
}

class Embedded : public Server {
 public:
  Embedded(const ServerSettings& settings, Frame& frame)
      : settings_(settings),
        workers_(settings.workers != 0 ? settings.workers : CpuSet::allowed().size()),
        counts_(workers_),
        stop_(make_pipe()) {
    write_static_files(folder_.files(), settings_);
    if (settings_.tls) make_certificate(folder_.path(), frame);
    if (settings_.access_log) {
      const std::string path = (folder_.path() / "access.log").string();
      log_ = Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
      if (!log_.valid()) throw system_error("create " + path, errno);
    }
    listening_ = listen_for(settings_, workers_, (folder_.path() / "socket").string());
    WorkerPlan plan;
    plan.kind = WorkerKind::processes;
    plan.count = workers_;
    plan.role = "server worker";
    pool_ = std::make_unique<WorkerPool>(
        std::move(plan), nullptr,
        [this](const WorkerContext& context) { run_embedded_worker(worker(context.index)); });
    pool_->park(frame);
    // A load that is set up meanwhile needs answers already.
    pool_->start(now_ns());
  }

  [[nodiscard]] std::string endpoint() const override {
    return listening_.endpoint + "#" + process_fragment(getpid(), HostFiles::system());
  }
  [[nodiscard]] const char* name() const override { return "embedded"; }
  [[nodiscard]] int done_fd() const override { return pool_->done_fd(); }
  void stop() override {
    pool_->request_stop();
    stop_.write_end.reset();
  }

  void finish(Sample& sample) override {
    sample.error = pool_->join();
    sample.threads = pool_->groups();
    sample.extra["version"] = std::string("krepro/") + version;
    for (std::size_t i = 0; i < workers_; ++i) {
      const std::uint64_t requests = counts_[i].requests.load();
      sample.operations += requests;
      sample.extra["requests_of_workers"].push_back(requests);
    }
  }

 private:
  [[nodiscard]] EmbeddedWorker worker(std::size_t index) {
    // The master's end: with it open here, its closing would not be seen.
    stop_.write_end.reset();
    EmbeddedWorker made;
    made.listening = listening_.sockets[listening_.sockets.size() > 1 ? index : 0].get();
    made.stop = stop_.read_end.get();
    made.access_log = log_.get();
    made.tcp = settings_.listen != Listen::unix_socket;
    made.peer = peer_name(settings_.listen);
    made.root = folder_.files().string();
    if (settings_.tls) {
      made.certificate = (folder_.path() / "certificate.pem").string();
      made.key = (folder_.path() / "key.pem").string();
    }
    made.keepalive_requests = settings_.keepalive_requests;
    made.requests = &counts_[index].requests;
    return made;
  }

  ServerSettings settings_;
  std::size_t workers_;
  ServerFolder folder_;
  SharedArray<RequestCount> counts_;
  Descriptor log_;
  Listening listening_;
  Pipe stop_;
  std::unique_ptr<WorkerPool> pool_;
};

}  // namespace

std::unique_ptr<Server> start_embedded(const ServerSettings& settings, Frame& frame) {
  return std::make_unique<Embedded>(settings, frame);
}

}  // namespace krepro::http
