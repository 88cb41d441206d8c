// Workers as threads and as processes: parked, released together, accounted for, and ended whatever
// happens.
#include "common/generator/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/timing/clock.h"

namespace krepro {
namespace {

using testing::HasSubstr;

class SilentFrame : public Frame {
 public:
  [[nodiscard]] Role role() const override { return Role::load; }
  [[nodiscard]] std::uint64_t seed() const override { return 1; }
  [[nodiscard]] const std::string& server() const override { return empty_; }
  [[nodiscard]] bool all_threads() const override { return false; }
  void check_interrupted() override {
    if (interrupt) throw Error(ExitCode::interrupted, "interrupted");
  }
  void note(const std::string& /*text*/) override {}
  [[nodiscard]] const std::string& program_directory() const override { return empty_; }
  [[nodiscard]] const std::vector<int>& worker_cpus() const override { return pinned; }
  bool interrupt = false;
  std::vector<int> pinned;

 private:
  std::string empty_;
};

bool readable_within(int descriptor, int milliseconds) {
  pollfd entry{descriptor, POLLIN, 0};
  return poll(&entry, 1, milliseconds) == 1;
}

class WorkerPoolTest : public testing::TestWithParam<WorkerKind> {
 protected:
  [[nodiscard]] WorkerPlan plan(std::size_t count) const {
    WorkerPlan made;
    made.kind = GetParam();
    made.count = count;
    return made;
  }
  SilentFrame frame_;
};

TEST_P(WorkerPoolTest, PinnedWorkersAreEachOnTheCpuOfTheirTurn) {
  const CpuSet allowed = CpuSet::allowed();
  frame_.pinned = {allowed.cpus().back(), allowed.cpus().front()};
  WorkerPool pool(plan(4), nullptr, [](const WorkerContext& /*context*/) {});
  pool.park(frame_);
  pool.start(1);
  ASSERT_TRUE(readable_within(pool.done_fd(), 5000));
  EXPECT_EQ(pool.join(), "");
  const nlohmann::json workers = pool.all_threads();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(workers[i]["cpus"], std::to_string(frame_.pinned[i % 2])) << i;
    EXPECT_EQ(workers[i]["memory"], "default");
  }
}

TEST_P(WorkerPoolTest, WorkersWithCpusOfTheirOwnAreNotPinnedOverThem) {
  frame_.pinned = {CpuSet::allowed().cpus().front()};
  WorkerPlan own = plan(1);
  own.cpus = {CpuSet::allowed()};
  WorkerPool pool(std::move(own), nullptr, [](const WorkerContext& /*context*/) {});
  EXPECT_THROW(pool.park(frame_), Error);
}

TEST_P(WorkerPoolTest, NoWorkerRunsBeforeTheStartAndAllRunAfterIt) {
  SharedArray<std::atomic<int>> runs(4);
  WorkerPool pool(plan(4), nullptr, [&](const WorkerContext& context) {
    runs[context.index].store(context.start_ns == 77 ? 1 : -1);
  });
  pool.park(frame_);
  usleep(20'000);
  for (const auto& run : runs) EXPECT_EQ(run.load(), 0);
  EXPECT_FALSE(readable_within(pool.done_fd(), 0));
  pool.start(77);
  EXPECT_TRUE(readable_within(pool.done_fd(), 10'000));
  EXPECT_EQ(pool.join(), "");
  for (const auto& run : runs) EXPECT_EQ(run.load(), 1);
  ASSERT_EQ(pool.groups().size(), 1U);
  EXPECT_EQ(pool.groups().front().count, 4U);
  EXPECT_EQ(pool.groups().front().policy, to_string(read_scheduling()));
}

TEST_P(WorkerPoolTest, StopEndsWorkersThatLookAtIt) {
  WorkerPool pool(plan(2), nullptr, [](const WorkerContext& context) {
    while (!context.stopped()) usleep(1000);
  });
  pool.park(frame_);
  pool.start(now_ns());
  EXPECT_FALSE(readable_within(pool.done_fd(), 20));
  EXPECT_EQ(pool.unfinished().size(), 2U);
  EXPECT_GT(pool.unfinished().front().tid, 0);
  pool.request_stop();
  EXPECT_TRUE(readable_within(pool.done_fd(), 10'000));
  EXPECT_EQ(pool.join(), "");
  EXPECT_TRUE(pool.unfinished().empty());
  EXPECT_GT(pool.usage().voluntary_switches, 0U);
}

TEST_P(WorkerPoolTest, AnErrorOfTheSetUpReachesTheParentWithItsRemedy) {
  WorkerPool pool(
      plan(3),
      [](std::size_t index) {
        if (index == 1) throw not_possible("no such engine", "take another");
      },
      [](const WorkerContext&) {});
  try {
    pool.park(frame_);
    FAIL() << "park() must throw";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no such engine");
    EXPECT_EQ(error.remedy(), "take another");
    EXPECT_EQ(error.code(), ExitCode::not_possible);
  }
}

TEST_P(WorkerPoolTest, WorkersTakeThePolicyAndCpusTheyAreGiven) {
  WorkerPlan made = plan(2);
  const int first = CpuSet::allowed().cpus().front();
  made.cpus = {CpuSet({first})};
  made.scheduling = parse_scheduling("batch");
  WorkerPool pool(made, nullptr, [](const WorkerContext&) {});
  pool.park(frame_);
  pool.start(now_ns());
  EXPECT_TRUE(readable_within(pool.done_fd(), 10'000));
  EXPECT_EQ(pool.join(), "");
  ASSERT_EQ(pool.groups().size(), 1U);
  EXPECT_EQ(pool.groups().front().policy, "batch");
  EXPECT_EQ(pool.groups().front().cpus, std::to_string(first));
}

TEST_P(WorkerPoolTest, APoolThatNeverStartsEndsItsWorkers) {
  WorkerPool pool(plan(3), nullptr, [](const WorkerContext&) { ADD_FAILURE(); });
  pool.park(frame_);
}

TEST_P(WorkerPoolTest, AnInterruptedSetUpEndsItsWorkers) {
  frame_.interrupt = true;
  WorkerPool pool(
      plan(2), [](std::size_t) { usleep(100'000); }, [](const WorkerContext&) {});
  EXPECT_THROW(pool.park(frame_), Error);
}

TEST(WorkerPoolProcessTest, AKilledWorkerIsNamed) {
  SilentFrame frame;
  WorkerPlan made;
  made.kind = WorkerKind::processes;
  made.count = 2;
  made.role = "job";
  WorkerPool pool(made, nullptr, [](const WorkerContext& context) {
    if (context.index == 1) raise(SIGKILL);
  });
  pool.park(frame);
  pool.start(now_ns());
  EXPECT_TRUE(readable_within(pool.done_fd(), 10'000));
  EXPECT_THAT(pool.join(), HasSubstr("job 1 was killed by signal 9"));
  ASSERT_EQ(pool.groups().size(), 1U);
  EXPECT_EQ(pool.groups().front().count, 1U) << "only the one that finished has an account";
}

INSTANTIATE_TEST_SUITE_P(Kinds, WorkerPoolTest,
                         testing::Values(WorkerKind::threads, WorkerKind::processes),
                         [](const auto& kind) {
                           return kind.param == WorkerKind::threads ? "Threads" : "Processes";
                         });

}  // namespace
}  // namespace krepro
