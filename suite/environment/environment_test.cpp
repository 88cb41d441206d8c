// The environment of machines that are not this one, by trees of files that stand for them.
#include "suite/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace krepro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A directory that stands for "/".
class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() {
    char pattern[] = "/tmp/krepro-environment-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~EnvironmentTest() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  [[nodiscard]] json environment() const { return read_environment(HostFiles(root_)); }
  [[nodiscard]] json value(const std::string& name) const {
    return environment_value(environment(), name);
  }

  std::filesystem::path root_;
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
  EXPECT_EQ(kernel_build_id(HostFiles(root_)), "deadbeef");
  EXPECT_EQ(value("kernel.build_id"), "deadbeef");
}

TEST_F(EnvironmentTest, BrokenNotesAreNoBuildId) {
  put("sys/kernel/notes", std::string("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0", 16));
  EXPECT_EQ(kernel_build_id(HostFiles(root_)), "");
  EXPECT_EQ(environment().at("kernel.build_id").at("reason"), "no build id among the notes");
}

TEST_F(EnvironmentTest, GovernorsAreGroupedByCpu) {
  for (const auto& [cpu, governor] :
       {std::pair(0, "powersave"), {1, "powersave"}, {2, "performance"}}) {
    put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor", governor);
  }
  EXPECT_EQ(value("cpu.governor"), json({{"powersave", "0-1"}, {"performance", "2"}}));
  EXPECT_THAT(environment_warnings(environment()).at(0), HasSubstr("governor"));
}

TEST_F(EnvironmentTest, WithoutFrequencyScalingNothingIsWarnedOf) {
  EXPECT_EQ(environment().at("cpu.governor").at("reason"), "absent");
  EXPECT_TRUE(environment_warnings(environment()).empty());
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
  EXPECT_THAT(environment_warnings(environment()).at(0), HasSubstr("10.0 %"));
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

TEST_F(EnvironmentTest, ALoadedMachineIsWarnedOf) {
  put("proc/loadavg", "3.50 1.00 0.50 1/100 4711\n");
  put("sys/devices/system/cpu/online", "0-1\n");
  EXPECT_THAT(environment_warnings(environment()).at(0), HasSubstr("load average is 3.5"));
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

}  // namespace
}  // namespace krepro
