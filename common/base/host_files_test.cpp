// Against a small tree of real files, and a few facts that hold on every Linux machine.
#include "common/base/host_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace krepro {
namespace {

namespace fs = std::filesystem;

class HostFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "krepro-host-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

  fs::path root_;
};

TEST_F(HostFilesTest, ReadsBelowItsRoot) {
  put("proc/sys/kernel/pid_max", "4194304\n");
  const HostFiles files(root_);
  EXPECT_EQ(files.read("/proc/sys/kernel/pid_max"), "4194304\n");
  EXPECT_EQ(files.read_line("/proc/sys/kernel/pid_max"), "4194304");
  EXPECT_EQ(files.read_number("/proc/sys/kernel/pid_max"), 4194304);
  EXPECT_TRUE(files.exists("/proc/sys/kernel/pid_max"));
  EXPECT_EQ(files.real("/proc/stat"), root_ / "proc/stat");
  EXPECT_FALSE(files.exists("/proc/stat"));
}

TEST_F(HostFilesTest, ReadsTheStartOfALargeFileAlone) {
  put("proc/cpuinfo", std::string(100'000, 'x'));
  const HostFiles files(root_);
  EXPECT_EQ(files.read_start("/proc/cpuinfo", 40'000), std::string(40'000, 'x'));
  EXPECT_EQ(files.read_start("/proc/cpuinfo", 200'000)->size(), 100'000U);
  EXPECT_EQ(files.read_start("/proc/cpuinfo", 0), "");
  EXPECT_FALSE(files.read_start("/proc/stat", 10).has_value());
}

TEST_F(HostFilesTest, CountsWhatItOpens) {
  put("proc/stat", "cpu 1\n");
  const HostFiles files(root_);
  const std::uint64_t before = files.opened();
  (void)files.read("/proc/stat");
  (void)files.read_number("/proc/absent");
  (void)files.list("/proc");
  EXPECT_EQ(files.opened() - before, 3U);
}

TEST_F(HostFilesTest, SaysWhyItCouldNotRead) {
  put("proc/stat", "cpu 1\n");
  const HostFiles files(root_);
  int error_number = 0;
  EXPECT_EQ(files.read("/proc/none", &error_number), std::nullopt);
  EXPECT_EQ(error_number, ENOENT);
  EXPECT_EQ(files.read("/proc", &error_number), std::nullopt);
  EXPECT_EQ(error_number, EISDIR);
  EXPECT_EQ(files.read_line("/proc/none", &error_number), std::nullopt);
  EXPECT_EQ(error_number, ENOENT);
  EXPECT_NE(files.read("/proc/stat", &error_number), std::nullopt);
  EXPECT_EQ(error_number, 0);
}

TEST_F(HostFilesTest, UnreadableFilesAreNamedSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  put("secret", "x");
  fs::permissions(root_ / "secret", fs::perms::none);
  int error_number = 0;
  EXPECT_EQ(HostFiles(root_).read("/secret", &error_number), std::nullopt);
  EXPECT_EQ(error_number, EACCES);
}

TEST_F(HostFilesTest, ReadsFilesLargerThanItsBufferWhole) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + "\n";
  put("proc/large", text);
  EXPECT_EQ(HostFiles(root_).read("/proc/large"), text);
}

TEST_F(HostFilesTest, LinesLoseOnlyTheWhiteSpaceBehindThem) {
  const HostFiles files(root_);
  put("a", " a b \t\n\n");
  EXPECT_EQ(files.read_line("/a"), " a b");
  put("b", "\n");
  EXPECT_EQ(files.read_line("/b"), "");
  put("c", "");
  EXPECT_EQ(files.read_line("/c"), "");
}

TEST_F(HostFilesTest, NumbersAreWholeTokens) {
  const HostFiles files(root_);
  const auto number_in = [&](const std::string& text) {
    put("n", text);
    return files.read_number("/n");
  };
  EXPECT_EQ(number_in("42\n"), 42);
  EXPECT_EQ(number_in("  -7 100000\n"), -7);
  EXPECT_EQ(number_in("0"), 0);
  EXPECT_EQ(number_in("9223372036854775807\n"), 9223372036854775807);
  for (const char* text :
       {"max\n", "", "\n", "12kB\n", "9223372036854775808\n", "1.5\n", "0x10\n"}) {
    EXPECT_EQ(number_in(text), std::nullopt) << text;
  }
  EXPECT_EQ(files.read_number("/none"), std::nullopt);
}

TEST_F(HostFilesTest, ListsSorted) {
  for (const char* name : {"cpu10", "cpu2", "cpu0", "online"}) put(std::string("sys/") + name, "");
  const HostFiles files(root_);
  EXPECT_EQ(files.list("/sys"), (std::vector<std::string>{"cpu0", "cpu10", "cpu2", "online"}));
  EXPECT_TRUE(files.list("/none").empty());
  EXPECT_TRUE(files.list("/sys/cpu0").empty());
}

TEST_F(HostFilesTest, LinksAreReadNotFollowed) {
  put("sys/devices/sda", "");
  fs::create_symlink("../devices/sda", root_ / "sys/link");
  fs::create_symlink("nowhere", root_ / "sys/dangling");
  const HostFiles files(root_);
  EXPECT_EQ(files.read_link("/sys/link"), "../devices/sda");
  EXPECT_EQ(files.read_link("/sys/dangling"), "nowhere");
  EXPECT_FALSE(files.exists("/sys/dangling"));
  EXPECT_EQ(files.read_link("/sys/devices/sda"), std::nullopt);
}

TEST(HostFiles, TheMachineItself) {
  const HostFiles machine;
  EXPECT_EQ(machine.read_link("/proc/self"), std::to_string(getpid()));
  EXPECT_GT(machine.read("/proc/self/stat").value_or("").size(), 10U);
  EXPECT_FALSE(machine.list("/proc/self/task").empty());
}

TEST(HostFilesDeathTest, TheEnvironmentMayNameAnotherRoot) {
  // In a child process, because the root is read once.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("KREPRO_HOST_ROOT", "/fixture", 1);
        _exit(HostFiles::system().real("/proc/stat") == "/fixture/proc/stat" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("KREPRO_HOST_ROOT", "", 1);
        _exit(HostFiles::system().real("/proc/stat") == "/proc/stat" ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace krepro
