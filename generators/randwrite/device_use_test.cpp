// Who a device is and who uses it, from a replaced root: the machines that the test's one cannot
// be.
#include "generators/randwrite/device_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "generators/randwrite/disk_counters.h"
#include "generators/randwrite/file_system.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A machine with one disk nvme1n1 (259:0) of two partitions (259:1, 259:2), as sysfs shows it.
class DeviceUseTest : public testing::Test {
 protected:
  DeviceUseTest() {
    add_device("259:0", "nvme1n1", "devices/pci/nvme1n1");
    add_device("259:1", "nvme1n1p1", "devices/pci/nvme1n1/nvme1n1p1");
    add_device("259:2", "nvme1n1p2", "devices/pci/nvme1n1/nvme1n1p2");
    write("sys/devices/pci/nvme1n1/nvme1n1p1/partition", "1\n");
    write("sys/devices/pci/nvme1n1/nvme1n1p2/partition", "2\n");
    write("sys/devices/pci/nvme1n1/device/model", "Amazon EC2 NVMe Instance Storage  \n");
    write("sys/devices/pci/nvme1n1/device/serial", "AWS1234\n");
    write("sys/devices/pci/nvme1n1/queue/logical_block_size", "4096\n");
    write("proc/self/mountinfo", "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n");
    write("proc/swaps", "Filename Type Size Used Priority\n");
  }

  void write(const std::string& path, const std::string& text) {
    write_text(root_.path() / path, text);
  }
  void add_device(const std::string& number, const std::string& name, const std::string& folder) {
    write("sys/" + folder + "/dev", number + "\n");
    write("sys/" + folder + "/uevent", "MAJOR=259\nDEVNAME=" + name + "\nDEVTYPE=disk\n");
    write("sys/" + folder + "/size", "2048\n");
    std::filesystem::create_directories(root_.path() / "sys/dev/block");
    std::filesystem::create_directory_symlink("../../" + folder,
                                              root_.path() / "sys/dev/block" / number);
  }
  [[nodiscard]] std::vector<std::string> uses(unsigned minor = 0) const {
    return find_device_uses({259, minor}, host_);
  }

  TemporaryDirectory root_;
  HostFiles host_{root_.path()};
};

TEST_F(DeviceUseTest, AnIdleDiskHasNoUse) {
  EXPECT_THAT(uses(), IsEmpty());
  EXPECT_THAT(uses(1), IsEmpty());
}

TEST_F(DeviceUseTest, AMountedPartitionIsAUseOfItsDiskAndOfItselfButNotOfItsNeighbour) {
  write("proc/self/mountinfo", "30 1 259:1 / /mnt/with\\040blank rw - xfs /dev/nvme1n1p1 rw\n");
  EXPECT_THAT(uses(0), ElementsAre("its partition nvme1n1p1 is mounted on /mnt/with blank"));
  EXPECT_THAT(uses(1), ElementsAre("it is mounted on /mnt/with blank"));
  EXPECT_THAT(uses(2), IsEmpty());
}

TEST_F(DeviceUseTest, AMountedDiskIsAUseOfItsPartition) {
  write("proc/self/mountinfo", "30 1 259:0 / /data rw - ext4 /dev/nvme1n1 rw\n");
  EXPECT_THAT(uses(2), ElementsAre(HasSubstr("the disk that it is a partition of")));
}

TEST_F(DeviceUseTest, BtrfsIsFoundByItsSourceSinceItsNumberIsAnother) {
  write("proc/self/mountinfo", "30 1 0:44 /sub /data rw - btrfs /dev/nvme1n1p2 rw\n");
  EXPECT_THAT(uses(0), ElementsAre("its partition nvme1n1p2 is mounted on /data"));
}

TEST_F(DeviceUseTest, OtherMountNamespacesAreSearchedEachOnce) {
  write("proc/77/mountinfo", "30 1 259:1 / /inside rw - ext4 /dev/root rw\n");
  write("proc/78/mountinfo", "30 1 259:1 / /inside rw - ext4 /dev/root rw\n");
  for (const char* process : {"77", "78"}) {
    std::filesystem::create_directories(root_.path() / "proc" / process / "ns");
    std::filesystem::create_symlink("mnt:[42]", root_.path() / "proc" / process / "ns/mnt");
  }
  EXPECT_THAT(uses(0), ElementsAre("its partition nvme1n1p1 is mounted on /inside (in the mount "
                                   "namespace of process 77)"));
}

TEST_F(DeviceUseTest, HoldersAreNamedAndWhatStandsOnThemToo) {
  add_device("253:0", "dm-0", "devices/virtual/dm-0");
  const auto folder = root_.path() / "sys/devices/pci/nvme1n1/nvme1n1p2/holders";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink("../../../../virtual/dm-0", folder / "dm-0");
  write("sys/devices/virtual/dm-0/dm/name", "vg-data\n");
  write("proc/self/mountinfo", "30 1 253:0 / /data rw - ext4 /dev/mapper/vg-data rw\n");
  EXPECT_THAT(uses(0), ElementsAre("its partition nvme1n1p2 is held by dm-0 (vg-data)",
                                   "dm-0 (vg-data), which is built on it, is mounted on /data"));
  EXPECT_THAT(uses(2), Contains("it is held by dm-0 (vg-data)"));
}

TEST_F(DeviceUseTest, SwapIsAUse) {
  write("proc/swaps", "Filename\tType\tSize\n/dev/nvme1n1p1                 partition\t1000\n");
  EXPECT_THAT(uses(0), ElementsAre("its partition nvme1n1p1 is swap space"));
}

TEST_F(DeviceUseTest, ALoopDeviceOnItIsAUse) {
  write("sys/block/loop3/loop/backing_file", "/dev/nvme1n1\n");
  EXPECT_THAT(uses(0), ElementsAre("it is behind the loop device loop3"));
  EXPECT_THAT(find_file_uses("/images/a.img", host_), IsEmpty());
  write("sys/block/loop4/loop/backing_file", "/images/a.img\n");
  EXPECT_THAT(find_file_uses("/images/a.img", host_), ElementsAre(HasSubstr("loop4")));
}

TEST_F(DeviceUseTest, AProcessThatHasItOpenIsAUseUnlessItIsUdev) {
  const auto open_in = [this](const std::string& process, const std::string& name) {
    std::filesystem::create_directories(root_.path() / "proc" / process / "fd");
    std::filesystem::create_symlink("/dev/nvme1n1", root_.path() / "proc" / process / "fd/5");
    write("proc/" + process + "/comm", name + "\n");
  };
  open_in("90", "(udev-worker)");
  EXPECT_THAT(uses(0), IsEmpty());
  open_in("91", "qemu-system-x86");
  EXPECT_THAT(uses(0), ElementsAre("it is open in process 91 (qemu-system-x86)"));
}

TEST_F(DeviceUseTest, APartitionHasTheModelOfItsDisk) {
  const DeviceIdentity identity = identify_device({259, 1}, host_);
  EXPECT_EQ(identity.name, "nvme1n1p1");
  EXPECT_EQ(identity.model, "Amazon EC2 NVMe Instance Storage");
  EXPECT_EQ(identity.serial, "AWS1234");
  EXPECT_EQ(identity.size_bytes, 1U << 20U);
  EXPECT_EQ(identity.logical_block_bytes, 4096U);
  EXPECT_TRUE(identity.partition);
  EXPECT_FALSE(identity.ram_backed);
  EXPECT_EQ(identify_device({1, 1}, host_).name, "") << "a device that is not there";
}

TEST_F(DeviceUseTest, CountersAreReadByNumberAndSubtracted) {
  write("proc/diskstats",
        " 259 1 nvme1n1p1 1 1 1 1 1 1 1 1 1 1 1\n"
        " 259 0 nvme1n1 10 2 16 4 100 20 800 50 0 70 54 1 2 3 4 9 5\n");
  const auto before = read_disk_counters({259, 0}, host_);
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->writes, 100U);
  EXPECT_EQ(before->written_bytes, 800U * 512);
  EXPECT_EQ(before->busy_ms, 70U);
  EXPECT_EQ(before->flushes, 9U);
  write("proc/diskstats", "259 0 nvme1n1 10 2 16 4 150 20 1200 60 0 90 64\n");
  const DiskCounters change = difference(*read_disk_counters({259, 0}, host_), *before);
  EXPECT_EQ(change.writes, 50U);
  EXPECT_EQ(change.written_bytes, 400U * 512);
  EXPECT_EQ(change.reads, 0U);
  EXPECT_FALSE(read_disk_counters({8, 0}, host_).has_value());
}

TEST_F(DeviceUseTest, DirtyPagesAreReadFromVmstat) {
  write("proc/vmstat", "nr_free_pages 5\nnr_dirty 10\nnr_writeback 2\n");
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(read_dirty_pages(host_).dirty_bytes, 10 * page_bytes);
  EXPECT_EQ(read_dirty_pages(host_).writeback_bytes, 2 * page_bytes);
}

}  // namespace
}  // namespace krepro::randwrite
