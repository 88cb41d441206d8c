// What a sample says of the load's CPU time and of the server's processes.
#include "generators/http/http_sample.h"

#include <gmock/gmock.h>
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

LoadPlan plan_of(std::int64_t duration_ns, std::size_t threads) {
  LoadPlan plan;
  plan.settings.duration_ns = duration_ns;
  plan.settings.threads = threads;
  plan.settings.show_latency = true;
  plan.requests = RequestMix(plan.settings, parse_url("http://127.0.0.1:80/"), {{"/", 1}});
  return plan;
}

TEST(ResultText, SaysWhatWrkSaysAndWhatItCost) {
  const LoadPlan plan = plan_of(2'000'000'000, 2);
  LoadResult result(4);
  result.operations = 3000;
  result.bytes = 3000 * 850;
  result.opened = 64;
  result.reopened = 12;
  result.end_ns = 2'000'000'000;
  result.failures[static_cast<std::size_t>(Failure::status)] = 7;
  result.failures[static_cast<std::size_t>(Failure::short_body)] = 1;
  for (int i = 0; i < 3000; ++i) result.service.record(250'000);
  Sample sample;
  fill_sample(sample, plan, {&result});
  WorkerPool::Usage usage;
  usage.user_ns = 3e6;
  usage.system_ns = 30e6;
  usage.voluntary_switches = 300;
  fill_cpu_metrics(sample, usage);
  const std::string text = result_text(sample, plan, "http://127.0.0.1:80/");
  for (const char* part :
       {"Running 2 s test @ http://127.0.0.1:80/\n", "2 threads and 64 connections\n",
        "Latency Distribution (service time)\n", "     50%     250 us\n", "   99.9%     250 us\n",
        "3000 requests in 2.00s", "Non-2xx or 3xx responses: 7\n", "errors, short_body: 1\n",
        "Requests/sec:   1500.00\n", "user 1 us, system 10 us, 0.1000 switches a request\n",
        "reopened  12 connections\n"}) {
    EXPECT_THAT(text, testing::HasSubstr(part));
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("server"))) << "nothing is known of it";
}

TEST(ResultText, OfAnOpenLoopTellsResponseTimesAndTheRate) {
  LoadPlan plan = plan_of(1'000'000'000, 1);
  plan.settings.rate = 1000;
  plan.settings.arrivals = Arrivals::constant;
  LoadResult result(4);
  result.operations = 950;
  result.in_time = 900;
  result.end_ns = 1'000'000'000;
  result.unsent = 100;
  result.response.record(1'000'000);
  Sample sample;
  fill_sample(sample, plan, {&result});
  fill_cpu_metrics(sample, {});
  const std::string text = result_text(sample, plan, "http://127.0.0.1:80/");
  EXPECT_THAT(text, testing::HasSubstr("Latency Distribution (response time)"));
  EXPECT_THAT(text, testing::HasSubstr("note: the rate was not met: 900 of 1000 requests/s"));
  EXPECT_THAT(text, testing::HasSubstr("note: 100 requests that were due were never sent"));
}

}  // namespace
}  // namespace krepro::http
