// Outputs as the tools print them, whole, broken and foreign.
#include "suite/imports/foreign_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/error.h"
#include "suite/compare/comparison.h"

namespace krepro {
namespace {

using testing::HasSubstr;

const char* hackbench =
    "Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)\n"
    "Each sender will pass 100 messages of 100 bytes\nTime: 0.331\n";
const char* perf_bench =
    "# Running 'sched/messaging' benchmark:\n# 20 sender and receiver processes per group\n"
    "# 10 groups == 400 processes run\n\n     Total time: 0.123 [sec]\n";
const char* pgbench =
    "pgbench (15.5)\ntransaction type: <builtin: select only>\nscaling factor: 10\n"
    "query mode: prepared\nnumber of clients: 16\nnumber of threads: 1\n"
    "number of failed transactions: 0 (0.000%)\nlatency average = 0.232 ms\n"
    "tps = 69012.345678 (without initial connection time)\n";
const char* wrk =
    "Running 10s test @ https://127.0.0.1:8089/test.html\n  2 threads and 200 connections\n"
    "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     2.61ms\n"
    "  871234 requests in 10.00s, 700MB read\nRequests/sec:  87228.33\nTransfer/sec: 70MB\n";
const char* fio =
    "note: both iodepth >= 1 and synchronous I/O engine are selected\n"
    R"({"fio version":"fio-3.33","jobs":[{"jobname":"benchmark","error":0,)"
    R"("read":{"total_ios":0,"iops":0.0},"write":{"total_ios":5000,"iops":37000.5}}]})";

TEST(ForeignResults, Hackbench) {
  const ForeignResult result = parse_foreign(hackbench, "x")[0];
  EXPECT_EQ(result.row, "process g=10 fds=40 loops=100 size=100");
  EXPECT_EQ(result.value, 0.331);
  EXPECT_FALSE(result.higher_is_better);
}

TEST(ForeignResults, PerfBench) {
  const ForeignResult result = parse_foreign(perf_bench, "x")[0];
  EXPECT_EQ(result.tool, "perf bench");
  EXPECT_EQ(result.row, "sched/messaging process g=10");
  EXPECT_EQ(result.value, 0.123);
}

TEST(ForeignResults, PerfBenchOfCountedOperationsGivesTheTimeOfOne) {
  const ForeignResult result = parse_foreign(
      "# Running 'sched/pipe' benchmark:\n# Executed 1000 pipe operations between two processes\n\n"
      "     Total time: 0.032 [sec]\n\n      32.626000 usecs/op\n          30650 ops/sec\n",
      "x")[0];
  EXPECT_EQ(result.row, "sched/pipe n=1000");
  EXPECT_EQ(result.value, 32.626);
  EXPECT_EQ(result.unit, "us");
}

TEST(ForeignResults, Pgbench) {
  const ForeignResult result = parse_foreign(pgbench, "x")[0];
  EXPECT_EQ(result.row, "select only scale=10 c=16 j=1 prepared");
  EXPECT_NEAR(result.value, 69012.345678, 1e-6);
  EXPECT_TRUE(result.higher_is_better);
  EXPECT_EQ(result.failure, "");
}

TEST(ForeignResults, Wrk) {
  const ForeignResult result = parse_foreign(wrk, "x")[0];
  EXPECT_EQ(result.row, "https /test.html t=2 c=200");
  EXPECT_EQ(result.value, 87228.33);
  const ForeignResult failed =
      parse_foreign(std::string(wrk) + "  Non-2xx or 3xx responses: 5\n", "x")[0];
  EXPECT_THAT(failed.failure, HasSubstr("5"));
}

TEST(ForeignResults, Fio) {
  const std::vector<ForeignResult> results = parse_foreign(fio, "x");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].row, "benchmark write");
  EXPECT_EQ(results[0].value, 37000.5);
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_foreign(text, "x"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(ForeignResults, WhatCannotBeReadIsSaidInOneLine) {
  EXPECT_EQ(error_of(" \n"), "x: is empty");
  EXPECT_THAT(error_of("something else"), HasSubstr("neither a run file"));
  EXPECT_THAT(error_of(std::string(hackbench) + "Time: 0.4\n"), HasSubstr("2 runs in one file"));
  EXPECT_THAT(error_of("Running in process mode with 1 groups using 40 file descriptors each\n"),
              HasSubstr("no line \"Time:"));
  EXPECT_THAT(error_of("transaction type: x\ntps = nan (x)\n"), HasSubstr("tps is not a number"));
  EXPECT_THAT(error_of(R"({"fio version":"fio-3.33","jobs":[)"), HasSubstr("is not whole"));
  EXPECT_THAT(error_of(R"({"fio version":"fio-3.33","jobs":[]})"), HasSubstr("without jobs"));
}

class ImportDirectory : public testing::Test {
 protected:
  ImportDirectory() {
    char pattern[] = "/tmp/krepro-imports-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~ImportDirectory() override { std::filesystem::remove_all(directory_); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::filesystem::path directory_;
};

TEST_F(ImportDirectory, FilesOfOneDirectoryAreOneBoot) {
  write("a/1.txt", hackbench);
  write("a/2.txt", hackbench);
  const RunFacts facts = import_directory(directory_ / "a", "a");
  EXPECT_EQ(facts.foreign, "hackbench");
  EXPECT_EQ(facts.benchmarks.size(), 1u);
  ASSERT_EQ(facts.trials.size(), 2u);
  EXPECT_EQ(facts.trials[0].boot_id, facts.trials[1].boot_id);
  EXPECT_EQ(facts.trials[1].repetition, 1);
}

TEST_F(ImportDirectory, SubdirectoriesAreBootsAndGiveAVerdict) {
  for (const char* label : {"base", "other"}) {
    for (int boot = 0; boot < 4; ++boot) {
      std::string text = hackbench;
      const double seconds = (label[0] == 'b' ? 0.3 : 0.4) + 0.001 * boot;
      text.replace(text.find("0.331"), 5, std::to_string(seconds));
      write(std::string(label) + "/boot" + std::to_string(boot) + "/1.txt", text);
    }
  }
  std::vector<InputPath> inputs;
  inputs.push_back(read_input(directory_ / "base"));
  inputs.push_back(read_input(directory_ / "other"));
  const Comparison comparison = compare_sides(make_sides(std::move(inputs), ""), {});
  EXPECT_EQ(comparison.columns[0].boots, 4u);
  EXPECT_EQ(comparison.rows[0].cells[0].test.verdict, Verdict::worse);
  EXPECT_THAT(comparison.warnings, testing::Contains(HasSubstr("imported from hackbench")));
}

TEST_F(ImportDirectory, AnEmptyDirectoryIsAnError) {
  std::filesystem::create_directories(directory_ / "empty");
  EXPECT_THROW(static_cast<void>(read_input(directory_ / "empty")), Error);
  EXPECT_THROW(static_cast<void>(read_input(directory_ / "absent")), Error);
}

}  // namespace
}  // namespace krepro
