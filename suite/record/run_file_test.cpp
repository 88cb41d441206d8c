// Run files as they are written, torn, mailed around and read.
#include "suite/record/run_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "common/base/error.h"

namespace krepro {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A directory of this test's own, removed at its end.
class RunFileTest : public ::testing::Test {
 protected:
  RunFileTest() {
    char pattern[] = "/tmp/krepro-record-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~RunFileTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_ / name;
  }
  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  std::filesystem::path directory_;
};

Plan small_plan() {
  Plan plan;
  plan.title = "small";
  plan.profile_name = "small";
  Benchmark benchmark;
  benchmark.name = "row";
  benchmark.family = "null, 1/s (higher is better)";
  benchmark.generator = "null";
  plan.benchmarks = {benchmark};
  plan.trials = {Trial{0, 0, 0, false}, Trial{1, 0, 1, false}};
  return plan;
}

json run_line() {
  return {{"type", "run"},
          {"schema", run_file_schema_version},
          {"label", "6.18"},
          {"plan", to_json(small_plan())}};
}

RecordedTrial trial(std::size_t order, const std::string& status = "valid") {
  RecordedTrial trial;
  trial.benchmark = "row";
  trial.order = order;
  trial.repetition = static_cast<std::int64_t>(order);
  trial.boot_id = "boot";
  trial.status = status;
  if (status == "valid") trial.sample = {{"generator", "null"}};
  return trial;
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_run_file(text, "x.jsonl"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST_F(RunFileTest, WhatIsWrittenIsRead) {
  RunFileWriter writer = RunFileWriter::create(path("a.jsonl"));
  writer.append(run_line());
  writer.append({{"type", "boot"}, {"boot_id", "boot"}});
  writer.append(to_json(trial(0)));
  writer.append(to_json(trial(1, "failed")));
  writer.append({{"type", "note"}, {"kind", "warning"}, {"text", "steal"}});
  EXPECT_EQ(writer.size_bytes(), std::filesystem::file_size(path("a.jsonl")));

  const RunFile file = read_run_file(path("a.jsonl"));
  EXPECT_EQ(file.label, "6.18");
  EXPECT_EQ(file.plan.benchmarks.size(), 1U);
  EXPECT_EQ(file.boots.size(), 1U);
  ASSERT_EQ(file.trials.size(), 2U);
  EXPECT_EQ(file.trials[0].sample.at("generator"), "null");
  EXPECT_EQ(file.trials[1].status, "failed");
  EXPECT_EQ(file.notes.size(), 1U);
  EXPECT_FALSE(file.torn);
}

TEST_F(RunFileTest, AFileIsNeverOverwritten) {
  write_text(path("a.jsonl"), "mine");
  EXPECT_THROW(static_cast<void>(RunFileWriter::create(path("a.jsonl"))), Error);
  EXPECT_EQ(text_of(path("a.jsonl")), "mine");
}

TEST_F(RunFileTest, TwoRunsInOneMinuteGetTwoFiles) {
  RunFileWriter first = RunFileWriter::create_named(directory_, "my/label");
  first.append(run_line());
  RunFileWriter second = RunFileWriter::create_named(directory_, "my/label");
  second.append(run_line());
  EXPECT_NE(first.path(), second.path());
  EXPECT_THAT(first.path().filename().string(), ::testing::StartsWith("my_label-"));
}

TEST_F(RunFileTest, ADirectoryOrAMissingDirectoryIsRefusedWithItsName) {
  for (const auto& place : {directory_, path("no/such/dir/x.jsonl")}) {
    try {
      static_cast<void>(RunFileWriter::create(place));
      FAIL() << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(place.string()));
    }
  }
}

TEST_F(RunFileTest, AFileWithoutALineIsNotLeftBehind) {
  { const RunFileWriter writer = RunFileWriter::create(path("a.jsonl")); }
  EXPECT_FALSE(std::filesystem::exists(path("a.jsonl")));
}

TEST_F(RunFileTest, ASecondWriterIsRefused) {
  RunFileWriter writer = RunFileWriter::create(path("a.jsonl"));
  writer.append(run_line());
  try {
    static_cast<void>(RunFileWriter::resume(path("a.jsonl")));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("another krepro run"));
  }
}

TEST_F(RunFileTest, ResumingCutsATornLastLineAndKeepsTheRest) {
  const std::string whole = run_line().dump() + "\n" + to_json(trial(0)).dump() + "\n";
  write_text(path("a.jsonl"), whole + R"({"type":"sample","benchm)");
  EXPECT_TRUE(read_run_file(path("a.jsonl")).torn);

  RunFileWriter writer = RunFileWriter::resume(path("a.jsonl"));
  EXPECT_EQ(writer.cut_text(), R"({"type":"sample","benchm)");
  EXPECT_EQ(text_of(path("a.jsonl")), whole);
  writer.append(to_json(trial(1)));
  EXPECT_EQ(read_run_file(path("a.jsonl")).trials.size(), 2U);
}

TEST_F(RunFileTest, AWholeLastLineWithoutItsNewlineIsKept) {
  write_text(path("a.jsonl"), run_line().dump() + "\n" + to_json(trial(0)).dump());
  EXPECT_FALSE(read_run_file(path("a.jsonl")).torn);
  RunFileWriter writer = RunFileWriter::resume(path("a.jsonl"));
  EXPECT_EQ(writer.cut_text(), "");
  writer.append(to_json(trial(1)));
  EXPECT_EQ(read_run_file(path("a.jsonl")).trials.size(), 2U);
}

TEST_F(RunFileTest, ZeroesAtTheEndAfterAPowerCutAreATornLine) {
  write_text(path("a.jsonl"), run_line().dump() + "\n" + std::string(4096, '\0'));
  EXPECT_TRUE(read_run_file(path("a.jsonl")).torn);
  RunFileWriter writer = RunFileWriter::resume(path("a.jsonl"));
  EXPECT_EQ(writer.cut_text().size(), 4096U);
}

TEST_F(RunFileTest, EveryPrefixOfAFileIsReadOrRefusedAndNoTrialIsInvented) {
  const std::string text =
      run_line().dump() + "\n" + to_json(trial(0)).dump() + "\n" + to_json(trial(1)).dump() + "\n";
  const std::size_t run_end = text.find('\n');
  const std::size_t first_end = text.find('\n', run_end + 1);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string prefix = text.substr(0, size);
    if (size < run_end) {
      EXPECT_NE(error_of(prefix), "");
      continue;
    }
    const std::size_t expected = size < first_end ? 0U : size < text.size() - 1 ? 1U : 2U;
    EXPECT_EQ(parse_run_file(prefix, "x").trials.size(), expected) << size;
  }
}

TEST_F(RunFileTest, ResumingLeavesAForeignFileAlone) {
  write_text(path("a.txt"), "my notes");
  EXPECT_THROW(static_cast<void>(RunFileWriter::resume(path("a.txt"))), Error);
  EXPECT_EQ(text_of(path("a.txt")), "my notes");
  write_text(path("empty"), "");
  EXPECT_THROW(static_cast<void>(RunFileWriter::resume(path("empty"))), Error);
  EXPECT_TRUE(std::filesystem::exists(path("empty")));
}

// A limit on the file's size stands in for a full disk: it needs no root and no mount.
TEST_F(RunFileTest, AFullDiskCostsTheLineAndNothingElse) {
  const std::filesystem::path file = path("a.jsonl");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    RunFileWriter writer = RunFileWriter::create(file);
    writer.append(run_line());
    const rlim_t room = writer.size_bytes() + 100;
    const rlimit limit = {room, room};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      writer.append(to_json(trial(0)));
    } catch (const Error& error) {
      const bool told = std::string(error.what()).find("File too large") != std::string::npos &&
                        error.remedy().find("--resume") != std::string::npos;
      _exit(told && error.code() == ExitCode::failed ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(text_of(file), run_line().dump() + "\n");
}

TEST_F(RunFileTest, BytesThatAreNotUtf8DoNotStopTheRecording) {
  RunFileWriter writer = RunFileWriter::create(path("a.jsonl"));
  writer.append(run_line());
  RecordedTrial bad = trial(0, "failed");
  bad.log = "garbage \xff\xfe";
  writer.append(to_json(bad));
  EXPECT_EQ(read_run_file(path("a.jsonl")).trials.size(), 1U);
}

TEST(ParseRunFileTest, WhatIsNoRunFileIsNamedWithItsLine) {
  EXPECT_THAT(error_of(""), HasSubstr("x.jsonl:1: "));
  EXPECT_THAT(error_of("hello\n"), HasSubstr("x.jsonl:1: not JSON"));
  EXPECT_THAT(error_of("{\"type\":\"note\"}\n"), HasSubstr("x.jsonl:1: not a run file"));
  const std::string run = run_line().dump() + "\n";
  EXPECT_THAT(error_of(run + "oops\n" + to_json(trial(0)).dump() + "\n"),
              HasSubstr("x.jsonl:2: not JSON"));
  EXPECT_THAT(error_of(run + run), HasSubstr("second run line"));
  EXPECT_THAT(error_of(run + "[]\n{}\n"), HasSubstr("x.jsonl:2: "));
  json line = to_json(trial(0));
  line["status"] = "splendid";
  EXPECT_THAT(error_of(run + line.dump() + "\n"), HasSubstr("\"splendid\""));
  line = to_json(trial(0));
  line.erase("order");
  EXPECT_THAT(error_of(run + line.dump() + "\n"), HasSubstr("\"order\""));
  line = to_json(trial(0));
  line["sample"] = nullptr;
  EXPECT_THAT(error_of(run + line.dump() + "\n"), HasSubstr("without a sample"));
}

TEST(ParseRunFileTest, AnotherSchemaVersionIsRefused) {
  json line = run_line();
  line["schema"] = 99;
  EXPECT_THAT(error_of(line.dump() + "\n"), HasSubstr("schema version 99"));
}

TEST(ParseRunFileTest, LinesOfTypesThatLaterVersionsAddAreSkipped) {
  const std::string text = run_line().dump() + "\n{\"type\":\"weather\"}\n";
  EXPECT_EQ(parse_run_file(text, "x").trials.size(), 0U);
}

TEST(FinalTrialsTest, OfATrialThatRanAgainTheLastRecordCounts) {
  const std::string text = run_line().dump() + "\n" + to_json(trial(0)).dump() + "\n" +
                           to_json(trial(1, "truncated")).dump() + "\n" + to_json(trial(1)).dump() +
                           "\n";
  const RunFile file = parse_run_file(text, "x");
  const auto trials = file.final_trials();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_TRUE(trials[1]->valid());
}

}  // namespace
}  // namespace krepro
