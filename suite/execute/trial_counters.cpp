// The counters around one trial: who reads them when, and what that costs.
#include "common/timing/clock.h"
#include "suite/execute/trial_parts.h"

namespace krepro {

std::map<int, TaskCounters> TrialCounters::read_server() const {
  return server_ > 0 ? read_task_tree(server_, HostFiles::system()) : std::map<int, TaskCounters>();
}

void TrialCounters::read_before(pid_t server) {
  const std::int64_t start_ns = now_ns();
  server_ = server;
  server_before_ = read_server();
  before_ = reader_.read_before();
  clock_.counters_ns += now_ns() - start_ns;
}

void TrialCounters::read_after() {
  const std::int64_t start_ns = now_ns();
  after_ = reader_.read_after();
  server_after_ = read_server();
  clock_.counters_ns += now_ns() - start_ns;
}

nlohmann::json TrialCounters::task_deltas(const nlohmann::json& sample,
                                          nlohmann::json& absent) const {
  nlohmann::json tasks = nlohmann::json::object();
  // The generator counted its tasks to their very end. To read thousands of them here would cost
  // more than all other counters, and most would have ended by the second reading.
  tasks["load"] = task_sums(sample);
  if (tasks["load"].is_null()) {
    absent["tasks.load"] = "the generator's sample does not tell";
  } else if (!tasks["load"].contains("wait_ns")) {
    tasks["load"]["wait_ns"] = nullptr;
    absent["tasks.load.wait_ns"] = "its tasks had ended: wait4 does not tell it";
  }
  if (server_ > 0) {
    tasks["serve"] = task_delta(server_before_, server_after_);
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
