// The counters around one trial: who reads them when, and what that costs.
#include "common/timing/clock.h"
#include "suite/execute/trial_parts.h"

namespace krepro {

TrialCounters::Tasks TrialCounters::read_tasks() const {
  Tasks tasks;
  const HostFiles& host = HostFiles::system();
  if (load_ > 0) tasks.load = read_task_tree(load_, host);
  if (server_ > 0) tasks.server = read_task_tree(server_, host);
  return tasks;
}

void TrialCounters::read_before(pid_t load, pid_t server) {
  const std::int64_t start_ns = now_ns();
  load_ = load;
  server_ = server;
  tasks_before_ = read_tasks();
  before_ = reader_.read_before();
  clock_.counters_ns += now_ns() - start_ns;
}

void TrialCounters::read_after() {
  const std::int64_t start_ns = now_ns();
  after_ = reader_.read_after();
  tasks_after_ = read_tasks();
  clock_.counters_ns += now_ns() - start_ns;
}

nlohmann::json TrialCounters::task_deltas(const nlohmann::json& sample,
                                          nlohmann::json& absent) const {
  nlohmann::json tasks = nlohmann::json::object();
  // The generator counted its tasks to their very end; what lives here now may be its parent only.
  tasks["load"] = task_sums(sample);
  if (tasks["load"].is_null()) tasks["load"] = task_delta(tasks_before_.load, tasks_after_.load);
  if (tasks["load"].is_null()) {
    absent["tasks.load"] = "its tasks had ended, and the generator does not tell";
  } else if (!tasks["load"].contains("wait_ns")) {
    tasks["load"]["wait_ns"] = nullptr;
    absent["tasks.load.wait_ns"] = "its tasks had ended: wait4 does not tell it";
  }
  if (server_ > 0) {
    tasks["serve"] = task_delta(tasks_before_.server, tasks_after_.server);
    if (tasks["serve"].is_null()) absent["tasks.serve"] = "the server is not there to be read";
  }
  return tasks;
}

nlohmann::json TrialCounters::deltas(const nlohmann::json& sample) {
  const std::int64_t start_ns = now_ns();
  nlohmann::json counters = reader_.deltas(before_, after_);
  nlohmann::json absent = counters.value("absent", nlohmann::json::object());
  counters["tasks"] = task_deltas(sample, absent);
  if (!absent.empty()) counters["absent"] = std::move(absent);
  clock_.counters_ns += now_ns() - start_ns;
  return counters;
}

}  // namespace krepro
