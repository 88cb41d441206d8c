// A trial of a generator under the control protocol: configure, ready, go, sample, end; with its
// server as a second process where it has one.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "suite/execute/sample_check.h"
#include "suite/execute/trial_parts.h"

namespace krepro {
namespace {

using nlohmann::json;

/// Who pressed Ctrl-C waits no longer than this for a load's partial sample.
constexpr std::int64_t interrupted_grace_ns = 3'000'000'000;

std::string text_of(const json& message, const char* name) {
  const auto found = message.find(name);
  return found != message.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string seconds_text(std::int64_t duration_ns) {
  return format_duration(static_cast<double>(duration_ns));
}

/// The benchmark's options and what differs from trial to trial: the seed for the frame, and the
/// values of options that mean the seed, the trial or the boot, unless the profile sets them.
json trial_options(const TrialRequest& request) {
  const OptionTable& table = request.generator->options;
  json options = request.benchmark->options;
  std::set<const Option*> set;
  for (const auto& [name, value] : options.items()) set.insert(table.find(name));
  bool has_seed = false;
  for (const Option& option : table.options()) {
    const bool free = !set.contains(&option);
    has_seed = has_seed || option.means == Meaning::seed;
    if (!free) continue;
    if (option.means == Meaning::seed) options[option.name] = request.seed;
    if (option.means == Meaning::trial) options[option.name] = request.trial.index;
    if (option.means == Meaning::boot && request.simulated_boot) {
      options[option.name] = *request.simulated_boot;
    }
  }
  if (!has_seed && !options.contains("seed")) options["seed"] = request.seed;
  return options;
}

class ControlTrial {
 public:
  ControlTrial(const TrialRequest& request, const Interruption& interruption, RecordedTrial& record)
      : request_(request), interruption_(interruption), record_(record) {}

  void run() {
    clock_.begin_ns = now_ns();
    try {
      set_up();
      measure();
    } catch (const TrialAborted& aborted) {
      record_.status = aborted.status;
      record_.reason = aborted.reason;
      salvage();
    }
    end_processes();
    clock_.end_ns = now_ns();
    record_.window = {clock_.go_ns, clock_.sample_ns};
    const auto duration =
        record_.sample.is_object() ? record_.sample.find("duration_ns") : record_.sample.end();
    const bool known = record_.sample.is_object() && duration != record_.sample.end() &&
                       duration->is_number_integer();
    record_.harness = clock_.to_json(known ? duration->get<std::int64_t>() : 0);
    if (record_.status != "valid") record_.log = logs();
  }

 private:
  void set_up() {
    const std::int64_t deadline_ns = now_ns() + request_.limits.setup_ns;
    json options = trial_options(request_);
    const bool serves = request_.generator->has_role("serve") &&
                        !request_.generator->names_a_server(request_.benchmark->options);
    if (serves) {
      server_ = start("serve");
      configure(*server_, with_worker_cpus(options, "serve"), false);
      const json ready = wait_for(*server_, "ready", deadline_ns);
      const std::string endpoint = text_of(ready, "endpoint");
      if (endpoint.empty()) throw TrialAborted{"failed", "the server's ready has no endpoint"};
      options["server"] = endpoint;
      if (!server_->send({{"cmd", "go"}})) abort_unreachable(*server_);
    }
    load_ = start("load");
    configure(*load_, with_worker_cpus(options, "load"), static_cast<bool>(request_.on_progress));
    wait_for(*load_, "ready", deadline_ns);
    clock_.ready_ns = now_ns();
  }

  [[nodiscard]] json with_worker_cpus(json options, const std::string& role) const {
    const std::string order = request_.benchmark->worker_cpus.value(role, "");
    if (!order.empty()) options["worker-cpus"] = order;
    return options;
  }

  void measure() {
    const std::int64_t limit_ns =
        run_limit_ns(*request_.benchmark, *request_.generator, request_.limits);
    if (request_.observer != nullptr) request_.observer->start();
    TrialCounters counters(*request_.counters, clock_);
    counters.read_before(server_ ? server_->child().pid() : 0);
    clock_.go_ns = now_ns();
    if (!load_->send({{"cmd", "go"}})) abort_unreachable(*load_);
    const json message = wait_for(*load_, "sample", clock_.go_ns + limit_ns);
    clock_.sample_ns = now_ns();
    if (request_.observer != nullptr) request_.observer->stop();
    counters.read_after();
    const auto sample = message.find("sample");
    record_.counters = counters.deltas(sample == message.end() ? json() : *sample);
    take_sample(message);
  }

  std::unique_ptr<WatchedProcess> start(const std::string& role) {
    SpawnRequest request = placed_request(request_, role);
    request.argv = {request_.generator->path.string(), "--role", role, "--control"};
    const std::int64_t start_ns = now_ns();
    auto process = std::make_unique<WatchedProcess>(
        fmt::format("{} ({})", request_.generator->name, role), request);
    // Not until we run again: on a busy CPU the program, now in its own start-up, goes first.
    clock_.spawn_ns += process->child().exec_at_ns() - start_ns;
    processes_.push_back(process.get());
    return process;
  }

  void configure(WatchedProcess& process, const json& options, bool progress) {
    if (!process.send({{"cmd", "configure"}, {"options", options}, {"progress", progress}})) {
      abort_unreachable(process);
    }
  }

  /// Reads messages until `process` sends `event`. Throws TrialAborted on anything that ends the
  /// trial: an error, garbage, an end, a signal, or the time `deadline_ns`.
  json wait_for(WatchedProcess& process, const std::string& event, std::int64_t deadline_ns) {
    for (;;) {
      for (WatchedProcess* each : processes_) {
        while (std::optional<json> message = take_message(*each)) {
          const std::string name = text_of(*message, "event");
          if (each == &process && name == event) return *message;
          handle(*each, name, *message);
        }
        if (each->ended()) abort_ended(*each);
      }
      switch (wait_for_activity(processes_, &interruption_, deadline_ns)) {
        case Wake::activity:
          break;
        case Wake::timeout:
          abort_hung(process, event);
        case Wake::interrupted:
          throw TrialAborted{"truncated",
                             fmt::format("interrupted by {}", interruption_.signal_name())};
      }
    }
  }

  std::optional<json> take_message(WatchedProcess& process) {
    std::optional<std::string> line = process.output().take();
    if (!line) return std::nullopt;
    if (process.output().overlong()) {
      throw TrialAborted{"failed",
                         fmt::format("{} printed a line of more than 16 MiB", process.name())};
    }
    json message = json::parse(*line, nullptr, false);
    if (!message.is_object() || text_of(message, "event").empty()) {
      throw TrialAborted{"failed", fmt::format("{} printed what is not an event: {}",
                                               process.name(), line->substr(0, 80))};
    }
    return message;
  }

  void handle(WatchedProcess& process, const std::string& event, const json& message) {
    if (event == "error") abort_error(process, message);
    if (event == "progress") {
      if (request_.on_progress && &process == load_.get()) {
        request_.on_progress(one_line(text_of(message, "text")));
      }
      return;
    }
    if (event == "ready" || event == "sample") {
      throw TrialAborted{"failed",
                         fmt::format("{} sent \"{}\" at the wrong time", process.name(), event)};
    }
    // pong, and events that later versions may add.
  }

  [[noreturn]] void abort_error(const WatchedProcess& process, const json& message) {
    const std::string kind = text_of(message, "kind");
    const std::string remedy = text_of(message, "remedy");
    std::string status = "failed";
    if (kind == "not_possible") status = "skipped";
    if (kind == "interrupted") status = "truncated";
    throw TrialAborted{status,
                       fmt::format("{}: {}{}{}", process.name(), text_of(message, "message"),
                                   remedy.empty() ? "" : "; ", remedy)};
  }

  [[noreturn]] void abort_ended(WatchedProcess& process) {
    const ChildEnd end = process.finish(request_.limits.stop_ns);
    const bool not_possible =
        end.exited() && end.exit_code() == static_cast<int>(ExitCode::not_possible);
    const std::string last = process.errors().last_line();
    throw TrialAborted{not_possible ? "skipped" : "failed",
                       fmt::format("{} ended before its {}: {}{}{}", process.name(),
                                   clock_.go_ns != 0 ? "sample" : "ready", end.describe(),
                                   last.empty() ? "" : ": ", last)};
  }

  [[noreturn]] void abort_unreachable(WatchedProcess& process) {
    const std::array<WatchedProcess*, 1> only = {&process};
    while (!process.ended() &&
           wait_for_activity(only, nullptr, now_ns() + request_.limits.stop_ns) != Wake::timeout) {
    }
    while (std::optional<json> message = take_message(process)) {
      handle(process, text_of(*message, "event"), *message);
    }
    if (process.ended()) abort_ended(process);
    throw TrialAborted{"failed", fmt::format("{} reads no commands", process.name())};
  }

  [[noreturn]] void abort_hung(WatchedProcess& process, const std::string& event) {
    const bool running = event == "sample";
    const std::int64_t limit_ns =
        running ? run_limit_ns(*request_.benchmark, *request_.generator, request_.limits)
                : request_.limits.setup_ns;
    std::string found = describe_process_group(process.child().pid());
    if (!found.empty()) found = "; it was: " + found;
    hung_ = true;
    throw TrialAborted{"failed", fmt::format("hung: {} gave no {} within {} and was killed{}",
                                             process.name(), event, seconds_text(limit_ns), found)};
  }

  void take_sample(const json& message) {
    const auto found = message.find("sample");
    record_.sample = found == message.end() ? json() : *found;
    const std::string problem =
        find_sample_problem(record_.sample, *request_.generator, clock_.sample_ns - clock_.go_ns);
    if (!problem.empty()) {
      throw TrialAborted{"failed", fmt::format("not a sample: {}", problem)};
    }
    if (record_.sample.value("truncated", false)) {
      throw TrialAborted{"truncated", "the load was stopped before its end"};
    }
    const std::string failure = find_declared_failure(record_.sample);
    if (!failure.empty()) throw TrialAborted{"failed", failure};
    const std::string misplaced =
        find_placement_problem(record_.sample, *request_.benchmark, "load");
    if (!misplaced.empty()) throw TrialAborted{"failed", misplaced};
    record_.status = "valid";
  }

  /// After an interruption the load is told to stop, and what it then has is kept: marked as
  /// truncated, so never part of a mean.
  void salvage() {
    if (!record_.sample.is_object()) record_.sample = json();
    if (!interruption_.requested() || hung_ || !load_ || !record_.sample.is_null()) return;
    load_->send({{"cmd", "stop"}});
    const std::int64_t grace_ns = std::min(request_.limits.stop_ns, interrupted_grace_ns);
    const std::int64_t deadline_ns = now_ns() + grace_ns;
    const std::array<WatchedProcess*, 1> only = {load_.get()};
    for (;;) {
      while (const std::optional<std::string> line = load_->output().take()) {
        const json message = json::parse(*line, nullptr, false);
        if (!message.is_object() || text_of(message, "event") != "sample") continue;
        clock_.sample_ns = now_ns();
        const auto sample = message.find("sample");
        if (sample != message.end() && sample->is_object()) record_.sample = *sample;
        return;
      }
      if (load_->ended()) return;
      if (wait_for_activity(only, nullptr, deadline_ns) == Wake::timeout) {
        hung_ = true;
        return;
      }
    }
  }

  void end_processes() {
    // A hung process, and all of its like, are killed without being asked.
    const std::int64_t grace_ns = hung_ ? 0 : request_.limits.stop_ns;
    if (load_) end_process(*load_, grace_ns);
    if (server_) {
      if (!hung_) stop_server(grace_ns);
      end_process(*server_, grace_ns);
      const std::string misplaced =
          find_placement_problem(record_.server, *request_.benchmark, "serve");
      if (record_.status == "valid" && !misplaced.empty()) fail(misplaced);
    }
  }

  void stop_server(std::int64_t grace_ns) {
    server_->send({{"cmd", "stop"}});
    const std::int64_t deadline_ns = now_ns() + grace_ns;
    const std::array<WatchedProcess*, 1> only = {server_.get()};
    for (;;) {
      while (const std::optional<std::string> line = server_->output().take()) {
        const json message = json::parse(*line, nullptr, false);
        if (!message.is_object() || text_of(message, "event") != "sample") continue;
        const auto sample = message.find("sample");
        if (sample != message.end() && sample->is_object()) record_.server = *sample;
        return;
      }
      if (server_->ended() || wait_for_activity(only, nullptr, deadline_ns) == Wake::timeout)
        return;
    }
  }

  void end_process(WatchedProcess& process, std::int64_t grace_ns) {
    const ChildEnd end = process.finish(grace_ns);
    if (record_.status != "valid") return;
    if (end.leftover_processes > 0) {
      fail(fmt::format("{} left {} processes behind, which were killed", process.name(),
                       end.leftover_processes));
    } else if (!end.exited() || end.exit_code() != 0) {
      fail(fmt::format("{} gave a sample and then ended with {}", process.name(), end.describe()));
    }
  }

  void fail(const std::string& reason) {
    record_.status = "failed";
    record_.reason = reason;
  }

  [[nodiscard]] std::string logs() const {
    std::string text;
    for (const WatchedProcess* process : processes_) {
      if (process->errors().text().empty()) continue;
      if (processes_.size() > 1) text += fmt::format("== {}\n", process->name());
      text += process->errors().text();
    }
    return text;
  }

  const TrialRequest& request_;
  const Interruption& interruption_;
  RecordedTrial& record_;
  TrialClock clock_;
  std::unique_ptr<WatchedProcess> server_;
  std::unique_ptr<WatchedProcess> load_;
  std::vector<WatchedProcess*> processes_;
  bool hung_ = false;
};

}  // namespace

void run_control_trial(const TrialRequest& request, const Interruption& interruption,
                       RecordedTrial& record) {
  ControlTrial(request, interruption, record).run();
}

}  // namespace krepro
