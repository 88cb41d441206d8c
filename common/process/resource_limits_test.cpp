// Limits against needs, on machines made of files: control groups of both versions, ordinary users,
// containers, missing files.
#include "common/process/resource_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/base/error.h"
#include "common/process/cgroup_pids.h"

namespace krepro {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ResourceLimitsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/krepro-limits-test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    getrlimit(RLIMIT_NOFILE, &before_);
    // An ordinary machine and an ordinary user, with room for everything.
    user("1000", "0000000000000000");
    limits("1024", "524288", "63000");
    write("/proc/self/uid_map", "         0          0 4294967295\n");
    write("/proc/loadavg", "0.10 0.20 0.30 1/250 4711\n");
    write("/proc/sys/kernel/pid_max", "4194304\n");
    write("/proc/sys/kernel/threads-max", "192729\n");
    write("/proc/sys/vm/max_map_count", "65530\n");
    write("/proc/sys/fs/file-max", "9223372036854775807\n");
    write("/proc/sys/fs/file-nr", "1500\t0\t9223372036854775807\n");
    write("/proc/sys/fs/nr_open", "1048576\n");
  }
  void TearDown() override {
    setrlimit(RLIMIT_NOFILE, &before_);
    std::filesystem::remove_all(root_);
  }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path.substr(1)).parent_path());
    std::ofstream(root_ / path.substr(1)) << text;
  }
  void user(const std::string& uid, const std::string& capabilities) const {
    write("/proc/self/status", "Name:\tkrepro\nUid:\t" + uid + "\t" + uid + "\t" + uid + "\t" +
                                   uid + "\nThreads:\t1\nCapEff:\t" + capabilities + "\n");
  }
  void limits(const std::string& soft_files, const std::string& hard_files,
              const std::string& processes) const {
    write("/proc/self/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max processes             " +
              processes + "   " + processes +
              "   processes \n"
              "Max open files            " +
              soft_files + "   " + hard_files + "   files     \n");
  }
  /// The version 2 hierarchy alone, with this process in `path`.
  void cgroup_v2(const std::string& path) const {
    write("/proc/self/cgroup", "0::" + path + "\n");
    write("/proc/self/mountinfo",
          "22 1 0:5 / / rw - ext4 /dev/vda rw\n"
          "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  /// Version 1 controllers beside a version 2 hierarchy without controllers.
  void cgroup_v1(const std::string& path, const std::string& mount_root = "/") const {
    write("/proc/self/cgroup", "9:name=systemd:/x\n8:pids:" + path + "\n4:memory:/m\n0::/\n");
    write("/proc/self/mountinfo",
          "38 30 0:35 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
          "39 30 0:36 " +
              mount_root +
              " /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
              "40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  }

  [[nodiscard]] HostFiles host() const { return HostFiles(root_); }
  [[nodiscard]] std::vector<LimitShortfall> shortfalls(const ResourceNeeds& needs) const {
    return find_shortfalls(needs, host());
  }
  /// Name of each limit that is too low for so many tasks.
  [[nodiscard]] std::vector<std::string> short_for_tasks(std::uint64_t tasks) const {
    std::vector<std::string> names;
    for (const LimitShortfall& shortfall : shortfalls({.tasks = tasks})) {
      names.push_back(shortfall.limit);
    }
    return names;
  }
  [[nodiscard]] Error error(const ResourceNeeds& needs) const {
    try {
      require_resources(needs, host());
    } catch (const Error& thrown) {
      return thrown;
    }
    return Error(ExitCode::ok, "no error");
  }

  std::filesystem::path root_;
  rlimit before_ = {};
};

TEST_F(ResourceLimitsTest, EnoughIsNoShortfall) {
  EXPECT_THAT(shortfalls({.descriptors = 100, .tasks = 10'240, .mappings = 20'000}), IsEmpty());
  EXPECT_NO_THROW(require_resources({.descriptors = 100, .tasks = 10'240}, host()));
  EXPECT_THAT(shortfalls({}), IsEmpty());
}

TEST_F(ResourceLimitsTest, NamesPidMaxWithWhatIsInUse) {
  write("/proc/sys/kernel/pid_max", "32768\n");
  EXPECT_THAT(short_for_tasks(32'768 - 300 - 250), IsEmpty()) << "300 pids are reserved";
  const auto found = shortfalls({.tasks = 40'000});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "kernel.pid_max");
  EXPECT_EQ(found[0].available, 32'768U);
  EXPECT_EQ(found[0].needed, 40'000U + 250U + 300U);
  EXPECT_EQ(found[0].remedy, "sudo sysctl -w kernel.pid_max=40550");
}

TEST_F(ResourceLimitsTest, MoreTasksThanAnyPidMaxAllowsSaysSo) {
  const Error thrown = error({.tasks = 5'000'000});
  EXPECT_EQ(thrown.code(), ExitCode::not_possible);
  EXPECT_THAT(thrown.remedy(),
              HasSubstr("use fewer tasks: kernel.pid_max cannot be above 4,194,304"));
}

TEST_F(ResourceLimitsTest, TheMessageListsEachLimitAndEachCommand) {
  write("/proc/sys/kernel/pid_max", "32768\n");
  write("/proc/sys/vm/max_map_count", "1000\n");
  user("0", "000001ffffffffff");
  const Error thrown = error({.tasks = 4'000'000, .mappings = 2'000});
  EXPECT_STREQ(thrown.what(),
               "4,000,000 tasks need kernel.pid_max of at least 4,000,550 (now 32,768), "
               "kernel.threads-max of at least 4,000,250 (now 192,729); "
               "2,000 memory mappings need vm.max_map_count of at least 2,000 (now 1,000)");
  EXPECT_EQ(thrown.remedy(),
            "sudo sysctl -w kernel.pid_max=4000550; sudo sysctl -w kernel.threads-max=4000250; "
            "sudo sysctl -w vm.max_map_count=2000");
}

TEST_F(ResourceLimitsTest, CountsTheUsersTasksAgainstTheUsersLimit) {
  limits("1024", "4096", "500");
  write("/proc/77/status", "Uid:\t1000\t1000\t1000\t1000\nThreads:\t90\n");
  write("/proc/78/status", "Uid:\t1000\t0\t0\t0\nThreads:\t10\n");
  write("/proc/79/status", "Uid:\t1001\t1001\t1001\t1001\nThreads:\t300\n");
  EXPECT_THAT(short_for_tasks(400), IsEmpty());
  const auto found = shortfalls({.tasks = 401});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "RLIMIT_NPROC");
  EXPECT_EQ(found[0].available, 500U);
  EXPECT_EQ(found[0].needed, 501U);
  EXPECT_EQ(found[0].remedy, "sudo prlimit --pid $$ --nproc=501:501");
}

TEST_F(ResourceLimitsTest, TheUsersLimitDoesNotHoldForRootAndCapableProcesses) {
  limits("1024", "4096", "5");
  EXPECT_THAT(short_for_tasks(400), testing::ElementsAre("RLIMIT_NPROC"));
  user("1000", "0000000001000000");  // CAP_SYS_RESOURCE.
  EXPECT_THAT(short_for_tasks(400), IsEmpty());
  user("0", "0000000000000000");
  EXPECT_THAT(short_for_tasks(400), IsEmpty());
  write("/proc/self/uid_map", "0 1000 1\n");
  user("0", "000001ffffffffff");
  EXPECT_THAT(short_for_tasks(400), testing::ElementsAre("RLIMIT_NPROC"))
      << "root of a rootless container is an ordinary user";
}

TEST_F(ResourceLimitsTest, NamesTheDescriptorLimitAndTheSettingAboveIt) {
  const auto found = shortfalls({.descriptors = 600'000});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "RLIMIT_NOFILE");
  EXPECT_EQ(found[0].available, 524'288U) << "the hard limit counts";
  EXPECT_EQ(found[0].remedy, "sudo prlimit --pid $$ --nofile=600000:600000");
  EXPECT_EQ(shortfalls({.descriptors = 2'000'000})[0].remedy,
            "sudo sysctl -w fs.nr_open=2000000; sudo prlimit --pid $$ --nofile=2000000:2000000");
}

TEST_F(ResourceLimitsTest, CountsOpenDescriptors) {
  for (const char* number : {"0", "1", "2", "3"}) {
    write(std::string("/proc/self/fd/") + number, "");
  }
  limits("64", "64", "unlimited");
  EXPECT_THAT(shortfalls({.descriptors = 60}), IsEmpty());
  EXPECT_EQ(shortfalls({.descriptors = 61}).at(0).needed, 65U);
}

TEST_F(ResourceLimitsTest, CountsTheSystemsFilesUnlessPrivileged) {
  write("/proc/sys/fs/file-max", "2000\n");
  const auto found = shortfalls({.descriptors = 501});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "fs.file-max");
  EXPECT_EQ(found[0].needed, 2001U);
  EXPECT_THAT(shortfalls({.descriptors = 500}), IsEmpty());
  user("0", "000001ffffffffff");
  EXPECT_THAT(shortfalls({.descriptors = 501}), IsEmpty());
}

TEST_F(ResourceLimitsTest, CountsMappingsInUse) {
  write("/proc/self/maps", "a\nb\nc\n");
  write("/proc/sys/vm/max_map_count", "100\n");
  EXPECT_THAT(shortfalls({.mappings = 97}), IsEmpty());
  EXPECT_EQ(shortfalls({.mappings = 98}).at(0).needed, 101U);
}

TEST_F(ResourceLimitsTest, ChecksEveryLevelOfVersion2) {
  cgroup_v2("/system.slice/night.service/run");
  write("/sys/fs/cgroup/system.slice/night.service/run/pids.max", "max\n");
  write("/sys/fs/cgroup/system.slice/night.service/run/pids.current", "3\n");
  write("/sys/fs/cgroup/system.slice/night.service/pids.max", "64\n");
  write("/sys/fs/cgroup/system.slice/night.service/pids.current", "4\n");
  write("/sys/fs/cgroup/system.slice/pids.max", "1000\n");
  write("/sys/fs/cgroup/system.slice/pids.current", "900\n");
  EXPECT_THAT(short_for_tasks(60), IsEmpty());
  const auto found = shortfalls({.tasks = 400});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].limit, "cgroup pids.max (/system.slice/night.service)");
  EXPECT_EQ(found[0].available, 64U);
  EXPECT_EQ(found[0].needed, 404U);
  EXPECT_EQ(found[0].remedy, "sudo systemctl set-property --runtime night.service TasksMax=404");
  EXPECT_EQ(found[1].limit, "cgroup pids.max (/system.slice)");
  EXPECT_EQ(found[1].needed, 1300U);
}

TEST_F(ResourceLimitsTest, ChecksTheContainersOwnRootOfVersion2) {
  cgroup_v2("/");
  write("/sys/fs/cgroup/pids.max", "64\n");
  write("/sys/fs/cgroup/pids.current", "2\n");
  const auto found = shortfalls({.tasks = 400});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].limit, "cgroup pids.max (/)");
  EXPECT_EQ(found[0].remedy, "echo 402 | sudo tee /sys/fs/cgroup/pids.max");
}

TEST_F(ResourceLimitsTest, ChecksVersion1) {
  cgroup_v1("/jobs/one");
  write("/sys/fs/cgroup/pids/jobs/one/pids.max", "100\n");
  write("/sys/fs/cgroup/pids/jobs/pids.max", "50\n");
  write("/sys/fs/cgroup/pids/jobs/pids.current", "10\n");
  EXPECT_THAT(short_for_tasks(40), IsEmpty());
  EXPECT_THAT(short_for_tasks(41), testing::ElementsAre("cgroup pids.max (/jobs)"));
  EXPECT_THAT(short_for_tasks(101),
              testing::ElementsAre("cgroup pids.max (/jobs/one)", "cgroup pids.max (/jobs)"));
}

TEST_F(ResourceLimitsTest, FindsTheGroupWhereTheContainersMountBeginsBelowTheRoot) {
  cgroup_v1("/docker/abc/inner", "/docker/abc");
  write("/sys/fs/cgroup/pids/inner/pids.max", "70\n");
  write("/sys/fs/cgroup/pids/pids.max", "60\n");
  const auto limits = cgroup_pids_limits(host());
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[0].path, "/docker/abc/inner");
  EXPECT_EQ(limits[0].file, "/sys/fs/cgroup/pids/inner/pids.max");
  EXPECT_EQ(limits[0].max, 70U);
  EXPECT_EQ(limits[1].path, "/docker/abc");
  EXPECT_EQ(limits[1].max, 60U);
}

TEST_F(ResourceLimitsTest, APathOutsideOfTheMountMeansTheMountItself) {
  cgroup_v1("/elsewhere/abc", "/docker/abc");
  write("/sys/fs/cgroup/pids/pids.max", "60\n");
  EXPECT_EQ(cgroup_pids_limits(host()).at(0).max, 60U);
  cgroup_v2("/../sibling");
  write("/sys/fs/cgroup/pids.max", "50\n");
  EXPECT_EQ(cgroup_pids_limits(host()).at(0).max, 50U);
}

TEST_F(ResourceLimitsTest, MissingFilesAreNoLimits) {
  std::filesystem::remove_all(root_ / "proc");
  EXPECT_THAT(shortfalls({.descriptors = 1'000'000, .tasks = 1'000'000, .mappings = 1'000'000}),
              IsEmpty());
}

TEST_F(ResourceLimitsTest, GarbageIsNoLimit) {
  write("/proc/sys/kernel/pid_max", "what\n");
  write("/proc/sys/kernel/threads-max", "");
  write("/proc/loadavg", "what");
  write("/proc/self/cgroup", "what\n::\n0:\n");
  write("/proc/self/mountinfo", "\nwhat\n1 2 3\n");
  EXPECT_THAT(short_for_tasks(60'000), IsEmpty());
}

TEST_F(ResourceLimitsTest, NeedsNearTheLargestNumberDoNotWrap) {
  EXPECT_EQ(short_for_tasks(~0ULL),
            (std::vector<std::string>{"RLIMIT_NPROC", "kernel.pid_max", "kernel.threads-max"}));
}

TEST_F(ResourceLimitsTest, RaisesTheSoftDescriptorLimit) {
  const rlimit low = {64, before_.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_THAT(find_shortfalls({.descriptors = 200}), IsEmpty());
  rlimit now = {};
  getrlimit(RLIMIT_NOFILE, &now);
  EXPECT_GE(now.rlim_cur, 203U) << "what is open already counts";
  EXPECT_LT(now.rlim_cur, 1000U) << "no more than is needed";
  EXPECT_EQ(now.rlim_max, before_.rlim_max);
}

TEST_F(ResourceLimitsTest, ThisMachineHasRoomForALittle) {
  EXPECT_THAT(find_shortfalls({.descriptors = 20, .tasks = 4, .mappings = 20}), IsEmpty());
}

}  // namespace
}  // namespace krepro
