// The forms that lines of mountinfo take.
#include "common/base/mount_table.h"

#include <gtest/gtest.h>

namespace krepro {
namespace {

TEST(MountTable, ReadsEachFieldWithAndWithoutOptionalOnes) {
  const auto mounts = parse_mount_table(
      "36 35 98:0 /sub /mnt rw,noatime shared:1 master:2 - ext4 /dev/root rw,errors=continue\n"
      "40 35 0:28 / /sys/fs/cgroup rw - cgroup2 none rw,nsdelegate\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].device_number, "98:0");
  EXPECT_EQ(mounts[0].root, "/sub");
  EXPECT_EQ(mounts[0].point, "/mnt");
  EXPECT_EQ(mounts[0].options, "rw,noatime");
  EXPECT_EQ(mounts[0].type, "ext4");
  EXPECT_EQ(mounts[0].source, "/dev/root");
  EXPECT_EQ(mounts[0].super_options, "rw,errors=continue");
  EXPECT_EQ(mounts[1].type, "cgroup2");
}

TEST(MountTable, BlanksInPathsAreAsTheyWere) {
  const auto mounts =
      parse_mount_table("36 35 98:0 / /mnt/my\\040disk rw - fuse.x my\\040source\\134 rw\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].point, "/mnt/my disk");
  EXPECT_EQ(mounts[0].source, "my source\\");
}

TEST(MountTable, AnEmptySourceDoesNotShiftTheOptions) {
  const auto mounts = parse_mount_table("36 35 0:5 / /x rw - tmpfs  rw,size=1k\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].source, "");
  EXPECT_EQ(mounts[0].super_options, "rw,size=1k");
}

TEST(MountTable, TornLinesAreLeftOut) {
  EXPECT_TRUE(parse_mount_table("36 35 98:0 / /mnt rw - ext4\n36 35\n\nx - y z w\n").empty());
}

}  // namespace
}  // namespace krepro
