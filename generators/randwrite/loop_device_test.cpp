// Block devices, on real loop devices: every reason to refuse, with the image's bytes compared, and
// the load that is allowed. Needs root.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "common/process/descriptor.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t image_bytes = 32U << 20U;

/// A loop device on an image of its own; detached at the end.
class LoopDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "loop devices need root";
    image_ = directory_ / "image";
    write_text(image_, "");
    std::filesystem::resize_file(image_, image_bytes);
  }
  void TearDown() override { detach(); }

  /// Attaches the image; false where loop devices are not possible here.
  bool attach() {
    const Descriptor control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const Descriptor file(open(image_.c_str(), O_RDWR | O_CLOEXEC));
    if (!control.valid() || !file.valid()) return false;
    for (int attempt = 0; attempt < 20; ++attempt) {
      const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
      if (number < 0) return false;
      path_ = "/dev/loop" + std::to_string(number);
      if (!std::filesystem::exists(path_)) {
        static_cast<void>(
            mknod(path_.c_str(), S_IFBLK | 0600, makedev(7, static_cast<unsigned>(number))));
      }
      loop_ = Descriptor(open(path_.c_str(), O_RDWR | O_CLOEXEC));
      loop_config config{};
      config.fd = static_cast<std::uint32_t>(file.get());
      config.info.lo_flags = LO_FLAGS_PARTSCAN;
      if (loop_.valid() && ioctl(loop_.get(), LOOP_CONFIGURE, &config) == 0) {
        // Ours would be the one process that has it open; a reader of the size elsewhere is not.
        attached_ = true;
        loop_.reset();
        return true;
      }
    }
    return false;
  }
  void detach() {
    if (!attached_) return;
    const Descriptor loop(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    change_partition(loop.get(), BLKPG_DEL_PARTITION);
    if (loop.valid()) ioctl(loop.get(), LOOP_CLR_FD, 0);
    attached_ = false;
  }
  /// Partition 1 behind the first MiB, for kernels that do not read partition tables of the kind.
  void add_partition() const {
    const Descriptor loop(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    change_partition(loop.get(), BLKPG_ADD_PARTITION);
  }
  static void change_partition(int loop, int change) {
    blkpg_partition partition{};
    partition.start = 1 << 20;
    partition.length = static_cast<long long>(image_bytes) - partition.start;
    partition.pno = 1;
    blkpg_ioctl_arg argument{};
    argument.op = change;
    argument.datalen = sizeof partition;
    argument.data = &partition;
    ioctl(loop, BLKPG, &argument);
  }
  /// Runs mkfs.ext4 and the like on the image; false where the program is missing.
  static bool tool(const std::vector<std::string>& argv) {
    try {
      const CommandOutput output = run_program(argv);
      return output.end.exited() && output.end.exit_code() == 0;
    } catch (const Error&) {
      return false;
    }
  }
  [[nodiscard]] std::string image() const {
    std::ifstream in(image_, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  [[nodiscard]] ProgramRun job(std::vector<std::string> more = {},
                               const std::string& device = "") const {
    std::vector<std::string> arguments{"--filename=" + (device.empty() ? path_ : device),
                                       "--rw=randwrite", "--size=1M", "--fsync=64"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_randwrite(arguments);
  }
  [[nodiscard]] std::string allow(const std::string& device = "") const {
    return "--allow-device-write=" + (device.empty() ? path_ : device);
  }
  /// What was written to the device, or a partition of it, is in the image afterwards.
  void flush(const std::string& device) const {
    for (const std::string& path : {device, path_, image_}) {
      const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (fd.valid()) fsync(fd.get());
    }
  }
  /// It refuses, with this text, and leaves every byte as it is.
  void expect_refusal(const std::vector<std::string>& more, const std::string& text,
                      const std::string& device = "") const {
    flush(device);
    const std::string before = image();
    const ProgramRun run = job(more, device);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_THAT(run.err, HasSubstr(text));
    flush(device);
    EXPECT_TRUE(image() == before) << "the image was changed";
  }
  TemporaryDirectory directory_;
  std::string image_;
  std::string path_;
  Descriptor loop_;
  bool attached_ = false;
};

TEST_F(LoopDeviceTest, ASpareDeviceNeedsTheUsersWord) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({}, "would be overwritten. It is not in use and carries no signature");
  expect_refusal({}, "add --allow-device-write=" + path_);
  expect_refusal({"--allow-device-write=/dev/null"}, "would be overwritten");
  const ProgramRun run = job({allow()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.sample.at("operations"), 256);
  const auto& target = run.sample.at("extra").at("targets").at(0);
  EXPECT_EQ(target.at("kind"), "device");
  EXPECT_EQ(target.at("device").at("size_bytes"), image_bytes);
  EXPECT_THAT(run.out, HasSubstr("overwriting: " + path_));
}

TEST_F(LoopDeviceTest, TheReportsCommandLineWorksAndWritesEachBlockOnce) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  const ProgramRun run = run_randwrite(
      {"--time_based", "--name=benchmark", "--size=16M", "--runtime=1", "--filename=" + path_,
       "--ioengine=psync", "--randrepeat=0", "--iodepth=1", "--fsync=64", "--invalidate=1",
       "--verify=0", "--verify_fatal=0", "--blocksize=4k", "--group_reporting", "--rw=randwrite",
       "--numjobs=4", allow()});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("benchmark: (groupid=0, jobs=4): err= 0"));
  EXPECT_THAT(run.out, HasSubstr("  WRITE: bw="));
  EXPECT_GT(run.sample.at("metrics").at("iops").at("value").get<double>(), 0);
  EXPECT_GT(run.sample.at("latency").at("fsync").at("count").get<int>(), 0);
}

TEST_F(LoopDeviceTest, AFileSystemOnItIsASignature) {
  if (!tool({"mkfs.ext4", "-q", "-F", image_})) GTEST_SKIP() << "no mkfs.ext4";
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({allow()}, "carries a signature: ext4 file system");
  expect_refusal({allow()}, "add --destroy-signature");
  expect_refusal({}, "--allow-device-write=" + path_ + " --destroy-signature");
  EXPECT_EQ(job({allow(), "--destroy-signature"}).status, 0);
}

/// A DOS partition table with one partition from 1 MiB to the end, as sfdisk writes it.
void write_partition_table(const std::string& image) {
  std::string sector(512, '\0');
  constexpr std::uint32_t start = 2048;
  constexpr std::uint32_t count = image_bytes / 512 - start;
  sector[446 + 4] = '\x83';
  std::memcpy(&sector[446 + 8], &start, 4);
  std::memcpy(&sector[446 + 12], &count, 4);
  sector[510] = '\x55';
  sector[511] = '\xaa';
  std::fstream out(image, std::ios::in | std::ios::out | std::ios::binary);
  out.write(sector.data(), static_cast<std::streamsize>(sector.size()));
}

TEST_F(LoopDeviceTest, APartitionTableIsASignature) {
  write_partition_table(image_);
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({allow()}, "dos partition table");
}

TEST_F(LoopDeviceTest, AMountedFileSystemIsNeverOverwritten) {
  if (!tool({"mkfs.ext4", "-q", "-F", image_})) GTEST_SKIP() << "no mkfs.ext4";
  if (!attach()) GTEST_SKIP() << "no loop device";
  const TemporaryDirectory point;
  // Read-only, so that the file system itself leaves the image alone.
  if (mount(path_.c_str(), point.path().c_str(), "ext4", MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "mounting is not possible here";
  }
  expect_refusal({allow(), "--destroy-signature"}, "is mounted on " + point.path().string());
  umount2(point.path().c_str(), 0);
}

TEST_F(LoopDeviceTest, AMountInAnotherNamespaceCountsAsWell) {
  if (!tool({"mkfs.ext4", "-q", "-F", image_})) GTEST_SKIP() << "no mkfs.ext4";
  if (!attach()) GTEST_SKIP() << "no loop device";
  const TemporaryDirectory point;
  const std::string ready = directory_ / "ready";
  SpawnRequest request;
  request.argv = {"unshare", "-m", "sh", "-c",
                  "mount -o ro " + path_ + " " + point.path().string() + " && touch " + ready +
                      " && exec sleep 60"};
  request.pipe_stdin = false;
  Child holder = Child::spawn(request);
  for (int i = 0; i < 200 && !std::filesystem::exists(ready); ++i) usleep(20'000);
  if (std::filesystem::exists(ready)) {
    expect_refusal({allow(), "--destroy-signature"}, "in the mount namespace of process");
  }
  kill(holder.pid(), SIGKILL);
  ASSERT_TRUE(holder.wait(10'000'000'000).has_value());
  if (!std::filesystem::exists(ready)) GTEST_SKIP() << "no mount namespaces here";
}

TEST_F(LoopDeviceTest, ADiskWithAMountedPartitionIsNeverOverwritten) {
  write_partition_table(image_);
  if (!attach()) GTEST_SKIP() << "no loop device";
  const std::string partition = path_ + "p1";
  if (!std::filesystem::exists(partition)) add_partition();
  for (int i = 0; i < 40 && !std::filesystem::exists(partition); ++i) usleep(50'000);
  if (!std::filesystem::exists(partition)) GTEST_SKIP() << "no device for the partition";
  if (!tool({"mkfs.ext4", "-q", "-F", partition})) GTEST_SKIP() << "no mkfs.ext4";
  const TemporaryDirectory point;
  if (mount(partition.c_str(), point.path().c_str(), "ext4", MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "mounting is not possible here";
  }
  const std::string mounted = " is mounted on " + point.path().string();
  expect_refusal({allow(), "--destroy-signature"},
                 "its partition " + std::filesystem::path(partition).filename().string() + mounted);
  expect_refusal({allow(partition), "--destroy-signature"}, "it" + mounted, partition);
  umount2(point.path().c_str(), 0);
}

TEST_F(LoopDeviceTest, SwapSpaceIsNeverOverwritten) {
  if (!tool({"mkswap", image_})) GTEST_SKIP() << "no mkswap";
  if (!attach()) GTEST_SKIP() << "no loop device";
  if (swapon(path_.c_str(), 0) != 0) GTEST_SKIP() << "swapon: " << std::strerror(errno);
  // The kernel may swap to it meanwhile, but never to the first page, which a job would write too.
  flush(path_);
  const std::string before = image().substr(0, 4096);
  const ProgramRun run = job({allow(), "--destroy-signature"});
  EXPECT_EQ(run.status, 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("it is swap space"));
  flush(path_);
  EXPECT_TRUE(image().substr(0, 4096) == before) << "the image was changed";
  swapoff(path_.c_str());
}

TEST_F(LoopDeviceTest, ADeviceThatAnotherProcessHoldsIsNotOverwritten) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  const Descriptor held(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  expect_refusal({allow()}, "it is open in process");
}

TEST_F(LoopDeviceTest, TheImageOfALoopDeviceIsNotOverwrittenAsAFile) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({"--overwrite-existing"}, "is behind the loop device", image_);
}

TEST_F(LoopDeviceTest, TheModelCanBeDemanded) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({allow(), "--device-model=NVMe"}, "device-model asks for \"NVMe\"");
}

TEST_F(LoopDeviceTest, ALinkToADeviceIsThatDevice) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  const std::string link = directory_ / "disk";
  std::filesystem::create_symlink(path_, link);
  expect_refusal({}, "add --allow-device-write=" + path_, link);
  EXPECT_EQ(job({allow()}, link).status, 0);
}

TEST_F(LoopDeviceTest, ARangeBeyondTheDeviceIsRefused) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  expect_refusal({allow(), "--size=1G"}, "beyond the device");
}

TEST_F(LoopDeviceTest, SharesOfTheDeviceAndConditioning) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  const ProgramRun run =
      job({allow(), "--size=25%", "--offset=50%", "--precondition=fill", "--rw=randread"});
  ASSERT_EQ(run.status, 0) << run.err;
  const auto& facts = run.sample.at("extra").at("jobs").at(0);
  EXPECT_EQ(facts.at("range_bytes"), image_bytes / 4);
  EXPECT_EQ(facts.at("offset_bytes"), image_bytes / 2);
  const std::string bytes = image();
  EXPECT_EQ(bytes.substr(0, 4096), std::string(4096, '\0')) << "outside of the range";
  EXPECT_NE(bytes.substr(image_bytes / 2, 4096), std::string(4096, '\0'));
}

TEST_F(LoopDeviceTest, ADeviceThatFailsEndsTheJobWithTheError) {
  if (!attach()) GTEST_SKIP() << "no loop device";
  // The loop device keeps its size while its file loses its blocks: with O_DIRECT, reads beyond the
  // file's end fail.
  std::filesystem::resize_file(image_, 4096);
  const ProgramRun run = job({allow(), "--direct=1", "--rw=randread", "--size=32M"});
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  EXPECT_EQ(run.sample.at("errors").at("EIO"), 1) << run.sample.at("errors");
  EXPECT_TRUE(run.sample.at("metrics").empty());
}

TEST_F(LoopDeviceTest, WritesThatFailWithoutAWordAreFoundByTheirFsync) {
  // The image lies on a file system of 1 MiB: the device takes the pages, and cannot write them.
  const TemporaryDirectory small;
  if (mount("tmpfs", small.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting is not possible here";
  }
  image_ = small / "image";
  write_text(image_, "");
  std::filesystem::resize_file(image_, image_bytes);
  const bool attached = attach();
  ProgramRun run;
  if (attached) run = job({allow(), "--size=32M"});
  detach();
  umount2(small.path().c_str(), MNT_DETACH);
  if (!attached) GTEST_SKIP() << "no loop device";
  EXPECT_EQ(run.status, 1) << run.out << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_FALSE(run.sample.at("errors").empty());
  EXPECT_THAT(run.sample.at("error").get<std::string>(), HasSubstr("fsync of"));
  EXPECT_TRUE(run.sample.at("metrics").empty());
}

}  // namespace
}  // namespace krepro::randwrite
