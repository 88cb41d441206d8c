// The order of a trial: check, find the server, open the connections, run, collect.
#include "generators/http/http_generator.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/resource_limits.h"
#include "common/timing/clock.h"
#include "generators/http/http_options.h"
#include "generators/http/http_sample.h"

namespace krepro::http {

namespace {

/// Beside the connections and each thread's epoll set and timer: standard streams, control, the
/// frame's own.
constexpr std::uint64_t spare_descriptors = 32;

/// The open loop waits to the nanosecond; Linux has the call since 5.11, some containers refuse it.
void require_precise_waits() {
  const Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  const timespec at_once{0, 0};
  if (epoll_pwait2(epoll.get(), &event, 1, &at_once, nullptr) < 0) {
    throw not_possible("a rate needs epoll_pwait2, which this system refuses",
                       "it came with Linux 5.11; old container runtimes block it");
  }
}

}  // namespace

const Description& HttpGenerator::description() const { return http::description(); }

void HttpGenerator::configure(const Options& options, Frame& frame) {
  role_ = frame.role();
  all_threads_ = frame.all_threads();
  server_settings_ = server_settings(options);
  plan_.settings = load_settings(options);
  plan_.seed = frame.seed();
  if (role_ == Role::load) configure_load(options, frame);
}

void HttpGenerator::configure_load(const Options& options, Frame& frame) {
  const LoadSettings& load = plan_.settings;
  if (is_endpoint(options.text("server"))) named_server_ = options.text("server");
  if (options.has("url")) named_server_ = options.text("url");
  if (!named_server_.empty() && !parse_url(named_server_).fragment.starts_with(process_key)) {
    refuse_server_options(options);
  }
  if (load.threads < load.asked_threads) {
    frame.note(fmt::format("{} threads for {} connections: the others would have none",
                           load.threads, load.asked_connections));
  }
  if (load.connections < load.asked_connections) {
    frame.note(fmt::format("{} connections, not {}: as wrk rounds them to a multiple of {} threads",
                           load.connections, load.asked_connections, load.threads));
  }
  ResourceNeeds needs;
  needs.descriptors = load.connections + 2 * load.threads + spare_descriptors;
  needs.tasks = load.threads;
  require_resources(needs);
  if (load.open_loop()) require_precise_waits();
}

void HttpGenerator::prepare(Frame& frame) {
  role_ == Role::serve ? prepare_server(frame) : prepare_load(frame);
}

void HttpGenerator::prepare_server(Frame& frame) {
  bool nginx = server_settings_.kind == ServerKind::nginx;
  if (server_settings_.kind == ServerKind::automatic) {
    nginx = !find_nginx().empty();
    if (!nginx) frame.note("nginx is not installed: the embedded server answers");
  }
  ResourceNeeds needs;
  needs.descriptors = plan_.settings.connections + spare_descriptors;
  require_resources(needs);
  server_ = nginx ? start_nginx(server_settings_, frame) : start_embedded(server_settings_, frame);
}

void HttpGenerator::prepare_load(Frame& frame) {
  // A server that the frame has started is known only now.
  if (named_server_.empty()) named_server_ = frame.server();
  if (named_server_.empty()) {
    throw usage_error("the role load needs a server", "give its URL, or leave --role out");
  }
  url_ = parse_url(named_server_);
  server_pid_ = named_process(url_.fragment, HostFiles::system());
  const bool own_server = url_.fragment.starts_with(process_key);
  if (plan_.settings.server_pid != 0) server_pid_ = plan_.settings.server_pid;
  plan_.requests = RequestMix(plan_.settings, url_,
                              requested_paths(plan_.settings, url_, own_server, server_settings_));
  plan_.server = find_server(url_, [&frame] { frame.check_interrupted(); });
  if (url_.tls) {
    tls_ = std::make_unique<TlsClient>(plan_.settings, url_.host);
    plan_.tls = tls_.get();
  }
  open_connections(frame);
  if (server_pid_) {
    accounts_before_ = read_accounts(*server_pid_, HostFiles::system());
    if (!accounts_before_) {
      throw usage_error(fmt::format("server-pid: there is no process {}", *server_pid_));
    }
  }
}

void HttpGenerator::open_connections(Frame& frame) {
  for (std::size_t i = 0; i < plan_.settings.threads; ++i) {
    threads_.push_back(std::make_unique<LoadThread>(plan_, i));
  }
  WorkerPlan workers;
  workers.kind = WorkerKind::threads;
  workers.count = threads_.size();
  workers.role = "load";
  pool_ = std::make_unique<WorkerPool>(
      std::move(workers), [this](std::size_t index) { threads_[index]->open(abandoned_); },
      [this](const WorkerContext& context) { threads_[context.index]->run(context); });
  try {
    pool_->park(frame);
  } catch (...) {
    abandoned_.store(true);
    throw;
  }
}

nlohmann::json HttpGenerator::ready_details() {
  if (role_ == Role::serve) {
    const std::string endpoint = server_->endpoint();
    return {
        {"endpoint", endpoint},
        {"url", endpoint.substr(0, endpoint.find('#')) + file_path(server_settings_.file_sizes, 0)},
        {"server", server_->name()}};
  }
  return {{"connections", plan_.settings.connections}, {"address", plan_.server.to_string()}};
}

void HttpGenerator::start() {
  start_ns_ = now_ns();
  if (role_ == Role::load) pool_->start(start_ns_);
}

int HttpGenerator::done_fd() const {
  return role_ == Role::serve ? server_->done_fd() : pool_->done_fd();
}

Progress HttpGenerator::progress() {
  Progress progress;
  for (const auto& thread : threads_) {
    progress.operations += thread->result().progress.load(std::memory_order_relaxed);
  }
  if (role_ == Role::serve) return progress;
  const double seconds = static_cast<double>(now_ns() - start_ns_) / 1e9;
  progress.text = fmt::format("{} requests/s",
                              format_count(static_cast<double>(progress.operations) / seconds));
  return progress;
}

void HttpGenerator::stop() {
  if (role_ == Role::serve) {
    server_->stop();
  } else {
    pool_->request_stop();
  }
}

Sample HttpGenerator::finish() { return role_ == Role::serve ? finish_server() : finish_load(); }

Sample HttpGenerator::finish_server() {
  Sample sample;
  sample.duration_ns = now_ns() - start_ns_;
  sample.extra["server"] = server_->name();
  sample.extra["endpoint"] = server_->endpoint();
  server_->finish(sample);
  server_.reset();
  return sample;
}

Sample HttpGenerator::finish_load() {
  std::optional<ProcessAccounts> accounts_after;
  if (accounts_before_) accounts_after = read_accounts(*server_pid_, HostFiles::system());
  Sample sample;
  sample.error = pool_->join();
  std::vector<const LoadResult*> results;
  for (const auto& thread : threads_) results.push_back(&thread->result());
  fill_sample(sample, plan_, results);
  fill_cpu_metrics(sample, pool_->usage());
  if (accounts_before_ && accounts_after) {
    fill_server_metrics(sample, *accounts_before_, *accounts_after);
  }
  sample.extra["peak_memory_bytes"] = peak_memory_bytes();
  sample.extra["address"] = plan_.server.to_string();
  sample.threads = pool_->groups();
  if (all_threads_) sample.extra["all_threads"] = pool_->all_threads();
  return sample;
}

std::string HttpGenerator::human_result(const Sample& sample) const {
  if (role_ == Role::serve) return Generator::human_result(sample);
  return result_text(sample, plan_, named_server_.substr(0, named_server_.find('#')));
}

}  // namespace krepro::http
