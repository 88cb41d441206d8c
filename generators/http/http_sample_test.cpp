// What a sample says of the load's CPU time and of the server's processes.
#include "generators/http/http_sample.h"

#include <gtest/gtest.h>

#include "common/affinity/cpu_set.h"

namespace krepro::http {
namespace {

/// Whether a sample of 1 s, of `threads` threads that used `cpus` CPUs, has a note.
bool has_note(std::uint64_t threads, double cpus) {
  Sample sample;
  sample.operations = 1;
  sample.duration_ns = 1'000'000'000;
  sample.achieved["threads"] = threads;
  WorkerPool::Usage usage;
  usage.system_ns = cpus * 1e9;
  fill_cpu_metrics(sample, usage);
  return !sample.notes.empty();
}

TEST(CpuMetrics, SayWhereTheLoadMayBeTheLimit) {
  EXPECT_TRUE(has_note(1, 0.99));
  EXPECT_FALSE(has_note(1, 0.9));
  // More threads than CPUs cannot use more than these.
  const std::size_t cpus = CpuSet::allowed().size();
  EXPECT_TRUE(has_note(cpus + 1, 0.99 * static_cast<double>(cpus)));
}

TEST(ServerMetrics, AreLeftOutWhereAProcessWasReplaced) {
  ProcessAccounts before;
  before.processes = {{10, 5}, {11, 6}};
  before.voluntary_switches = 1000;
  ProcessAccounts after = before;
  after.voluntary_switches = 3000;
  Sample whole;
  whole.operations = 100;
  fill_server_metrics(whole, before, after);
  EXPECT_EQ(whole.metrics.at("server_switches/request").value, 20);
  // As many as before, and one of them another.
  after.processes.back() = {12, 90};
  after.voluntary_switches = 40;
  Sample replaced;
  replaced.operations = 100;
  fill_server_metrics(replaced, before, after);
  EXPECT_FALSE(replaced.metrics.contains("server_switches/request"));
  EXPECT_EQ(replaced.notes.size(), 1U);
}

}  // namespace
}  // namespace krepro::http
