// The environment of machines that are not this one, by trees of files that stand for them.
#include "suite/environment/environment.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>

#include "common/base/made_up_root.h"

namespace krepro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// What ends a gzip file: the CRC of the content (as zlib has it) and its length.
std::string gzip_trailer(const std::string& content) {
  std::uint32_t crc = 0xffffffffU;
  for (const char letter : content) {
    crc ^= static_cast<unsigned char>(letter);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  crc = ~crc;
  std::string trailer;
  for (const std::uint32_t number : {crc, static_cast<std::uint32_t>(content.size())}) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      trailer += static_cast<char>(number >> shift & 0xffU);
    }
  }
  return trailer;
}

/// The head of an ELF program whose only part is the note of a build id, "cafe".
std::string program_with_build_id() {
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_phoff = sizeof file;
  file.e_phnum = 1;
  Elf64_Phdr part{};
  part.p_type = PT_NOTE;
  part.p_offset = sizeof file + sizeof part;
  const std::string note("\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xca\xfe\0\0", 20);
  part.p_filesz = note.size();
  std::string bytes(reinterpret_cast<const char*>(&file), sizeof file);
  bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
  return bytes + note;
}

class EnvironmentTest : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const { made_up_.put(path, text); }
  [[nodiscard]] json environment() const { return read_environment(made_up_.host()); }
  [[nodiscard]] json value(const std::string& name) const {
    return environment_value(environment(), name);
  }

  test::MadeUpRoot made_up_;
  std::filesystem::path root_ = made_up_.path();
};

TEST_F(EnvironmentTest, AnEmptyMachineHasAReasonForEveryItemAndNoCrash) {
  const json all = environment();
  EXPECT_EQ(all.size(), environment_items().size());
  for (const auto& [name, item] : all.items()) {
    if (!item.at("value").is_null()) continue;
    EXPECT_FALSE(item.at("reason").get<std::string>().empty()) << name;
    EXPECT_FALSE(item.at("source").get<std::string>().empty()) << name;
  }
}

TEST_F(EnvironmentTest, ThisMachineHasAKernel) {
  const json all = read_environment(HostFiles("/"));
  EXPECT_TRUE(environment_value(all, "kernel.release").is_string());
  EXPECT_TRUE(environment_value(all, "cpu.count_online").is_number());
}

TEST_F(EnvironmentTest, NamesAreUnique) {
  std::set<std::string> names;
  for (const EnvironmentItem& item : environment_items()) {
    EXPECT_TRUE(names.insert(item.name).second) << item.name;
  }
}

TEST_F(EnvironmentTest, TheBuildIdIsFoundAmongOtherNotes) {
  const std::string other("\4\0\0\0\3\0\0\0\x01\x01\0\0Xen\0abc\0", 20);
  const std::string build_id("\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\xde\xad\xbe\xef", 20);
  put("sys/kernel/notes", other + build_id);
  EXPECT_EQ(kernel_build_id(made_up_.host()), "deadbeef");
  EXPECT_EQ(value("kernel.build_id"), "deadbeef");
}

TEST_F(EnvironmentTest, BrokenNotesAreNoBuildId) {
  put("sys/kernel/notes", std::string("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0", 16));
  EXPECT_EQ(kernel_build_id(made_up_.host()), "");
  EXPECT_EQ(environment().at("kernel.build_id").at("reason"), "no build id among the notes");
}

TEST_F(EnvironmentTest, GovernorsAreGroupedByCpu) {
  for (const auto& [cpu, governor] :
       {std::pair(0, "powersave"), {1, "powersave"}, {2, "performance"}}) {
    put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor", governor);
  }
  EXPECT_EQ(value("cpu.governor"), json({{"powersave", "0-1"}, {"performance", "2"}}));
}

TEST_F(EnvironmentTest, WithoutFrequencyScalingThereIsNoGovernor) {
  EXPECT_EQ(environment().at("cpu.governor").at("reason"), "absent");
}

TEST_F(EnvironmentTest, LastLevelCachesNeedNoIds) {
  put("sys/devices/system/cpu/online", "0-3\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string cache = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
    put(cache + "0/level", "1");
    put(cache + "0/type", "Data");
    put(cache + "3/level", "3");
    put(cache + "3/type", "Unified");
    put(cache + "3/shared_cpu_list", cpu < 2 ? "0-1" : "2-3");
    put(cache + "3/size", "16384K");
  }
  EXPECT_EQ(value("cpu.llcs"), json({{"0-1", "16384K"}, {"2-3", "16384K"}}));
}

TEST_F(EnvironmentTest, AKernelWithoutNumaFilesHasNoNodes) {
  EXPECT_EQ(environment().at("cpu.numa_nodes").at("reason"), "absent");
}

TEST_F(EnvironmentTest, ArmProcessorsAreNamedByTheirNumbers) {
  put("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
  EXPECT_EQ(value("cpu.model"), "implementer 0x41 part 0xd40");
}

TEST_F(EnvironmentTest, AVirtualMachineIsSeenByItsFlag) {
  put("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor lahf_lm\n");
  EXPECT_EQ(value("virtualisation.kind"), "virtual machine");
  put("proc/cpuinfo", "processor : 0\nflags : fpu lahf_lm\n");
  EXPECT_EQ(value("virtualisation.kind"), "none seen");
}

TEST_F(EnvironmentTest, StealIsAShareOfAllTime) {
  put("proc/stat", "cpu 100 0 100 700 0 0 0 100 0 0\nctxt 5\n");
  EXPECT_DOUBLE_EQ(value("virtualisation.steal_share").get<double>(), 0.1);
}

TEST_F(EnvironmentTest, TheChosenWordIsTheOneInBrackets) {
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n");
  EXPECT_EQ(value("memory.thp"), "madvise");
  EXPECT_EQ(value("kernel.preemption"), "full");
}

TEST_F(EnvironmentTest, LimitsOfTheControlGroupAreItsOwn) {
  put("proc/self/cgroup", "0::/user.slice/job\n");
  put("sys/fs/cgroup/user.slice/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(value("cgroup.path"), "/user.slice/job");
  EXPECT_EQ(value("cgroup.cpu_max"), "50000 100000");
  EXPECT_EQ(environment().at("cgroup.pids_max").at("reason"), "absent");
}

TEST_F(EnvironmentTest, ProcessLimitsAreReadByColumn) {
  put("proc/self/limits",
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max open files            1024                 4096                 files     \n"
      "Max processes             100                  100                  processes \n");
  EXPECT_EQ(value("limits.process"),
            json({{"open files", "1024 (hard: 4096)"}, {"processes", "100"}}));
}

TEST_F(EnvironmentTest, TheHostsNameIsMarkedAsIdentifying) {
  put("proc/sys/kernel/hostname", "lab7\n");
  EXPECT_EQ(environment().at("host.name"),
            json({{"value", "lab7"}, {"source", "/proc/sys/kernel/hostname"}, {"identity", true}}));
}

TEST_F(EnvironmentTest, AFileThatMayNotBeReadSaysSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  put("proc/cmdline", "quiet");
  std::filesystem::permissions(root_ / "proc/cmdline", std::filesystem::perms::none);
  EXPECT_EQ(environment().at("kernel.cmdline").at("reason"), "no permission");
}

// The kernel -----------------------------------------------------------------------------------

TEST_F(EnvironmentTest, TheConfigurationIsReadFromBootWithItsHash) {
  put("proc/sys/kernel/osrelease", "6.1\n");
  put("boot/config-6.1", "CONFIG_HZ=250\n# CONFIG_SCHEDSTATS is not set\nCONFIG_NUMA=y\n");
  const json config = value("kernel.config");
  EXPECT_EQ(config.at("CONFIG_HZ"), "250");
  EXPECT_EQ(config.at("CONFIG_SCHEDSTATS"), "n");
  EXPECT_EQ(config.at("options_set"), 2);
  put("boot/config-6.1", "CONFIG_HZ=250\nCONFIG_NUMA=y\nCONFIG_OTHER=m\n");
  EXPECT_NE(value("kernel.config").at("hash"), config.at("hash"));
}

TEST_F(EnvironmentTest, TheKernelsOwnConfigurationComesFirst) {
  // gzip of "CONFIG_HZ=1000\n", without name and time.
  put("proc/config.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03"
                                    "\x01\x0f\x00\xf0\xff"
                                    "CONFIG_HZ=1000\n",
                                    10 + 5 + 15) +
                            gzip_trailer("CONFIG_HZ=1000\n"));
  put("proc/sys/kernel/osrelease", "6.1\n");
  put("boot/config-6.1", "CONFIG_HZ=250\n");
  EXPECT_EQ(value("kernel.config").at("CONFIG_HZ"), "1000");
  EXPECT_EQ(environment().at("kernel.config").at("source"), "/proc/config.gz");
  put("proc/config.gz", "no gzip");
  EXPECT_THAT(environment().at("kernel.config").at("reason"), HasSubstr("not a gzip file"));
}

TEST_F(EnvironmentTest, CompilerAndLayoutAreTold) {
  put("proc/version", "Linux version 6.1 (me@here) (gcc (Debian 12.2) 12.2.0, GNU ld 2.40) #1 SMP");
  put("proc/cmdline", "quiet nokaslr randomize_kstack_offset=on\n");
  EXPECT_EQ(value("kernel.compiler"), "gcc (Debian 12.2) 12.2.0, GNU ld 2.40");
  EXPECT_EQ(value("kernel.kaslr_offset"), "off");
  EXPECT_EQ(value("kernel.kstack_randomisation"), "on");
  put("proc/cmdline", "quiet\n");
  put("proc/kcore", "note VMCOREINFO\nKERNELOFFSET=2c000000\nNUMBER(x)=1\n");
  EXPECT_EQ(value("kernel.kaslr_offset"), "2c000000");
}

TEST_F(EnvironmentTest, DebugfsSaysWhyItTellsNothing) {
  EXPECT_THAT(environment().at("scheduler.base_slice_ns").at("reason"), HasSubstr("debugfs"));
  put("sys/kernel/debug/sched/base_slice_ns", "2800000\n");
  put("sys/kernel/debug/sched/numa_balancing/scan_size_mb", "256\n");
  put("sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n");
  put("sys/kernel/debug/sched/domains/cpu0/domain0/name", "MC\n");
  put("sys/kernel/debug/sched/domains/cpu0/domain0/imbalance_pct", "117\n");
  EXPECT_EQ(value("scheduler.base_slice_ns"), 2800000);
  EXPECT_EQ(value("scheduler.numa_balancing_tunables"), json({{"scan_size_mb", 256}}));
  EXPECT_EQ(value("scheduler.fair_server"), json({{"runtime", 50000000}}));
  EXPECT_EQ(value("scheduler.domains"), json({{"MC", {{"imbalance_pct", 117}}}}));
  EXPECT_EQ(environment().at("scheduler.nr_migrate").at("reason"), "absent");
}

TEST_F(EnvironmentTest, ALoadedSchedulerIsNamed) {
  put("sys/kernel/sched_ext/state", "disabled\n");
  EXPECT_EQ(value("scheduler.extension"), "none");
  put("sys/kernel/sched_ext/state", "enabled\n");
  put("sys/kernel/sched_ext/root/ops", "rusty\n");
  put("sys/kernel/sched_ext/enable_seq", "3\n");
  EXPECT_EQ(value("scheduler.extension"), "rusty");
  EXPECT_EQ(value("scheduler.extension_enables"), 3);
}

// CPUs -----------------------------------------------------------------------------------------

TEST_F(EnvironmentTest, IdleStatesHeatAndLatencyRequests) {
  put("sys/devices/system/cpu/online", "0-1\n");
  const std::string cpu0 = "sys/devices/system/cpu/cpu0/";
  put(cpu0 + "cpuidle/state0/name", "POLL");
  put(cpu0 + "cpuidle/state0/latency", "0");
  put(cpu0 + "cpuidle/state1/name", "C6");
  put(cpu0 + "cpuidle/state1/latency", "133");
  put(cpu0 + "thermal_throttle/core_throttle_count", "3");
  put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4");
  put("dev/cpu_dma_latency", std::string("\x00\x94\x35\x77", 4));  // 2,000,000,000: no request
  EXPECT_EQ(value("cpu.throttle_count"), 7);
  EXPECT_EQ(value("cpu.idle_states").at(1).at("name"), "C6");
  EXPECT_EQ(value("cpu.idle_states").at(1).at("latency_us"), 133);
  EXPECT_EQ(value("cpu.latency_request_us"), "none");
  put("dev/cpu_dma_latency", std::string("\x0a\x00\x00\x00", 4));
  EXPECT_EQ(value("cpu.latency_request_us"), 10);
}

TEST_F(EnvironmentTest, ThePartsOfAHeterogeneousMachineAreTold) {
  put("sys/devices/system/cpu/cpu0/cpu_capacity", "446");
  put("sys/devices/system/cpu/cpu1/cpu_capacity", "1024");
  put("sys/devices/system/cpu/cpu1/regs/identification/midr_el1", "0x00000000410fd460");
  EXPECT_EQ(value("cpu.capacity"), json({{"446", "0"}, {"1024", "1"}}));
  EXPECT_EQ(value("cpu.part"), "0x00000000410fd460");
}

// Memory, disks, network, limits ---------------------------------------------------------------

TEST_F(EnvironmentTest, MemoryInItsParts) {
  put("proc/buddyinfo", "Node 0, zone   Normal   10  20   3\nNode 1, zone Normal 1 0 0\n");
  put("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1024 8 -2\n");
  put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "64\n");
  put("sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "always inherit [never]\n");
  put("proc/sys/vm/dirty_ratio", "20\n");
  EXPECT_EQ(value("memory.fragmentation"),
            json({{"node0 Normal", {10, 20, 3}}, {"node1 Normal", {1, 0, 0}}}));
  EXPECT_EQ(value("memory.swaps"),
            json({{"/dev/sda2", {{"type", "partition"}, {"size_bytes", 1048576}}}}));
  EXPECT_EQ(value("memory.huge_page_pools"), json({{"2048kB", 64}}));
  EXPECT_EQ(value("memory.thp_sizes"), json({{"64kB", "never"}}));
  EXPECT_EQ(value("memory.writeback"), json({{"dirty_ratio", 20}}));
}

TEST_F(EnvironmentTest, DisksAndMounts) {
  const std::string disk = "sys/block/nvme0n1/";
  put(disk + "size", "2048\n");
  put(disk + "queue/scheduler", "[none] mq-deadline\n");
  put(disk + "queue/write_cache", "write back\n");
  put(disk + "queue/discard_max_bytes", "4096\n");
  put(disk + "device/model", "Amazon EC2 NVMe Instance Storage\n");
  put(disk + "device/serial", "AWS12345\n");
  put("sys/block/ram0/size", "2048\n");
  put("sys/block/loop0/size", "0\n");
  put("proc/self/mountinfo",
      "27 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw,discard\n"
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "30 27 0:30 / /tmp rw - tmpfs tmpfs rw,size=1k\n"
      "31 27 0:31 / /run rw - tmpfs tmpfs rw\n");
  const json devices = value("storage.devices");
  EXPECT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices.at("nvme0n1").at("scheduler"), "none");
  EXPECT_EQ(devices.at("nvme0n1").at("size_bytes"), 1048576);
  EXPECT_EQ(environment().at("storage.serials"), json({{"value", {{"nvme0n1", "AWS12345"}}},
                                                       {"source", "/sys/block/*/device/serial"},
                                                       {"identity", true}}));
  EXPECT_EQ(value("storage.mounts").size(), 2U);
  EXPECT_EQ(value("storage.mounts").at("/").at("options"), "rw,relatime,rw,discard");
}

TEST_F(EnvironmentTest, SteeringOfPacketsAndInterrupts) {
  put("sys/class/net/eth0/queues/rx-0/rps_cpus", "00000000,0000000f\n");
  put("sys/class/net/eth0/queues/rx-1/rps_cpus", "0\n");
  put("sys/class/net/eth0/queues/tx-0/xps_cpus", "1\n");
  put("sys/class/net/eth0/threaded", "0\n");
  put("proc/irq/24/smp_affinity_list", "0-3\n");
  put("proc/irq/25/smp_affinity_list", "0-3\n");
  put("proc/irq/26/smp_affinity_list", "2\n");
  const json eth0 = value("network.interfaces").at("eth0");
  EXPECT_EQ(eth0.at("rx"), 2);
  EXPECT_EQ(eth0.at("rps"), 1);
  EXPECT_EQ(eth0.at("xps"), 1);
  EXPECT_EQ(value("interrupts.affinity"), json({{"0-3", 2}, {"2", 1}}));
}

TEST_F(EnvironmentTest, ProgramsThatTuneMachinesAreFound) {
  put("proc/1/comm", "systemd\n");
  EXPECT_EQ(value("load.daemons"), json::array());
  put("proc/200/comm", "irqbalance\n");
  put("proc/201/comm", "scx_rusty\n");
  EXPECT_EQ(value("load.daemons"), json({"irqbalance", "scx_rusty"}));
}

TEST_F(EnvironmentTest, TheTightestQuotaAboveCounts) {
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(value("cgroup.cpu_quota"), "none");
  put("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  EXPECT_EQ(value("cgroup.cpu_quota"), 0.5);
  EXPECT_EQ(environment().at("cgroup.cpu_quota").at("source"), "/sys/fs/cgroup/a/cpu.max");
  put("sys/fs/cgroup/a/b/cpu.max", "25000 100000\n");
  EXPECT_EQ(value("cgroup.cpu_quota"), 0.25);
}

TEST_F(EnvironmentTest, VersionOneGroupsHaveFilesOfTheirOwn) {
  put("proc/self/cgroup", "8:pids:/\n4:memory:/job\n3:cpuset:/\n2:cpu,cpuacct:/job\n0::/\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
  put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu/job/cpu.shares", "512\n");
  put("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 10\nnr_throttled 4\n");
  put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(value("cgroup.cpu_quota"), 1.5);
  EXPECT_EQ(value("cgroup.cpu_weight"), "512");
  EXPECT_EQ(value("cgroup.cpu_throttled"), 4);
  EXPECT_EQ(value("cgroup.memory_max"), "1048576");
}

TEST_F(EnvironmentTest, WhatTheProcessMayDo) {
  put("proc/self/status",
      "Name:\tkrepro\nUid:\t1000\t0\t0\t0\nSeccomp:\t2\nCpus_allowed_list:\t1\n");
  EXPECT_EQ(value("limits.seccomp"), 2);
  EXPECT_EQ(value("limits.user"), "root");
  EXPECT_EQ(value("limits.cpus_allowed"), "1");
}

TEST_F(EnvironmentTest, CountersThatCannotBeHadSayWhy) {
  EXPECT_EQ(environment().at("counters.schedstat_version").at("reason"),
            "absent: built without CONFIG_SCHEDSTATS");
  put("proc/schedstat", "version 17\ntimestamp 1\n");
  put("proc/vmstat", "nr_free_pages 1\n");
  EXPECT_EQ(value("counters.schedstat_version"), 17);
  EXPECT_EQ(value("counters.vmstat"), true);
}

TEST_F(EnvironmentTest, LibrariesAndServersAreToldApartByBuildId) {
  EXPECT_EQ(environment().at("software.nginx").at("reason"),
            "not installed where it is looked for");
  put("usr/sbin/nginx", program_with_build_id());
  put("usr/lib/x86_64-linux-gnu/libc.so.6", "no ELF");
  EXPECT_EQ(value("software.nginx"), json({{"/usr/sbin/nginx", "cafe"}}));
  EXPECT_EQ(value("software.libc").at("/usr/lib/x86_64-linux-gnu/libc.so.6"), "");
}

// Drift, and what reading costs -----------------------------------------------------------------

TEST_F(EnvironmentTest, DriftLeavesOutWhatVariesByItself) {
  put("proc/loadavg", "0.10 0 0 1/1 1\n");
  put("proc/sys/kernel/numa_balancing", "0\n");
  const json before = environment();
  put("proc/loadavg", "7.00 0 0 1/1 1\n");
  put("proc/sys/kernel/numa_balancing", "1\n");
  const json after = environment();
  const std::vector<EnvironmentChange> drift = environment_drift(before, after);
  ASSERT_EQ(drift.size(), 1U);
  EXPECT_EQ(drift[0].item, "scheduler.numa_balancing");
  EXPECT_EQ(drift[0].before, 0);
  EXPECT_EQ(drift[0].after, 1);
  const json changed = changed_items(before, after);
  EXPECT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed.at("load.average_1min").at("varies"), true);
  EXPECT_TRUE(environment_drift(before, before).empty());
}

/// 1,536 CPUs under 96 caches: one folder of files for each cache, which its CPUs share.
TEST_F(EnvironmentTest, TheWorkOnALargeMachineIsBounded) {
  constexpr int cpus = 1536;
  constexpr int caches = 96;
  constexpr int per_cache = cpus / caches;
  const std::string folder = "sys/devices/system/cpu/";
  put(folder + "online", "0-1535\n");
  for (int cache = 0; cache < caches; ++cache) {
    const std::string name = "template" + std::to_string(cache) + "/";
    const int first = cache * per_cache;
    const std::string list = std::to_string(first) + "-" + std::to_string(first + per_cache - 1);
    for (const char* file :
         {"cpufreq/scaling_governor", "cpufreq/scaling_driver", "cpufreq/scaling_min_freq",
          "cpufreq/scaling_max_freq", "cpufreq/energy_performance_preference", "cpu_capacity",
          "thermal_throttle/core_throttle_count"}) {
      put(name + file, "1\n");
    }
    put(name + "topology/thread_siblings_list", list);
    put(name + "topology/package_cpus_list", list);
    put(name + "cache/index3/level", "3");
    put(name + "cache/index3/shared_cpu_list", list);
    put(name + "cache/index3/size", "32768K");
    for (int cpu = first; cpu < first + per_cache; ++cpu) {
      std::filesystem::create_directory_symlink(root_ / name,
                                                root_ / (folder + "cpu" + std::to_string(cpu)));
    }
  }
  const HostFiles host(root_);
  const json all = read_environment(host);
  EXPECT_EQ(environment_value(all, "cpu.llcs").size(), 96U);
  EXPECT_EQ(environment_value(all, "cpu.governor"), "1");
  EXPECT_EQ(environment_value(all, "cpu.throttle_count"), cpus);
  EXPECT_LE(host.opened(), 16U * cpus);
  RecordProperty("opened", static_cast<int>(host.opened()));
}

}  // namespace
}  // namespace krepro
