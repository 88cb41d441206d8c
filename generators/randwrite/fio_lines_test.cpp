// The lines that fio's users and scripts know.
#include "generators/randwrite/fio_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(FioNumberTest, HasFourCharactersAtMost) {
  EXPECT_EQ(fio_number(3160, 1000), "3160");
  EXPECT_EQ(fio_number(122'368, 1000), "122k");
  EXPECT_EQ(fio_number(12'300, 1000), "12.3k");
  EXPECT_EQ(fio_number(0, 1000), "0");
  EXPECT_EQ(fio_bytes(1'048'576, 1024), "1024KiB");
  EXPECT_EQ(fio_bytes(1'048'576, 1000), "1049kB");
  EXPECT_EQ(fio_bytes(512, 1024), "512B");
  EXPECT_EQ(fio_bytes(30'064'771'072.0, 1024), "28.0GiB");
  EXPECT_EQ(fio_bytes(30'064'771'072.0, 1000), "30.1GB");
  EXPECT_EQ(fio_bytes(10'010, 1024), "9.78KiB");
  EXPECT_EQ(fio_number(99'999, 1000), "100k");
  EXPECT_EQ(fio_bandwidth(478.0 * 1024 * 1024), "478MiB/s (501MB/s)");
}

std::unique_ptr<JobResult> one_second(std::uint64_t writes) {
  auto result = std::make_unique<JobResult>();
  result->start_ns = 5'000'000'000;
  result->end_ns = 6'000'000'000;
  result->writes = writes;
  result->bytes_written = writes * 4096;
  result->syncs = writes / 64;
  for (int i = 3; i <= 102; ++i) result->write.record(i * 1000);
  result->sync.record(3'000'000);
  result->sync.record(150'000'000);
  result->usage.user_ns = 100'000'000;
  result->usage.voluntary_switches = 7;
  return result;
}

TEST(FioLinesTest, TheStatusLineHasFiosShape) {
  JobReport all;
  all.add(*one_second(100'000));
  all.add(*one_second(300'000));
  EXPECT_THAT(status_lines(all),
              HasSubstr("  WRITE: bw=1562MiB/s (1638MB/s), 391MiB/s-1172MiB/s "
                        "(410MB/s-1229MB/s), io=1562MiB (1638MB), run=1000-1000msec\n"));
  EXPECT_THAT(status_lines(all), Not(HasSubstr("READ")));
}

TEST(FioLinesTest, AJobsBlockHasRatesLatenciesAndCounts) {
  JobReport report;
  report.name = "benchmark";
  report.add(*one_second(64'000));
  const std::string lines = job_lines(report);
  EXPECT_THAT(lines, HasSubstr("benchmark: (groupid=0, jobs=1): err= 0\n"));
  EXPECT_THAT(lines, HasSubstr("  write: IOPS=64.0k, BW=250MiB/s (262MB/s)(250MiB/1000msec)\n"));
  EXPECT_THAT(lines, HasSubstr("    clat (usec): min=3, max=102, avg=52.50, stdev="));
  EXPECT_THAT(lines, HasSubstr("     |  1.00th=["));
  EXPECT_THAT(lines, HasSubstr("    sync (msec): min=3, max=150, avg=76.50"));
  EXPECT_THAT(lines, HasSubstr("  cpu          : usr=10.00%, sys=0.00%, ctx=7, majf=0, minf=0\n"));
  EXPECT_THAT(lines, HasSubstr("issued rwts: total=0,64000,0,1000 short=0,0,0,0"));
}

TEST(FioLinesTest, DisksAreListed) {
  DiskCounters disk;
  disk.name = "vda";
  disk.writes = 134;
  disk.write_ms = 79;
  disk.busy_ms = 500;
  EXPECT_THAT(disk_lines({disk}, 1'000'000'000),
              HasSubstr("  vda: ios=0/134, merge=0/0, ticks=0/79, in_queue=0, util=50.00%\n"));
  EXPECT_EQ(disk_lines({}, 1), "");
}

}  // namespace
}  // namespace krepro::randwrite
