// Settings on a made-up machine: which files they mean, that they are read back, and that all is as
// before afterwards, also after a run that was killed.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/error.h"
#include "common/base/made_up_root.h"
#include "suite/settings/settings_keeper.h"

namespace krepro {
namespace {

using nlohmann::json;
using test::MadeUpRoot;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* features = "/sys/kernel/debug/sched/features";
constexpr const char* thp = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* slice = "/sys/kernel/debug/sched/base_slice_ns";

/// Files that take what is written as the kernel does: a word of a list, a feature switched, a
/// number clamped.
class MadeUpKernel : public KnobAccess {
 public:
  explicit MadeUpKernel(const MadeUpRoot& root) : KnobAccess(root.host()), root_(root) {
    root_.put("/proc/sys/kernel/random/boot_id", "boot-1\n");
    root_.put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    root_.put("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    root_.put(features, "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY NI_RANDOM\n");
    root_.put(slice, "700000\n");
    root_.put(thp, "always [madvise] never\n");
    root_.put("/sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
    root_.put("/sys/block/sda/queue/scheduler", "[none] mq-deadline\n");
    for (const int policy : {0, 4}) root_.put(governor(policy), "powersave\n");
  }
  static std::string governor(int policy) {
    return fmt::format("/sys/devices/system/cpu/cpufreq/policy{}/scaling_governor", policy);
  }
  int write(const std::string& path, const std::string& text) const override {
    if (path == refused) return EACCES;
    const std::string before = root_.get(path);
    if (path == features) {
      const std::string name = text.starts_with("NO_") ? text.substr(3) : text;
      return replace(path, before,
                     before.find("NO_" + name) == std::string::npos ? name : "NO_" + name, text);
    }
    if (before.find_first_of("[(") != std::string::npos) return mark(path, before, text);
    // The kernel takes no slice below 100 us.
    const bool small = path == slice && text.size() < 6;
    return KnobAccess::write(path, (small ? "100000" : text) + "\n");
  }
  std::string refused;

 private:
  int replace(const std::string& path, std::string text, const std::string& from,
              const std::string& to) const {
    text.replace(text.find(from), from.size(), to);
    root_.put(path, text);
    return 0;
  }
  int mark(const std::string& path, std::string text, const std::string& word) const {
    const bool round = text.find('(') != std::string::npos;
    std::erase_if(text, [](char letter) {
      return letter == '[' || letter == ']' || letter == '(' || letter == ')';
    });
    if (text.find(word) == std::string::npos) return EINVAL;
    return replace(path, text, word, round ? "(" + word + ")" : "[" + word + "]");
  }
  const MadeUpRoot& root_;
};

class SettingsTest : public ::testing::Test {
 protected:
  std::string error_of(const std::vector<Setting>& settings) {
    SettingsKeeper keeper(kernel_, state_);
    try {
      keeper.apply(settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::not_possible);
      return std::string(error.what()) + "; " + error.remedy();
    }
    return {};
  }

  MadeUpRoot root_;
  MadeUpKernel kernel_{root_};
  std::filesystem::path state_ = root_.path() / "state";
};

const std::vector<Setting> many = {{"kernel.sched_autogroup_enabled", "0"},
                                   {"sched/features", "NEXT_BUDDY NO_NI_RANDOM"},
                                   {"sched/base_slice_ns", "3000000"},
                                   {"sched/preempt", "none"},
                                   {"governor", "performance"},
                                   {"thp", "never"},
                                   {"block/sda/scheduler", "mq-deadline"},
                                   {"net.ipv4.tcp_rmem", "4096 87380 6291456"}};

TEST_F(SettingsTest, AllKindsAreAppliedReadBackAndPutBack) {
  {
    SettingsKeeper keeper(kernel_, state_);
    keeper.apply(many);
    EXPECT_EQ(root_.get("/proc/sys/kernel/sched_autogroup_enabled"), "0\n");
    EXPECT_EQ(root_.get(features), "GENTLE_FAIR_SLEEPERS NEXT_BUDDY NO_NI_RANDOM\n");
    EXPECT_EQ(root_.get(thp), "always madvise [never]\n");
    EXPECT_EQ(root_.get(MadeUpKernel::governor(4)), "performance\n");
    EXPECT_EQ(keeper.read_back(), json({{"kernel.sched_autogroup_enabled", "0"},
                                        {"sched/features", "NEXT_BUDDY NO_NI_RANDOM"},
                                        {"sched/base_slice_ns", "3000000"},
                                        {"sched/preempt", "none"},
                                        {"governor", "performance"},
                                        {"thp", "never"},
                                        {"block/sda/scheduler", "mq-deadline"},
                                        {"net.ipv4.tcp_rmem", "4096 87380 6291456"}}));
    EXPECT_TRUE(std::filesystem::exists(state_ / "settings.json"));
    EXPECT_THAT(keeper.restore(), IsEmpty());
  }
  EXPECT_EQ(root_.get("/proc/sys/kernel/sched_autogroup_enabled"), "1\n");
  EXPECT_EQ(root_.get(features), "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY NI_RANDOM\n");
  EXPECT_EQ(root_.get(slice), "700000\n");
  EXPECT_EQ(root_.get("/sys/kernel/debug/sched/preempt"), "none voluntary (full)\n");
  EXPECT_EQ(root_.get(thp), "always [madvise] never\n");
  EXPECT_EQ(root_.get(MadeUpKernel::governor(0)), "powersave\n");
  EXPECT_EQ(root_.get("/sys/block/sda/queue/scheduler"), "[none] mq-deadline\n");
  EXPECT_FALSE(std::filesystem::exists(state_ / "settings.json"));
}

TEST_F(SettingsTest, SwitchingToAndFroPutsBackWhatWasFirst) {
  {
    SettingsKeeper keeper(kernel_, state_);
    for (const char* value : {"always", "never", "always", "never"}) {
      keeper.apply({{"thp", value}});
      EXPECT_EQ(keeper.read_back().at("thp"), value);
      EXPECT_EQ(keeper.find_change(), "");
    }
  }
  EXPECT_EQ(root_.get(thp), "always [madvise] never\n");
}

TEST_F(SettingsTest, AValueThatTheKernelChangesIsAnError) {
  EXPECT_THAT(error_of({{"sched/base_slice_ns", "3"}}),
              AllOf(HasSubstr("base_slice_ns reads 100000"), HasSubstr("unit and range")));
  // Put back all the same.
  EXPECT_EQ(root_.get(slice), "700000\n");
}

TEST_F(SettingsTest, WhatCannotBeAppliedSaysWhyAndLeavesNothingApplied) {
  kernel_.refused = thp;
  EXPECT_THAT(error_of({{"kernel.sched_autogroup_enabled", "0"}, {"thp", "never"}}),
              AllOf(HasSubstr("thp = never"), HasSubstr("Permission denied"), HasSubstr("root")));
  EXPECT_EQ(root_.get("/proc/sys/kernel/sched_autogroup_enabled"), "1\n");
  EXPECT_THAT(error_of({{"kernel.no_such_thing", "1"}}), HasSubstr("no such setting"));
  EXPECT_THAT(error_of({{"sched/features", "NO_SUCH"}}), HasSubstr("has no feature SUCH"));
  EXPECT_THAT(error_of({{"sched/preempt", "lazy"}}), HasSubstr("does not take this value"));
  root_.remove("/sys/devices/system/cpu/cpufreq");
  EXPECT_THAT(error_of({{"governor", "performance"}}), HasSubstr("no frequency governor"));
}

TEST_F(SettingsTest, ASettingThatSomebodyElseChangesIsNoticedAndLeftAlone) {
  SettingsKeeper keeper(kernel_, state_);
  keeper.apply({{"thp", "never"}});
  root_.put(thp, "[always] madvise never\n");
  EXPECT_THAT(keeper.find_change(), HasSubstr("thp was set to never and is always now"));
  EXPECT_THAT(keeper.restore(), ElementsAre(HasSubstr("left alone")));
  EXPECT_EQ(root_.get(thp), "[always] madvise never\n");
}

/// Applies `settings` in a process of its own, and kills it there.
void apply_and_be_killed(const KnobAccess& access, const std::filesystem::path& state,
                         const std::vector<Setting>& settings) {
  const pid_t child = fork();
  if (child == 0) {
    SettingsKeeper keeper(access, state);
    keeper.apply(settings);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(SettingsTest, WhatAKilledRunLeftIsPutBackByTheNextStart) {
  apply_and_be_killed(kernel_, state_, many);
  ASSERT_EQ(root_.get(thp), "always madvise [never]\n");
  const std::vector<std::string> lines = restore_left_settings(kernel_, state_);
  EXPECT_EQ(lines.size(), 10U);  // Two features, and two governors.
  EXPECT_THAT(lines, ::testing::Each(HasSubstr("put back to")));
  EXPECT_EQ(root_.get(thp), "always [madvise] never\n");
  EXPECT_EQ(root_.get(features), "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY NI_RANDOM\n");
  EXPECT_EQ(root_.get(MadeUpKernel::governor(4)), "powersave\n");
  EXPECT_THAT(restore_left_settings(kernel_, state_), IsEmpty());
}

TEST_F(SettingsTest, AfterARebootNothingIsPutBack) {
  apply_and_be_killed(kernel_, state_, {{"thp", "never"}});
  root_.put("/proc/sys/kernel/random/boot_id", "boot-2\n");
  root_.put(thp, "[always] madvise never\n");
  EXPECT_THAT(restore_left_settings(kernel_, state_), IsEmpty());
  EXPECT_EQ(root_.get(thp), "[always] madvise never\n");
  EXPECT_FALSE(std::filesystem::exists(state_ / "settings.json"));
}

TEST_F(SettingsTest, OneRunAtATimeAppliesSettings) {
  SettingsKeeper keeper(kernel_, state_);
  keeper.apply({{"thp", "never"}});
  const pid_t child = fork();
  if (child == 0) {
    // A living run's settings are not taken for a killed one's.
    if (!restore_left_settings(kernel_, state_).empty()) _exit(1);
    try {
      SettingsKeeper second(kernel_, state_);
    } catch (const Error& error) {
      _exit(error.code() == ExitCode::usage ? 0 : 2);
    }
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(root_.get(thp), "always madvise [never]\n");
}

TEST_F(SettingsTest, WhoNeverAppliedSettingsLeavesNoDirectory) {
  EXPECT_THAT(restore_left_settings(kernel_, state_), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(state_));
}

TEST(SettingNames, KindsAreToldByTheName) {
  EXPECT_EQ(kind_of_setting("kernel.numa_balancing"), SettingKind::host);
  EXPECT_EQ(kind_of_setting("sched/features"), SettingKind::host);
  EXPECT_EQ(kind_of_setting("sched/numa_balancing/scan_delay_ms"), SettingKind::host);
  EXPECT_EQ(kind_of_setting("block/nvme0n1/nr_requests"), SettingKind::host);
  EXPECT_EQ(kind_of_setting("smt"), SettingKind::host);
  EXPECT_EQ(kind_of_setting("sched_ext"), SettingKind::sched_ext);
  EXPECT_EQ(kind_of_setting("scheduling.serve"), SettingKind::scheduling);
  EXPECT_EQ(kind_of_setting("cgroup/load/cpu.weight"), SettingKind::cgroup);
  EXPECT_EQ(role_of_setting("cgroup/load/cpu.weight"), "load");
  EXPECT_EQ(role_of_setting("scheduling"), "");
  for (const char* name : {"", "x", "thpp", "../etc", "sched/../../x", "kernel..x", "block/sda",
                           "cgroup/other/cpu.weight", "scheduling.other "}) {
    EXPECT_THROW((void)kind_of_setting(name), Error) << name;
  }
}

TEST(SettingNames, LabelsHaveNoSpaces) {
  EXPECT_EQ(label_suffix({{"sched/features", "A NO_B"}, {"thp", "never"}}),
            "+sched/features=A_NO_B+thp=never");
}

TEST(SettingNames, SameValuesAreToldFromOthers) {
  EXPECT_TRUE(same_value("1\n", "1"));
  EXPECT_TRUE(same_value("4096\t87380", "4096 87380"));
  EXPECT_TRUE(same_value("010", "10"));
  EXPECT_FALSE(same_value("never", "always"));
  EXPECT_FALSE(same_value("3", "3000000"));
}

}  // namespace
}  // namespace krepro
