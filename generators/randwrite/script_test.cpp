// The order of writes and syncs: fio's, counted call by call.
#include "generators/randwrite/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace krepro::randwrite {
namespace {

JobSettings writing_job() {
  JobSettings job;
  job.reads = false;
  job.writes = true;
  job.random = true;
  job.read_percent = 0;
  return job;
}

OffsetPlan plan_of(const JobSettings& job, std::uint64_t blocks) {
  OffsetPlan plan;
  plan.random = job.random;
  plan.blocks = blocks;
  return plan;
}

/// One letter per step: "wwwSww...": r, w, S (fsync), D (fdatasync), | (wrap), / (reopen), . (end).
std::string steps_of(const JobSettings& job, std::uint64_t blocks, std::uint64_t operations,
                     std::size_t most = 1000) {
  Script script(job, plan_of(job, blocks), operations, 1, 0);
  std::string steps;
  while (steps.size() < most && (steps.empty() || steps.back() != '.')) {
    constexpr const char letters[] = "rwSD|/.";
    steps += letters[static_cast<std::size_t>(script.next().step)];
  }
  return steps;
}

std::size_t count(const std::string& steps, char letter) {
  return static_cast<std::size_t>(std::count(steps.begin(), steps.end(), letter));
}

TEST(ScriptTest, AnFsyncComesAfterExactlySoManyWritesAndNoneTrails) {
  JobSettings job = writing_job();
  job.fsync_every = 4;
  EXPECT_EQ(steps_of(job, 8, 8), "wwwwSwwww.") << "floor((N-1)/4), as fio";
  EXPECT_EQ(steps_of(job, 9, 9), "wwwwSwwwwSw.");
  job.fsync_every = 64;
  const std::string steps = steps_of(job, 256, 256);
  EXPECT_EQ(count(steps, 'S'), 3U);
  EXPECT_EQ(count(steps, 'w'), 256U);
}

TEST(ScriptTest, TheCountGoesOnOverPassesOfATimeBasedJob) {
  JobSettings job = writing_job();
  job.fsync_every = 4;
  job.time_based = true;
  EXPECT_EQ(steps_of(job, 6, 0, 17), "wwwwSww|wwSwwwwS|");
}

TEST(ScriptTest, LoopsReopenTheFileAndRepeatTheOrder) {
  JobSettings job = writing_job();
  job.fsync_every = 4;
  EXPECT_EQ(steps_of(job, 6, 12), "wwwwSww/wwSwwww.");
  Script script(job, plan_of(job, 5), 10, 1, 0);
  std::vector<std::uint64_t> offsets;
  for (Operation next = script.next(); next.step != Step::end; next = script.next()) {
    if (next.step == Step::write) offsets.push_back(next.offset);
  }
  ASSERT_EQ(offsets.size(), 10U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(offsets[i], offsets[i + 5]);
}

TEST(ScriptTest, FewerOperationsThanThePassEndIt) {
  EXPECT_EQ(steps_of(writing_job(), 100, 3), "www.");
}

TEST(ScriptTest, FdatasyncHasACountOfItsOwnAndAnFsyncCoversIt) {
  JobSettings job = writing_job();
  job.fsync_every = 6;
  job.fdatasync_every = 3;
  EXPECT_EQ(steps_of(job, 13, 13), "wwwDwwwSwwwDwwwSw.");
}

TEST(ScriptTest, ReadsBetweenWritesDoNotRepeatTheFsync) {
  JobSettings job = writing_job();
  job.reads = true;
  job.read_percent = 70;
  job.fsync_every = 8;
  const std::string steps = steps_of(job, 1000, 1000, 2000);
  EXPECT_GT(count(steps, 'r'), 600U);
  EXPECT_EQ(count(steps, 'S'), (count(steps, 'w') - 1) / 8);
}

TEST(ScriptTest, ReadersNeverSync) {
  JobSettings job;
  job.random = true;
  job.fsync_every = 2;
  EXPECT_EQ(steps_of(job, 4, 4), "rrrr.");
}

TEST(ScriptTest, TheMixIsDrawnForEachOperation) {
  JobSettings job = writing_job();
  job.reads = true;
  job.read_percent = 25;
  const std::string steps = steps_of(job, 4000, 4000, 5000);
  EXPECT_NEAR(static_cast<double>(count(steps, 'r')) / 4000, 0.25, 0.03);
}

TEST(ScriptTest, ARateMayDecideTheDirection) {
  JobSettings job = writing_job();
  job.reads = true;
  job.read_percent = 0;
  Script script(job, plan_of(job, 10), 10, 1, 0);
  const Direction read = Direction::read;
  EXPECT_EQ(script.next(&read).step, Step::read);
  EXPECT_EQ(script.next().step, Step::write);
}

}  // namespace
}  // namespace krepro::randwrite
