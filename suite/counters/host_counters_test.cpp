// Deltas of the host's counters, from files that stand for /proc.
#include "suite/counters/host_counters.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace krepro {
namespace {

class HostCountersTest : public ::testing::Test {
 protected:
  HostCountersTest() {
    char pattern[] = "/tmp/krepro-counters-XXXXXX";
    root_ = mkdtemp(pattern);
    std::filesystem::create_directories(root_ / "proc/pressure");
  }
  ~HostCountersTest() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] HostCounters read() const { return read_host_counters(HostFiles(root_)); }

  std::filesystem::path root_;
};

TEST_F(HostCountersTest, WhatChangedIsToldWithItsUnit) {
  put("proc/stat", "cpu 100 0 0 700 0 0 0 10 0 0\ncpu0 1 2 3\nctxt 1000\nprocesses 5\n");
  put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=50\n");
  const HostCounters before = read();
  put("proc/stat", "cpu 150 0 0 700 0 0 0 12 0 0\ncpu0 1 2 3\nctxt 1500\nprocesses 6\n");
  put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=80\n");
  const nlohmann::json deltas = counter_deltas(before, read()).at("host");
  const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  EXPECT_EQ(deltas.at("cpu_user_ns"), 50 * ns_per_tick);
  EXPECT_EQ(deltas.at("cpu_steal_ns"), 2 * ns_per_tick);
  EXPECT_EQ(deltas.at("context_switches"), 500);
  EXPECT_EQ(deltas.at("forks"), 1);
  EXPECT_EQ(deltas.at("pressure_cpu_some_ns"), 30'000);
}

TEST_F(HostCountersTest, FilesThatAreNotThereLeaveNamesOut) {
  EXPECT_TRUE(read().values.empty());
  EXPECT_EQ(counter_deltas(read(), read()).at("host"), nlohmann::json::object());
}

}  // namespace
}  // namespace krepro
