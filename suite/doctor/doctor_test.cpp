// Every check of the doctor, on made-up machines: with the trouble, without it, and where it cannot
// be seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "suite/doctor/doctor_test_support.h"

namespace krepro {
namespace {

using ::testing::HasSubstr;

using test::Files;
using test::finding_of;
using test::finding_on;
using test::four_cpus;

constexpr const char* cpu_folder = "sys/devices/system/cpu/";

/// A check that looks at files: what it says with the trouble and without it.
struct FileCase {
  const char* id;
  const char* item;  ///< The environment's item without which nothing can be seen.
  Files trouble;
  Weight weight;
  const char* text;
  Files well;
};

/// For the test's name in reports.
void PrintTo(const FileCase& each, std::ostream* out) { *out << each.id; }

const std::string cpu0 = std::string(cpu_folder) + "cpu0/";
const std::string release = "proc/sys/kernel/osrelease";

std::vector<FileCase> clock_cases() {
  return {
      {"governor",
       "cpu.governor",
       {{cpu0 + "cpufreq/scaling_governor", "powersave"}},
       Weight::warning,
       "powersave",
       {{cpu0 + "cpufreq/scaling_governor", "performance"}}},
      {"turbo",
       "cpu.boost",
       {{std::string(cpu_folder) + "intel_pstate/no_turbo", "0"}},
       Weight::warning,
       "turbo",
       {{std::string(cpu_folder) + "cpufreq/boost", "0"}}},
      {"clocks",
       "cpu.frequency_max_khz",
       {{cpu0 + "cpufreq/scaling_max_freq", "3000"},
        {std::string(cpu_folder) + "cpu1/cpufreq/scaling_max_freq", "2000"}},
       Weight::note,
       "different",
       {{cpu0 + "cpufreq/scaling_max_freq", "3000"}}},
      {"idle-states",
       "cpu.idle_states",
       {{cpu0 + "cpuidle/state0/name", "C6"}, {cpu0 + "cpuidle/state0/latency", "133"}},
       Weight::warning,
       "C6 takes 133 us",
       {{cpu0 + "cpuidle/state0/name", "C6"},
        {cpu0 + "cpuidle/state0/latency", "133"},
        {cpu0 + "cpuidle/state0/disable", "1"}}},
      {"haltpoll",
       "cpu.idle_governor",
       {{std::string(cpu_folder) + "cpuidle/current_governor", "haltpoll"}},
       Weight::note,
       "poll",
       {{std::string(cpu_folder) + "cpuidle/current_governor", "menu"}}},
  };
}

std::vector<FileCase> cpu_cases() {
  return {
      {"throttling",
       "cpu.throttle_count",
       {{std::string(cpu_folder) + "online", "0"},
        {cpu0 + "thermal_throttle/core_throttle_count", "9"}},
       Weight::warning,
       "9 times",
       {{std::string(cpu_folder) + "online", "0"},
        {cpu0 + "thermal_throttle/core_throttle_count", "0"}}},
      {"busy",
       "load.average_1min",
       {{"proc/loadavg", "3.50 1 1 1/1 1"}},
       Weight::warning,
       "load average is 3.5",
       {{"proc/loadavg", "0.50 1 1 1/1 1"}}},
      {"isolation",
       "cpu.isolated",
       {{std::string(cpu_folder) + "isolated", "2-3"}},
       Weight::warning,
       "2-3 are isolated",
       {{std::string(cpu_folder) + "isolated", "\n"}}},
      {"smt",
       "",
       {{std::string(cpu_folder) + "smt/active", "1"}},
       Weight::note,
       "SMT is on",
       {{std::string(cpu_folder) + "smt/active", "0"}}},
  };
}

std::vector<FileCase> kernel_cases() {
  return {
      {"autogroup",
       "scheduler.autogroup",
       {{"proc/sys/kernel/sched_autogroup_enabled", "1"}},
       Weight::note,
       "autogroup is on",
       {{"proc/sys/kernel/sched_autogroup_enabled", "0"}}},
      {"scheduler",
       "scheduler.extension",
       {{"sys/kernel/sched_ext/state", "enabled"}, {"sys/kernel/sched_ext/root/ops", "rusty"}},
       Weight::problem,
       "rusty",
       {{"sys/kernel/sched_ext/state", "disabled"}}},
      {"debug-kernel",
       "kernel.config",
       {{release, "6.1"}, {"boot/config-6.1", "CONFIG_LOCKDEP=y\n"}},
       Weight::problem,
       "CONFIG_LOCKDEP",
       {{release, "6.1"}, {"boot/config-6.1", "CONFIG_HZ=250\n"}}},
      {"time-source",
       "kernel.clock_source",
       {{"sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"}},
       Weight::warning,
       "hpet",
       {{"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"}}},
      {"tracing",
       "kernel.tracer",
       {{"sys/kernel/tracing/current_tracer", "function"}},
       Weight::problem,
       "function",
       {{"sys/kernel/tracing/current_tracer", "nop"}}},
      {"schedstats",
       "scheduler.schedstats",
       {{"proc/sys/kernel/sched_schedstats", "1"}},
       Weight::note,
       "statistics are on",
       {{"proc/sys/kernel/sched_schedstats", "0"}}},
      {"nmi-watchdog",
       "kernel.nmi_watchdog",
       {{"proc/sys/kernel/nmi_watchdog", "1"}},
       Weight::note,
       "watchdog is on",
       {{"proc/sys/kernel/nmi_watchdog", "0"}}},
  };
}

std::vector<FileCase> memory_cases() {
  return {
      {"swap",
       "memory.swap_total_bytes",
       {{"proc/meminfo", "SwapTotal: 100000 kB\nSwapFree: 50000 kB\n"}},
       Weight::warning,
       "in use",
       {{"proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n"}}},
      {"memory",
       "memory.available_bytes",
       {{"proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n"}},
       Weight::warning,
       "available",
       {{"proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 900 kB\n"}}},
      {"fragmentation",
       "memory.fragmentation",
       {{"proc/buddyinfo", "Node 0, zone Normal 900 0 0 0 0 0 0 0 0 0 0\n"}},
       Weight::warning,
       "0 % of free memory",
       {{"proc/buddyinfo", "Node 0, zone Normal 9 0 0 0 0 0 0 0 0 0 90\n"}}},
      {"write-back",
       "memory.dirty_bytes",
       {{"proc/meminfo", "Dirty: 900000 kB\n"}},
       Weight::warning,
       "wait to be written",
       {{"proc/meminfo", "Dirty: 9 kB\n"}}},
      {"thp",
       "memory.thp",
       {{"sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"}},
       Weight::warning,
       "always",
       {}},
  };
}

std::vector<FileCase> host_cases() {
  return {
      {"steal",
       "virtualisation.steal_share",
       {{"proc/stat", "cpu 100 0 100 700 0 0 0 100 0 0\n"}},
       Weight::problem,
       "10.0 %",
       {{"proc/stat", "cpu 100 0 100 800 0 0 0 0 0 0\n"}}},
      {"virtualisation",
       "virtualisation.kind",
       {{"proc/cpuinfo", "flags : fpu hypervisor\n"}},
       Weight::note,
       "virtual machine",
       {{"proc/cpuinfo", "flags : fpu\n"}}},
      {"quota",
       "cgroup.cpu_quota",
       {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "50000 100000\n"}},
       Weight::problem,
       "may use 0.5 CPUs' time, and 4 CPUs are allowed",
       {{"proc/self/cgroup", "0::/job\n"}, {"sys/fs/cgroup/job/cpu.max", "max 100000\n"}}},
      {"daemons",
       "load.daemons",
       {{"proc/7/comm", "irqbalance\n"}},
       Weight::warning,
       "irqbalance",
       {{"proc/7/comm", "sshd\n"}}},
      {"seccomp",
       "limits.seccomp",
       {{"proc/self/status", "Name:\tx\nSeccomp:\t2\n"}},
       Weight::warning,
       "seccomp filter",
       {{"proc/self/status", "Name:\tx\nSeccomp:\t0\n"}}},
  };
}

std::vector<FileCase> disk_cases() {
  return {
      {"io-uring",
       "limits.io_uring_disabled",
       {{"proc/sys/kernel/io_uring_disabled", "2"}},
       Weight::note,
       "disabled",
       {{"proc/sys/kernel/io_uring_disabled", "0"}}},
      {"file-system",
       "storage.mounts",
       {{"proc/self/mountinfo", "27 1 8:1 / / rw - ext4 /dev/sda1 rw,discard\n"}},
       Weight::warning,
       "with discard",
       {}},
      {"discard",
       "storage.devices",
       {{"sys/block/sda/size", "9"}, {"sys/block/sda/queue/discard_max_bytes", "4096"}},
       Weight::note,
       "sda can be trimmed",
       {{"sys/block/sda/size", "9"}, {"sys/block/sda/queue/discard_max_bytes", "0"}}},
      {"privileges",
       "limits.user",
       {{"proc/self/status", "Name:\tx\nUid:\t5\t5\t5\t5\n"}},
       Weight::note,
       "not root",
       {{"proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\n"}}},
  };
}

std::vector<FileCase> file_cases() {
  std::vector<FileCase> cases;
  for (const auto& part :
       {clock_cases(), cpu_cases(), kernel_cases(), memory_cases(), host_cases(), disk_cases()}) {
    cases.insert(cases.end(), part.begin(), part.end());
  }
  return cases;
}

class DoctorChecks : public testing::TestWithParam<FileCase> {};

TEST_P(DoctorChecks, SeeTheTrouble) {
  const DoctorFinding finding = finding_on(GetParam().id, GetParam().trouble);
  EXPECT_EQ(to_string(finding.weight), std::string(to_string(GetParam().weight)));
  EXPECT_THAT(finding.text, HasSubstr(GetParam().text));
  EXPECT_FALSE(finding.why.empty());
  EXPECT_FALSE(finding.matters.empty());
  if (finding.weight <= Weight::warning) {
    EXPECT_FALSE(finding.mend.empty());
  }
}

TEST_P(DoctorChecks, AreContentWithoutIt) {
  if (GetParam().well.empty()) GTEST_SKIP() << "there is no such case";
  EXPECT_STREQ(to_string(finding_on(GetParam().id, GetParam().well).weight), "fine");
}

TEST_P(DoctorChecks, SayWhereTheyMayNotLook) {
  if (std::string(GetParam().item).empty()) GTEST_SKIP() << "known from the topology too";
  const Machine machine = four_cpus();
  Patient patient;
  patient.machine = &machine;
  patient.disks = {{"/data", 1000, 500}};
  patient.environment[GetParam().item] = {
      {"value", nullptr}, {"reason", "no permission"}, {"source", "/some/file"}};
  const DoctorFinding finding = finding_of(GetParam().id, patient);
  EXPECT_STREQ(to_string(finding.weight), "unseen");
  EXPECT_THAT(finding.text, HasSubstr("no permission (/some/file)"));
}

INSTANTIATE_TEST_SUITE_P(Files, DoctorChecks, testing::ValuesIn(file_cases()),
                         [](const auto& each) {
                           std::string name = each.param.id;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace krepro
