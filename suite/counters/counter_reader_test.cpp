// What a trial's counters come to: on a made-up machine, where every figure is known, and on this
// one, where they are held against readings of the same files by other means.
#include "suite/counters/counter_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/made_up_root.h"
#include "common/timing/clock.h"
#include "suite/counters/counter_table.h"
#include "suite/counters/counters_test_support.h"

namespace krepro {
namespace {

using nlohmann::json;
using test::MadeUpRoot;
using ::testing::HasSubstr;

class CounterReaderTest : public ::testing::Test {
 protected:
  json delta() {
    const CounterReader reader(root_.host());
    const CounterReading before = reader.read_before();
    change_();
    return reader.deltas(before, reader.read_after());
  }

  MadeUpRoot root_;
  std::function<void()> change_ = [] {};
};

TEST_F(CounterReaderTest, AMachineWithoutAnythingHasReasonsForEverything) {
  const json counters = delta();
  for (const char* group : {"schedstat", "vmstat", "softirqs", "interrupts", "network", "idle",
                            "llc_busy", "software", "hardware"}) {
    EXPECT_TRUE(counters.at(group).is_null()) << group;
    EXPECT_NE(counters.at("absent").value(group, ""), "") << group;
  }
  EXPECT_EQ(counters.at("absent").at("schedstat"),
            "/proc/schedstat: absent (the kernel has no CONFIG_SCHEDSTATS)");
  EXPECT_THAT(counters.at("absent").at("pressure").get<std::string>(), HasSubstr("/proc/pressure"));
  EXPECT_EQ(counters.at("host"), json::object());
}

TEST_F(CounterReaderTest, TimeAndPressureOfTheHost) {
  root_.put("/proc/stat", "cpu 100 0 0 700 0 0 0 10 0 0\ncpu0 1 2 3\nctxt 1000\nprocesses 5\n");
  root_.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=50\n");
  change_ = [this] {
    root_.put("/proc/stat", "cpu 150 0 0 690 0 0 0 12 0 0\ncpu0 1 2 3\nctxt 1500\nprocesses 6\n");
    root_.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=80\n");
  };
  const std::int64_t ns_per_tick = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  // What did not move is left out, and so is idle time that went backwards.
  EXPECT_EQ(delta().at("host"), json({{"cpu_user_ns", 50 * ns_per_tick},
                                      {"cpu_steal_ns", 2 * ns_per_tick},
                                      {"context_switches", 500},
                                      {"forks", 1},
                                      {"pressure_cpu_some_ns", 30'000}}));
}

TEST_F(CounterReaderTest, SchedstatOfNinetySixCpusIsSummedPerLevel) {
  const auto text = [](std::uint64_t value) {
    return test::schedstat_text(test::shape_of_version(17),
                                [value](int, int, std::size_t) { return value; });
  };
  root_.put("/proc/schedstat", text(5));
  change_ = [&] { root_.put("/proc/schedstat", text(7)); };
  const json counters = delta();
  EXPECT_EQ(counters.at("schedstat").at("domains").at("domain1-MC").at("newidle_attempts"), 192);
  EXPECT_FALSE(counters.at("absent").contains("schedstat"));
  // Sums per level, and not per CPU: a hundred trials must stay below a megabyte.
  EXPECT_LT(counters.dump().size(), 6000U);
}

TEST_F(CounterReaderTest, AnUnknownSchedstatIsKeptAsItIs) {
  test::SchedstatShape shape = test::shape_of_version(17);
  const auto one = [](int, int, std::size_t) -> std::uint64_t { return 1; };
  root_.put("/proc/schedstat", test::schedstat_text(shape, one));
  EXPECT_EQ(CounterReader(root_.host()).unknown_schedstat(), "");
  shape.version = 18;
  root_.put("/proc/schedstat", test::schedstat_text(shape, one));
  EXPECT_EQ(CounterReader(root_.host()).unknown_schedstat(), root_.get("/proc/schedstat"));
  EXPECT_EQ(delta().at("absent").at("schedstat"), "version 18 is not known: not interpreted");
}

TEST_F(CounterReaderTest, EventsOfMemoryWithoutItsLevels) {
  root_.put("/proc/vmstat", "nr_free_pages 100\nnr_dirtied 5\npgfault 1000\nthp_split_page 3\n");
  change_ = [this] {
    root_.put("/proc/vmstat", "nr_free_pages 900\nnr_dirtied 8\npgfault 1200\nthp_split_page 3\n");
  };
  EXPECT_EQ(delta().at("vmstat"), json({{"nr_dirtied", 3}, {"pgfault", 200}}));
}

TEST_F(CounterReaderTest, InterruptsBySortAndNotByCpuOrQueue) {
  root_.put("/proc/interrupts",
            "           CPU0       CPU1\n 40:  1  2  PCI-MSI 1-edge  nvme0q1\n"
            " 41:  3  4  PCI-MSI 2-edge  nvme0q2\n 42: 1 1 PCI-MSI 3-edge virtio1-req.0\n"
            " 43: 0 0 PCI-MSI 4-edge eth0\nRES: 10 20 Rescheduling interrupts\nERR: 0\n");
  root_.put("/proc/softirqs", "  CPU0 CPU1\n SCHED: 1 1\n NET_RX: 5 5\n");
  change_ = [this] {
    root_.put("/proc/interrupts",
              "           CPU0       CPU1\n 40:  11  2  PCI-MSI 1-edge  nvme0q1\n"
              " 41:  3  9  PCI-MSI 2-edge  nvme0q2\n 42: 1 4 PCI-MSI 3-edge virtio1-req.0\n"
              " 43: 1 0 PCI-MSI 4-edge eth0\nRES: 10 120 Rescheduling interrupts\nERR: 0\n");
    root_.put("/proc/softirqs", "  CPU0 CPU1\n SCHED: 1 4\n NET_RX: 5 5\n");
  };
  const json counters = delta();
  EXPECT_EQ(counters.at("interrupts"),
            json({{"nvme0q", 15}, {"virtio1-req", 3}, {"eth0", 1}, {"reschedule", 100}}));
  EXPECT_EQ(counters.at("softirqs"), json({{"sched", 3}}));
}

TEST_F(CounterReaderTest, DisksWithoutTheirPartitions) {
  std::filesystem::create_directories(root_.path() / "sys/block/nvme0n1");
  root_.put("/proc/diskstats",
            " 259 0 nvme0n1 10 0 80 5 20 0 160 7 0 11 12 1 0 8 1 2 3\n"
            " 259 1 nvme0n1p1 10 0 80 5 20 0 160 7 0 11 12 1 0 8 1 2 3\n");
  change_ = [this] {
    root_.put("/proc/diskstats",
              " 259 0 nvme0n1 11 0 88 6 24 0 192 9 0 14 15 1 0 8 1 4 6\n"
              " 259 1 nvme0n1p1 11 0 88 6 24 0 192 9 0 14 15 1 0 8 1 4 6\n");
  };
  EXPECT_EQ(delta().at("disks"), json({{"nvme0n1",
                                        {{"reads", 1},
                                         {"read_bytes", 4096},
                                         {"read_time_ns", 1'000'000},
                                         {"writes", 4},
                                         {"written_bytes", 16384},
                                         {"write_time_ns", 2'000'000},
                                         {"busy_ns", 3'000'000},
                                         {"flushes", 2},
                                         {"flush_time_ns", 3'000'000}}}}));
}

TEST_F(CounterReaderTest, RetransmitsAndListenOverflows) {
  root_.put("/proc/net/snmp",
            "Tcp: InSegs OutSegs RetransSegs\nTcp: 1 2 3\n"
            "Udp: InDatagrams OutDatagrams\nUdp: 4 4\n");
  root_.put("/proc/net/netstat", "TcpExt: ListenOverflows ListenDrops Else\nTcpExt: 0 0 9\n");
  change_ = [this] {
    root_.put("/proc/net/snmp",
              "Tcp: InSegs OutSegs RetransSegs\nTcp: 11 12 5\n"
              "Udp: InDatagrams OutDatagrams\nUdp: 4 4\n");
    root_.put("/proc/net/netstat", "TcpExt: ListenOverflows ListenDrops Else\nTcpExt: 6 7 99\n");
  };
  EXPECT_EQ(delta().at("network"), json({{"tcp_segments_in", 10},
                                         {"tcp_segments_out", 10},
                                         {"tcp_retransmits", 2},
                                         {"tcp_listen_overflows", 6},
                                         {"tcp_listen_drops", 7}}));
}

TEST_F(CounterReaderTest, UseOfEachLastLevelCache) {
  std::string before = "cpu 0 0 0 0\n";
  std::string after = before;
  for (int cpu = 0; cpu < test::made_up_cpus; ++cpu) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu);
    root_.put(folder + "/index2/level", "2\n");
    root_.put(folder + "/index2/shared_cpu_list", test::core_of(cpu).to_string() + "\n");
    root_.put(folder + "/index3/level", "3\n");
    root_.put(folder + "/index3/shared_cpu_list", test::cache_of(cpu).to_string() + "\n");
    before += fmt::format("cpu{} 10 0 10 80 0 0 0 5\n", cpu);
    // CPUs of the first cache are busy for 3 of 4 ticks, all others idle; stolen time is neither.
    after += cpu % 48 < 4 ? fmt::format("cpu{} 12 0 11 81 0 0 0 50\n", cpu)
                          : fmt::format("cpu{} 10 0 10 84 0 0 0 50\n", cpu);
  }
  root_.put("/proc/stat", before);
  change_ = [&] { root_.put("/proc/stat", after); };
  const json use = delta().at("llc_busy");
  ASSERT_EQ(use.size(), 12U);
  EXPECT_EQ(use.at("0-3,48-51"), 0.75);
  EXPECT_EQ(use.at("4-7,52-55"), 0.0);
}

TEST_F(CounterReaderTest, ResidencyOfIdleStates) {
  for (const int cpu : {0, 1}) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cpuidle/state1", cpu);
    root_.put(folder + "/name", "C1\n");
    root_.put(folder + "/usage", "100\n");
    root_.put(folder + "/time", "5000\n");
  }
  change_ = [this] {
    root_.put("/sys/devices/system/cpu/cpu0/cpuidle/state1/usage", "103\n");
    root_.put("/sys/devices/system/cpu/cpu1/cpuidle/state1/time", "5070\n");
  };
  EXPECT_EQ(delta().at("idle"), json({{"C1", {{"entries", 3}, {"time_ns", 70'000}}}}));
}

TEST(HostPerfTest, ARefusalSaysWhatWouldMendIt) {
  const MadeUpRoot root;
  root.put("/proc/sys/kernel/perf_event_paranoid", "3\n");
  EXPECT_EQ(perf_refusal(EACCES, root.host()),
            "not permitted: kernel.perf_event_paranoid is 3; 0 or less, or CAP_PERFMON, is needed");
  EXPECT_THAT(perf_refusal(ENOENT, root.host()), HasSubstr("no such counter on this machine"));
  EXPECT_THAT(perf_refusal(EMFILE, root.host()), HasSubstr("ulimit -n"));
}

TEST(CounterReaderHere, GroupsAreThereOrSayWhyNot) {
  const CounterReader reader;
  const CounterReading before = reader.read_before();
  sleep_until_ns(now_ns() + 50'000'000);
  const json counters = reader.deltas(before, reader.read_after());
  EXPECT_GE(counters.at("window_ns"), 50'000'000);
  for (const char* group : {"schedstat", "vmstat", "softirqs", "interrupts", "network", "idle",
                            "llc_busy", "software", "hardware"}) {
    EXPECT_TRUE(counters.at(group).is_object() || counters.at("absent").contains(group)) << group;
  }
  // This very process was switched at least once.
  EXPECT_GT(counters.at("host").value("context_switches", 0), 0);
}

TEST(CounterReaderHere, MigrationsAreCountedWherePermitted) {
  const CounterReader reader;
  const CounterReading before = reader.read_before();
  const CpuSet allowed = CpuSet::allowed();
  if (allowed.size() < 2) GTEST_SKIP() << "one CPU: nothing can migrate";
  constexpr int rounds = 50;
  for (int i = 0; i < rounds; ++i) {
    CpuSet({allowed.cpus()[static_cast<std::size_t>(i % 2)]}).apply();
  }
  allowed.apply();
  const json counters = reader.deltas(before, reader.read_after());
  if (counters.at("software").is_null()) {
    GTEST_SKIP() << counters.at("absent").at("software").get<std::string>();
  }
  EXPECT_GE(counters.at("software").value("migrations", 0), rounds - 1);
}

TEST(CounterTable, NamesAreForPeople) {
  EXPECT_EQ(counter_words("schedstat.domains.domain0-SMT.newidle_attempts").text,
            "newidle balance calls (SMT)");
  EXPECT_EQ(counter_words("schedstat.domains.domain2.busy_pulled").text,
            "busy balance pulled tasks (domain2)");
  EXPECT_EQ(counter_words("host.context_switches").text, "context switches");
  EXPECT_EQ(counter_words("host.pressure_io_some_ns").text, "pressure: io some");
  EXPECT_EQ(counter_words("host.interrupts").text, "interrupts, all");
  EXPECT_EQ(counter_words("disks.nvme0n1.written_bytes").text, "nvme0n1 written");
  EXPECT_EQ(counter_words("disks.nvme0n1.written_bytes").kind, CounterKind::bytes);
  EXPECT_EQ(counter_words("tasks.serve.wait_ns").text, "serve wait");
  EXPECT_EQ(counter_words("llc_busy.0-3,48-51").kind, CounterKind::share);
  EXPECT_EQ(counter_words("softirqs.net_rx").text, "softirq net rx");
  EXPECT_EQ(counter_words("from.later.versions").group, "other");
}

TEST(CounterTable, WhatIsAbsentIsNotZero) {
  const FlatCounters flat = flatten_counters(
      {{"window_ns", 500'000'000},
       {"host", {{"context_switches", 7}}},
       {"schedstat", {{"version", 17}, {"cpu", {{"wakeups", 3}}}}},
       {"hardware", nullptr},
       {"absent", {{"hardware", "no such counter"}, {"tasks.load.wait_ns", "ended"}}}});
  EXPECT_EQ(flat.seconds, 0.5);
  EXPECT_EQ(flat.values, (std::map<std::string, double>{{"host.context_switches", 7},
                                                        {"schedstat.cpu.wakeups", 3}}));
  EXPECT_TRUE(is_absent(flat, "hardware.cycles"));
  EXPECT_TRUE(is_absent(flat, "tasks.load.wait_ns"));
  EXPECT_FALSE(is_absent(flat, "tasks.load.run_ns"));
  EXPECT_FALSE(is_absent(flat, "host.forks"));
}

}  // namespace
}  // namespace krepro
