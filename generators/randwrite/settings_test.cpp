// Options as fio has them: what they come to, which contradict each other, which are refused.
#include "generators/randwrite/settings.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/generator/command_line.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::Contains;
using testing::HasSubstr;

using Given = std::vector<std::pair<std::string, std::string>>;

TrialSettings settings_of(const Given& given) {
  TestFrame frame;
  return resolve_settings(options_of(given), frame);
}

JobSettings job_of(const Given& given) { return settings_of(given).jobs.at(0); }

std::string refusal_of(const Given& given) {
  return error_of([&given] { static_cast<void>(settings_of(given)); });
}

TEST(SettingsTest, TheReportsCommandLineIsUnderstood) {
  const Description description = make_description();
  const std::vector<const char*> argv{
      "krepro-randwrite", "--time_based",   "--name=benchmark",
      "--size=50G",       "--runtime=60",   "--filename=/dev/nvme1n1",
      "--ioengine=psync", "--randrepeat=0", "--iodepth=1",
      "--fsync=64",       "--invalidate=1", "--verify=0",
      "--verify_fatal=0", "--blocksize=4k", "--group_reporting",
      "--rw=randwrite",   "--numjobs=4"};
  const CommandLine line =
      parse_command_line(description, static_cast<int>(argv.size()), argv.data());
  TestFrame frame;
  const TrialSettings trial = resolve_settings(line.options, frame);
  ASSERT_EQ(trial.jobs.size(), 1U);
  const JobSettings& job = trial.jobs.front();
  EXPECT_EQ(job.name, "benchmark");
  EXPECT_EQ(job.filename, "/dev/nvme1n1");
  EXPECT_EQ(job.size.bytes, 50ULL << 30U);
  EXPECT_EQ(job.runtime_ns, 60'000'000'000);
  EXPECT_EQ(job.engine, Engine::psync);
  EXPECT_EQ(job.fsync_every, 64U);
  EXPECT_EQ(job.block_bytes, 4096U);
  EXPECT_EQ(job.count, 4U);
  EXPECT_TRUE(job.time_based && job.random && job.writes && job.group_reporting);
  EXPECT_FALSE(job.reads || job.repeat || job.threads || job.direct);
  EXPECT_EQ(job.hint, AccessHint::random);
  EXPECT_THAT(line.options.notes(), Contains(HasSubstr("verify_fatal")));
}

TEST(SettingsTest, DefaultsAreFios) {
  const JobSettings job = job_of({});
  EXPECT_TRUE(job.reads && !job.writes && !job.random);
  EXPECT_EQ(job.engine, Engine::psync);
  EXPECT_EQ(job.block_bytes, 4096U);
  EXPECT_EQ(job.fallocate, Fallocate::native);
  EXPECT_TRUE(job.invalidate && job.repeat && job.random_map && job.buffers.scramble);
  EXPECT_EQ(job.hint, AccessHint::sequential);
}

TEST(SettingsTest, EveryOptionOfFioIsKnown) {
  // Options of fio 3.33 that a note or a refusal names; none may be "unknown".
  for (const char* name :
       {"write_lat_log", "zonemode", "ba", "steadystate", "buffer_compress_chunk",
        "iodepth_batch_complete", "ss", "prioclass", "exitall", "cmdprio_class"}) {
    EXPECT_NE(own_table().find(name), nullptr) << name;
  }
}

TEST(SettingsTest, WhatWouldBeAnotherLoadIsRefusedByName) {
  EXPECT_THAT(refusal_of({{"verify", "crc32c"}}), HasSubstr("verify=crc32c"));
  EXPECT_THAT(refusal_of({{"zonemode", "zbd"}}), HasSubstr("zonemode=zbd"));
  EXPECT_THAT(refusal_of({{"nrfiles", "4"}}), HasSubstr("nrfiles=4"));
  EXPECT_THAT(error_of([] { options_of({{"bssplit", "4k/50"}}); }), HasSubstr("bssplit"));
  EXPECT_THAT(error_of([] { options_of({{"stonewall", ""}}); }), HasSubstr("stonewall"));
  EXPECT_THAT(error_of([] { options_of({{"rw", "randtrim"}}); }), HasSubstr("randtrim"));
  EXPECT_EQ(refusal_of({{"verify", "none"}, {"nrfiles", "1"}, {"mem", "malloc"}}), "");
}

TEST(SettingsTest, ContradictionsAreFoundBeforeAnythingIsDone) {
  EXPECT_THAT(refusal_of({{"time_based", "1"}}), HasSubstr("runtime"));
  EXPECT_THAT(refusal_of({{"ramp_time", "3"}, {"runtime", "3"}}), HasSubstr("time_based"));
  EXPECT_THAT(refusal_of({{"rate", "1m"}, {"rate_iops", "5"}}), HasSubstr("exclude"));
  EXPECT_THAT(refusal_of({{"direct", "1"}, {"buffered", "1"}}), HasSubstr("contradict"));
  EXPECT_THAT(refusal_of({{"fixedbufs", "1"}}), HasSubstr("io_uring"));
  EXPECT_THAT(refusal_of({{"random_distribution", "zipf:1.2"}}), HasSubstr("only for random"));
  EXPECT_THAT(refusal_of({{"rw", "randread"}, {"random_distribution", "zipf:1"}}),
              HasSubstr("theta"));
  EXPECT_THAT(refusal_of({{"rw", "randread"}, {"random_distribution", "normal:5"}}),
              HasSubstr("normal"));
  EXPECT_THAT(refusal_of({{"readonly", "1"}, {"rw", "write"}}), HasSubstr("readonly"));
  EXPECT_THAT(refusal_of({{"size", "0%"}}), HasSubstr("size"));
  EXPECT_THAT(refusal_of({{"size", "120%"}}), HasSubstr("size"));
}

TEST(SettingsTest, ASynchronousEngineHasOneRequestInFlightAndSaysSo) {
  TestFrame frame;
  const TrialSettings trial = resolve_settings(options_of({{"iodepth", "32"}}), frame);
  EXPECT_EQ(trial.jobs.front().ring.depth, 1U);
  EXPECT_THAT(frame.notes, Contains(HasSubstr("iodepth=32")));
}

TEST(SettingsTest, RatesCountPerJobAndDirection) {
  const JobSettings bytes = job_of({{"rw", "randwrite"}, {"bs", "4k"}, {"rate", "1m"}});
  EXPECT_DOUBLE_EQ(bytes.rate_per_second[1], 256);
  EXPECT_DOUBLE_EQ(bytes.rate_per_second[0], 0);
  const JobSettings mixed = job_of({{"rw", "randrw"}, {"rate_iops", "10"}});
  EXPECT_DOUBLE_EQ(mixed.rate_per_second[0], 10);
  EXPECT_DOUBLE_EQ(mixed.rate_per_second[1], 10);
}

TEST(SettingsTest, UnitsAreThoseOfTheProject) {
  EXPECT_EQ(job_of({{"bs", "4Ki"}}).block_bytes, 4096U);
  EXPECT_EQ(job_of({{"bs", "4KiB"}}).block_bytes, 4096U);
  EXPECT_EQ(job_of({{"bs", "4kB"}}).block_bytes, 4000U);
  EXPECT_THAT(error_of([] { options_of({{"bs", "4KB"}}); }), HasSubstr("ambiguous"));
  EXPECT_EQ(job_of({{"thinktime", "50"}}).think_ns, 50'000);
  EXPECT_EQ(job_of({{"runtime", "1m"}}).runtime_ns, 60'000'000'000);
}

TEST(SettingsTest, SynchronousWritesAndTheMix) {
  EXPECT_EQ(job_of({{"sync", "1"}}).sync_flag, O_SYNC);
  EXPECT_EQ(job_of({{"sync", "dsync"}}).sync_flag, O_DSYNC);
  EXPECT_EQ(job_of({{"rw", "randrw"}, {"rwmixwrite", "30"}}).read_percent, 70U);
  EXPECT_TRUE(job_of({{"buffered", "0"}}).direct);
  EXPECT_TRUE(job_of({{"fsync_on_close", "1"}}).end_fsync);
}

TEST(AmountTest, IsBytesOrAShare) {
  EXPECT_FALSE(parse_amount("size", "").given);
  EXPECT_EQ(parse_amount("size", "16M").of(1), 16ULL << 20U);
  EXPECT_EQ(parse_amount("size", "30%").of(1000), 300U);
  EXPECT_EQ(parse_amount("size", "100%").of(~0ULL), ~0ULL);
}

}  // namespace
}  // namespace krepro::randwrite
