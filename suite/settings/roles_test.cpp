// The roles' control groups on made-up hierarchies of both versions and on this machine's own, and
// sched_ext with a script in the scheduler's place.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/made_up_root.h"
#include "common/process/child.h"
#include "suite/settings/role_groups.h"
#include "suite/settings/sched_ext.h"

namespace krepro {
namespace {

using test::MadeUpRoot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// A directory made in a control group hierarchy has files at once.
struct MadeUpHierarchy {
  explicit MadeUpHierarchy(int version) {
    root.put("/proc/self/mountinfo", version == 1
                                         ? "1 0 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                                         : "1 0 0:1 / /cg rw - cgroup2 cgroup2 rw\n");
    std::filesystem::create_directories(root.path() / (version == 1 ? "cg/cpu" : "cg"));
    if (version == 1) return;
    root.put("/cg/cgroup.controllers", "cpuset cpu io\n");
    root.put("/cg/cgroup.subtree_control", "\n");
    root.put("/cg/krepro.slice/cgroup.subtree_control", "\n");
  }
  MadeUpRoot root;
};

std::string own(const std::string& role) { return fmt::format("{}-{}", role, getpid()); }

TEST(RoleGroupsTest, VersionTwoEnablesTheControllerOnTheWay) {
  const MadeUpHierarchy made(2);
  const KnobAccess access(made.root.host());
  RoleGroups groups(access);
  groups.make();
  ASSERT_TRUE(groups.made()) << groups.problem();
  EXPECT_EQ(groups.describe(), "cgroup v2, /cg/krepro.slice");
  EXPECT_EQ(made.root.get("/cg/cgroup.subtree_control"), "+cpu");
  EXPECT_EQ(made.root.get("/cg/krepro.slice/cgroup.subtree_control"), "+cpu");
  EXPECT_EQ(groups.group_of("load", false), made.root.path() / "cg/krepro.slice" / own("load"));
  made.root.put("/cg/krepro.slice/" + own("serve") + "/cpu.weight", "100\n");
  groups.set({"cgroup/serve/cpu.weight", "500"});
  EXPECT_EQ(groups.read_back({"cgroup/serve/cpu.weight", "500"}), "500");
  std::filesystem::remove(made.root.path() / "cg/krepro.slice" / own("serve") / "cpu.weight");
  groups.remove();
  EXPECT_FALSE(made.root.host().exists("/cg/krepro.slice/" + own("load")));
}

TEST(RoleGroupsTest, VersionOneHasSharesAndQuotas) {
  const MadeUpHierarchy made(1);
  const KnobAccess access(made.root.host());
  RoleGroups groups(access);
  groups.make();
  ASSERT_TRUE(groups.made()) << groups.problem();
  const std::string load = "/cg/cpu/krepro.slice/" + own("load");
  made.root.put(load + "/cpu.shares", "1024\n");
  groups.set({"cgroup/load/cpu.weight", "50"});
  EXPECT_EQ(made.root.get(load + "/cpu.shares"), "512");
  EXPECT_EQ(groups.read_back({"cgroup/load/cpu.weight", "50"}), "cpu.shares 512");
  // A group without a share of real time would let no real-time task in.
  made.root.put(load + "/cpu.rt_runtime_us", "0\n");
  EXPECT_EQ(groups.group_of("load", true), "");
  EXPECT_NE(groups.group_of("load", false), "");
  for (const char* file : {"/cpu.shares", "/cpu.rt_runtime_us"}) made.root.remove(load + file);
  groups.remove();
  EXPECT_FALSE(made.root.host().exists("/cg/cpu/krepro.slice"));
}

TEST(RoleGroupsTest, VersionOneTranslatesWhatVersionTwoSays) {
  EXPECT_THAT(as_version_1("cpu.weight", "100"), ElementsAre(Pair("cpu.shares", "1024")));
  EXPECT_THAT(as_version_1("cpu.max", "max"),
              ElementsAre(Pair("cpu.cfs_period_us", "100000"), Pair("cpu.cfs_quota_us", "-1")));
  EXPECT_THAT(as_version_1("cpu.max", "50000 200000"),
              ElementsAre(Pair("cpu.cfs_period_us", "200000"), Pair("cpu.cfs_quota_us", "50000")));
  EXPECT_THAT(as_version_1("cpu.idle", "1"), ElementsAre(Pair("cpu.idle", "1")));
}

TEST(RoleGroupsTest, GroupsOfKilledRunsAreRemoved) {
  const MadeUpHierarchy made(1);
  made.root.put("/proc/1/stat", "");
  for (const char* name : {"load-999999999", "load-1", "somebody-999999999"}) {
    std::filesystem::create_directories(made.root.path() / "cg/cpu/krepro.slice" / name);
  }
  const KnobAccess access(made.root.host());
  RoleGroups groups(access);
  groups.make();
  EXPECT_THAT(made.root.host().list("/cg/cpu/krepro.slice"),
              ElementsAre("load-1", own("load"), own("serve"), "somebody-999999999"));
}

TEST(RoleGroupsTest, NoRoleEscapesAQuotaOfKreprosOwnGroup) {
  const MadeUpHierarchy made(2);
  made.root.put("/proc/self/cgroup", "0::/job\n");
  made.root.put("/sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  const KnobAccess access(made.root.host());
  RoleGroups groups(access);
  groups.make();
  EXPECT_FALSE(groups.made());
  EXPECT_THAT(groups.problem(), HasSubstr("may use 0.5 CPUs' time"));
  EXPECT_FALSE(made.root.host().exists("/cg/krepro.slice/" + own("load")));
}

TEST(RoleGroupsTest, NoRoleEscapesACpuSetOfKreprosOwnGroup) {
  const MadeUpHierarchy made(2);
  made.root.put("/cg/cpuset.cpus.effective", "0-3\n");
  made.root.put("/proc/self/cgroup", "0::/job\n");
  made.root.put("/sys/fs/cgroup/job/cpuset.cpus.effective", "1\n");
  const KnobAccess access(made.root.host());
  RoleGroups groups(access);
  groups.make();
  EXPECT_FALSE(groups.made());
  EXPECT_THAT(groups.problem(), HasSubstr("has CPUs 1 only"));
}

TEST(RoleGroupsTest, AQuotaThatHoldsAtTheTopBindsTheRolesAnyway) {
  const MadeUpRoot root;
  root.put("/proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.put("/proc/self/cgroup", "0::/\n");
  root.put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  root.put("/sys/fs/cgroup/cgroup.controllers", "cpu\n");
  root.put("/sys/fs/cgroup/cgroup.subtree_control", "cpu\n");
  root.put("/sys/fs/cgroup/krepro.slice/cgroup.subtree_control", "\n");
  const KnobAccess access(root.host());
  RoleGroups groups(access);
  groups.make();
  EXPECT_TRUE(groups.made()) << groups.problem();
}

TEST(RoleGroupsTest, WithoutAHierarchyTheReasonIsSaid) {
  const MadeUpRoot root;
  const KnobAccess access(root.host());
  RoleGroups groups(access);
  groups.make();
  EXPECT_FALSE(groups.made());
  EXPECT_EQ(groups.problem(), "no control group hierarchy with the CPU controller");
  EXPECT_EQ(groups.group_of("load", false), "");
  EXPECT_THROW(groups.set({"cgroup/load/cpu.weight", "1"}), Error);
}

TEST(RoleGroupsHere, AProcessIsInItsRolesGroupFromItsFirstInstruction) {
  const KnobAccess access;
  RoleGroups groups(access);
  groups.make();
  if (!groups.made()) GTEST_SKIP() << groups.problem();
  SpawnRequest request;
  request.argv = {"cat", "/proc/self/cgroup"};
  request.cgroup = groups.group_of("load", false);
  const CommandOutput output = run_command(request, 10'000'000'000);
  EXPECT_THAT(output.out, HasSubstr("/krepro.slice/" + own("load")));
  groups.set({"cgroup/load/cpu.weight", "50"});
  EXPECT_THAT(groups.read_back({"cgroup/load/cpu.weight", "50"}), HasSubstr("5"));
  EXPECT_TRUE(std::filesystem::exists(request.cgroup));
  groups.remove();
  EXPECT_FALSE(std::filesystem::exists(request.cgroup));
}

class SchedExtTest : public ::testing::Test {
 protected:
  SchedExtTest() {
    root_.put("/sys/kernel/sched_ext/state", "disabled\n");
    root_.put("/sys/kernel/sched_ext/enable_seq", "4\n");
  }
  /// A program that does to the made-up files what the kernel does when a scheduler comes and goes.
  [[nodiscard]] std::string scheduler(const std::string& then) const {
    const std::string folder = (root_.path() / "sys/kernel/sched_ext").string();
    return fmt::format(
        "cd {}; mkdir -p root; trap 'echo disabled > state; exit 0' INT; echo made_up > root/ops; "
        "echo 5 > enable_seq; echo enabled > state; {}",
        folder, then);
  }
  static constexpr const char* goes_on = "while :; do sleep 0.02; done";

  MadeUpRoot root_;
  SchedExt scheduler_{root_.host(), 5'000'000'000};
};

TEST_F(SchedExtTest, ASchedulerIsStartedToldAndEnded) {
  scheduler_.use(scheduler(goes_on));
  EXPECT_EQ(scheduler_.describe(), "made_up (enable_seq 5)");
  EXPECT_EQ(scheduler_.find_change(), "");
  scheduler_.use("none");
  EXPECT_EQ(scheduler_.describe(), "none");
  EXPECT_EQ(scheduler_.find_change(), "");
}

TEST_F(SchedExtTest, OneThatWasEjectedOrExchangedIsNoticed) {
  scheduler_.use(scheduler(goes_on));
  root_.put("/sys/kernel/sched_ext/enable_seq", "6\n");
  EXPECT_THAT(scheduler_.find_change(), HasSubstr("ejected and loaded again"));
  root_.put("/sys/kernel/sched_ext/root/ops", "other\n");
  EXPECT_THAT(scheduler_.find_change(), HasSubstr("other took the place of made_up"));
  root_.put("/sys/kernel/sched_ext/state", "disabled\n");
  EXPECT_THAT(scheduler_.find_change(), HasSubstr("made_up was ejected"));
  scheduler_.end();
}

TEST_F(SchedExtTest, AProgramThatEndsAtOnceIsAnError) {
  try {
    scheduler_.use("exit 7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the program ended: exit status 7"));
    EXPECT_EQ(error.code(), ExitCode::not_possible);
  }
}

TEST_F(SchedExtTest, AForeignSchedulerIsNotTakenOver) {
  root_.put("/sys/kernel/sched_ext/state", "enabled\n");
  root_.put("/sys/kernel/sched_ext/root/ops", "theirs\n");
  EXPECT_THROW(scheduler_.use(scheduler(goes_on)), Error);
  EXPECT_THROW(scheduler_.use("none"), Error);
}

TEST_F(SchedExtTest, AKernelWithoutItSaysSo) {
  root_.remove("/sys/kernel/sched_ext");
  scheduler_.use("none");
  try {
    scheduler_.use("scx_simple");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this kernel has none"));
  }
}

}  // namespace
}  // namespace krepro
