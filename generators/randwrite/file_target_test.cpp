// Regular files: what is used, what is refused, what stays and what is gone afterwards. Run through
// the program, as users do.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <sstream>

#include "common/process/descriptor.h"
#include "generators/randwrite/file_mark.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A short job on that file.
std::vector<std::string> job_on(const std::string& path, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"--filename=" + path, "--rw=randwrite", "--size=1M",
                                     "--fsync=64"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(FileTargetTest, AFileMadeHereIsGoneAfterwardsAndAForeignOneStays) {
  const TemporaryDirectory directory;
  write_text(directory / "foreign", "mine");
  const ProgramRun run = run_randwrite(job_on(directory / "new.dat"));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(directory.names(), UnorderedElementsAre("foreign"));
  EXPECT_EQ(contents_of(directory / "foreign"), "mine");
  EXPECT_EQ(run.sample.at("operations"), 256);
  EXPECT_EQ(run.sample.at("extra").at("fsyncs"), 3);
  const auto& target = run.sample.at("extra").at("targets").at(0);
  EXPECT_EQ(target.at("path"), directory / "new.dat");
  EXPECT_TRUE(target.at("created").get<bool>());
  EXPECT_EQ(target.at("layout"), "allocated");
}

TEST(FileTargetTest, AForeignFileIsNotOverwrittenUnlessItIsNamed) {
  const TemporaryDirectory directory;
  const std::string text(1U << 20U, 'x');
  write_text(directory / "data", text);
  const ProgramRun refused = run_randwrite(job_on(directory / "data"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("was not made by krepro"));
  EXPECT_THAT(refused.err, HasSubstr("--overwrite-existing"));
  EXPECT_EQ(contents_of(directory / "data"), text);
  const ProgramRun allowed = run_randwrite(job_on(directory / "data", {"--overwrite-existing"}));
  EXPECT_EQ(allowed.status, 0) << allowed.err;
  EXPECT_NE(contents_of(directory / "data"), text) << "it is the user's file: it stays";
}

TEST(FileTargetTest, AKeptFileIsKnownAsOursNextTime) {
  const TemporaryDirectory directory;
  const std::string path = directory / "kept.dat";
  ASSERT_EQ(run_randwrite(job_on(path, {"--keep-files"})).status, 0);
  EXPECT_EQ(std::filesystem::file_size(path), 1U << 20U);
  const ProgramRun second = run_randwrite(job_on(path));
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(FileTargetTest, TheMarkBesideAFileFitsThatFileOnly) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a";
  write_text(path, "x");
  const Descriptor fd(open(path.c_str(), O_RDWR));
  EXPECT_FALSE(is_marked_as_made(fd.get(), path));
  mark_as_made(fd.get(), path);
  EXPECT_TRUE(is_marked_as_made(fd.get(), path));
  write_text(directory / "b", "y");
  write_text(mark_path(directory / "b"), "1 2\n");
  const Descriptor other(open((directory / "b").c_str(), O_RDWR));
  EXPECT_FALSE(is_marked_as_made(other.get(), directory / "b"));
}

TEST(FileTargetTest, ReadersNeedNoLeaveAndDestroyNothing) {
  const TemporaryDirectory directory;
  const std::string text(1U << 20U, 'x');
  write_text(directory / "data", text);
  const ProgramRun run = run_randwrite({"--filename=" + (directory / "data"), "--rw=randread"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.sample.at("operations"), 256);
  EXPECT_EQ(contents_of(directory / "data"), text);
}

TEST(FileTargetTest, ASparseFileIsTold) {
  const TemporaryDirectory directory;
  write_text(directory / "sparse", "");
  std::filesystem::resize_file(directory / "sparse", 8U << 20U);
  const ProgramRun run = run_randwrite({"--filename=" + (directory / "sparse"), "--rw=randread"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.sample.at("extra").at("targets").at(0).at("layout"), "sparse");
  EXPECT_THAT(run.out, HasSubstr("is sparse"));
}

TEST(FileTargetTest, WhatIsNoFileIsRefusedInItsOwnWords) {
  const TemporaryDirectory directory;
  const auto refusal = [](const std::string& path) {
    const ProgramRun run = run_randwrite(job_on(path));
    EXPECT_EQ(run.status, 2) << path;
    return run.err;
  };
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("nowhere", directory.path() / "dangling");
  EXPECT_THAT(refusal(directory.path().string()), HasSubstr("a directory"));
  EXPECT_THAT(refusal(directory / "fifo"), HasSubstr("a FIFO"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("a character device"));
  EXPECT_THAT(refusal(directory / "dangling"), HasSubstr("leads nowhere"));
  EXPECT_THAT(refusal("/dev/"), HasSubstr("a directory"));
  EXPECT_THAT(refusal("/dev/no_such_disk_x"), HasSubstr("no such device"));
  EXPECT_FALSE(std::filesystem::exists("/dev/no_such_disk_x"));
  EXPECT_THAT(refusal(directory / "no/such/folder/x"), HasSubstr("no directory"));
  EXPECT_THAT(directory.names(), UnorderedElementsAre("fifo", "dangling"));
}

TEST(FileTargetTest, ALinkLeadsToItsFile) {
  const TemporaryDirectory directory;
  write_text(directory / "real", std::string(1U << 20U, 'x'));
  std::filesystem::create_symlink("real", directory.path() / "link");
  EXPECT_EQ(run_randwrite(job_on(directory / "link")).status, 2);
  const ProgramRun run = run_randwrite(job_on(directory / "link", {"--overwrite-existing"}));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.sample.at("extra").at("targets").at(0).at("path"), directory / "real");
}

TEST(FileTargetTest, NamesWithSpecialCharactersAreTakenWhole) {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  std::filesystem::create_directory(directory.path() / "a:b c%d");
  const std::string path = directory / "a:b c%d/x.dat";
  const ProgramRun run = run_randwrite(job_on(path, {"--keep-files"}), elsewhere.path());
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(run.sample.at("extra").at("targets").at(0).at("path"), path);
  EXPECT_THAT(elsewhere.names(), IsEmpty());
  std::string escaped = path;
  escaped.replace(escaped.find(':'), 1, "\\:");
  EXPECT_EQ(run_randwrite(job_on(escaped)).status, 0) << "fio's way of writing it";
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(FileTargetTest, WithoutANameEachCopyHasAFileOfItsOwn) {
  const TemporaryDirectory directory;
  const std::vector<std::string> arguments{"--directory=" + directory.path().string(), "--name=n",
                                           "--rw=write", "--size=64k", "--numjobs=2"};
  std::vector<std::string> kept = arguments;
  kept.emplace_back("--keep-files");
  ASSERT_EQ(run_randwrite(kept).status, 0);
  EXPECT_THAT(directory.names(), UnorderedElementsAre("n.0.0", "n.1.0")) << "as fio names them";
  ASSERT_EQ(run_randwrite(arguments).status, 0);
  EXPECT_THAT(directory.names(), UnorderedElementsAre("n.0.0", "n.1.0"));
}

TEST(FileTargetTest, SpaceIsCheckedBeforeTheLayout) {
  const TemporaryDirectory directory;
  const ProgramRun run =
      run_randwrite({"--filename=" + (directory / "big"), "--rw=randwrite", "--size=900T"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("free"));
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(FileTargetTest, TwoTrialsDoNotShareAFileUnknowingly) {
  const TemporaryDirectory directory;
  const std::string path = directory / "held.dat";
  ASSERT_EQ(run_randwrite(job_on(path, {"--keep-files"})).status, 0);
  SpawnRequest request;
  request.argv = {KREPRO_RANDWRITE_PROGRAM, "--settle=0",  "--filename=" + path,
                  "--rw=randwrite",         "--size=1M",   "--time_based",
                  "--runtime=60",           "--keep-files"};
  request.pipe_stdin = false;
  Child holder = Child::spawn(request);
  std::string message;
  for (int i = 0; i < 100 && message.find("another krepro") == std::string::npos; ++i) {
    usleep(50'000);
    message = run_randwrite(job_on(path, {"--keep-files"})).err;
  }
  EXPECT_THAT(message, HasSubstr("in use by another krepro"));
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.wait(20'000'000'000)->exit_code(), 130);
}

/// Starts a lasting job, waits for its files, sends the signal and waits for the end.
void interrupt_job_in(const TemporaryDirectory& directory, int signal_number) {
  SpawnRequest request;
  request.argv = {KREPRO_RANDWRITE_PROGRAM,
                  "--settle=0",
                  "--directory=" + directory.path().string(),
                  "--name=job",
                  "--rw=randwrite",
                  "--size=1M",
                  "--time_based",
                  "--runtime=60",
                  "--numjobs=2"};
  request.pipe_stdin = false;
  const std::size_t before = directory.names().size();
  Child child = Child::spawn(request);
  for (int i = 0; i < 800 && directory.names().size() < before + 2; ++i) usleep(25'000);
  ASSERT_EQ(directory.names().size(), before + 2);
  usleep(200'000);
  kill(child.pid(), signal_number);
  ASSERT_TRUE(child.wait(20'000'000'000).has_value());
}

TEST(FileTargetTest, AnEndBySigtermLeavesNoFile) {
  const TemporaryDirectory directory;
  interrupt_job_in(directory, SIGTERM);
  EXPECT_THAT(directory.names(), IsEmpty());
}

TEST(FileTargetTest, WhatAKilledTrialLeftIsRemovedByTheNextAndTold) {
  const TemporaryDirectory directory;
  write_text(directory / "job.0.0.999", "mine, though named alike");
  interrupt_job_in(directory, SIGKILL);
  const ProgramRun next = run_randwrite(
      {"--directory=" + directory.path().string(), "--name=job", "--rw=randwrite", "--size=1M"});
  EXPECT_EQ(next.status, 0) << next.err;
  EXPECT_THAT(next.out, HasSubstr("left behind by a trial that was killed"));
  EXPECT_THAT(directory.names(), UnorderedElementsAre("job.0.0.999"));
}

TEST(FileTargetTest, AFileThatMayNotBeOpenedIsNamedWithTheReason) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  const TemporaryDirectory directory;
  write_text(directory / "locked", std::string(1U << 20U, 'x'));
  std::filesystem::permissions(directory / "locked", std::filesystem::perms::none);
  const ProgramRun run = run_randwrite(job_on(directory / "locked", {"--overwrite-existing"}));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("Permission denied"));
}

TEST(FileTargetTest, BlocksMustFitODirect) {
  const TemporaryDirectory directory;
  const ProgramRun run = run_randwrite(job_on(directory / "f", {"--direct=1", "--bs=1000"}));
  EXPECT_TRUE(run.status == 2 || run.status == 3) << run.err;
  EXPECT_THAT(directory.names(), IsEmpty());
}

/// A file system of 16 MB in memory, mounted for one test.
class SmallFileSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    if (mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=16m") != 0) {
      GTEST_SKIP() << "mounting is not possible here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount2(directory_.path().c_str(), MNT_DETACH);
  }
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST_F(SmallFileSystemTest, ALayoutThatDoesNotFitIsRefused) {
  const ProgramRun run =
      run_randwrite({"--filename=" + (directory_ / "f"), "--rw=randwrite", "--size=32M"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("16 MiB free"));
  EXPECT_THAT(directory_.names(), IsEmpty());
}

TEST_F(SmallFileSystemTest, RunningOutOfSpaceEndsTheJobWithTheErrorAndNoNumber) {
  const ProgramRun run = run_randwrite({"--filename=" + (directory_ / "f"), "--rw=randwrite",
                                        "--size=32M", "--fallocate=none", "--runtime=20"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_EQ(run.sample.at("errors").at("ENOSPC"), 1);
  EXPECT_THAT(run.sample.at("error").get<std::string>(), HasSubstr("No space left on device"));
  EXPECT_TRUE(run.sample.at("metrics").empty());
  EXPECT_FALSE(run.sample.at("valid").get<bool>());
  EXPECT_THAT(directory_.names(), IsEmpty());
}

TEST_F(SmallFileSystemTest, MemoryIsCalledMemory) {
  const ProgramRun run = run_randwrite(
      {"--filename=" + (directory_ / "f"), "--rw=randwrite", "--size=1M", "--direct=1"});
  if (run.status == 3) {
    EXPECT_THAT(run.err, HasSubstr("does not support O_DIRECT"));
    return;
  }
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the figures are memory's"));
  EXPECT_EQ(run.sample.at("extra").at("targets").at(0).at("filesystem"), "tmpfs");
}

}  // namespace
}  // namespace krepro::randwrite
