// krepro compare, bundle, run --like and aa as their users run them: real files, exit statuses, and
// one clear line for every kind of broken input.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <sstream>

#include "suite/bundle/archive.h"
#include "suite/compare/test_support.h"
#include "tests/suite/krepro_command.h"

namespace krepro::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CompareTest : public ::testing::Test {
 protected:
  CompareTest() {
    write_boots("base", MadeUpRun{});
    write_boots("slow", scaled(MadeUpRun{}, "6.19-rc1", "bbbb", 1.2));
    write_boots("like", scaled(MadeUpRun{}, "6.19-rc2", "cccc", 1));
  }

  void write_boots(const std::string& directory, MadeUpRun run, std::size_t boots = 4) const {
    for (run.first_boot = 0; run.first_boot < boots; ++run.first_boot) {
      here_.write(fmt::format("{}/{}.jsonl", directory, run.first_boot), made_up_run_file(run));
    }
  }

  /// Ends with status 2 and one line that names what is wrong, and where.
  void expect_refused(const std::vector<std::string>& words, const std::string& what) const {
    const Outcome outcome = here_.krepro(words);
    EXPECT_EQ(outcome.status, 2) << what;
    EXPECT_EQ(outcome.out, "");
    // Long lines are wrapped, and what to do about it may follow: both indented.
    std::string message;
    std::istringstream lines(outcome.err);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_THAT(line, StartsWith(message.empty() ? "krepro: " : "        ")) << outcome.err;
      message += message.empty() ? line : line.substr(7);
    }
    EXPECT_THAT(message, HasSubstr(what));
  }

  Workplace here_;
};

TEST_F(CompareTest, TheExitStatusTellsTheWorstVerdict) {
  const Outcome worse = here_.krepro({"compare", "base", "slow"});
  EXPECT_EQ(worse.status, 1) << worse.err;
  EXPECT_THAT(worse.out, HasSubstr("A: 1 of 1 row worse"));
  EXPECT_EQ(worse.err, "");
  EXPECT_EQ(here_.krepro({"compare", "base", "like"}).status, 0);
  EXPECT_EQ(here_.krepro({"compare", "slow", "base"}).status, 0) << "better";
  EXPECT_EQ(here_.krepro({"compare", "base/0.jsonl", "slow/0.jsonl"}).status, 125) << "one boot";
  EXPECT_EQ(here_.krepro({"compare", "base", "like", "slow"}).status, 1) << "any column";
}

TEST_F(CompareTest, EveryRuleAndFormatIsAnswered) {
  for (const auto& words : {std::vector<std::string>{"--strict"},
                            {"--rule", "overlap"},
                            {"--format", "markdown"},
                            {"--format", "csv"},
                            {"--format", "json"},
                            {"--format", "html"},
                            {"--tolerance", "1%", "--detect", "2"}}) {
    std::vector<std::string> all{"compare", "base", "slow"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = here_.krepro(all);
    EXPECT_EQ(outcome.status, 1) << words[0] << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("worse")) << words[0];
  }
  EXPECT_EQ(here_.krepro({"compare", "base", "slow", "--tolerance", "30%"}).status, 0)
      << "same wins over a significant change inside the tolerance";
}

TEST_F(CompareTest, AReportGoesToAFile) {
  const Outcome outcome =
      here_.krepro({"compare", "base", "slow", "--format", "html", "--out", "report.html"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_THAT(here_.read("report.html"), StartsWith("<!DOCTYPE html>"));
}

TEST_F(CompareTest, BrokenInputsAreOneClearLine) {
  const std::string whole = made_up_run_file(MadeUpRun{});
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  here_.write("schema.jsonl", with("\"schema\":1", "\"schema\":99"));
  expect_refused({"compare", "base", "schema.jsonl"}, "schema.jsonl:1: ");
  here_.write("middle.jsonl", with("\"type\":\"boot\"", "\"type\":boot"));
  expect_refused({"compare", "base", "middle.jsonl"}, "middle.jsonl:2: not JSON");
  here_.write("nan.jsonl", with("\"value\":0.6", "\"value\":null,\"x\":0.6"));
  expect_refused({"compare", "base", "nan.jsonl"}, "metric seconds is not a number");
  here_.write("literal.jsonl", with("\"value\":0.6", "\"value\":NaN,\"x\":0.6"));
  expect_refused({"compare", "base", "literal.jsonl"}, "not JSON");
  here_.write("empty.jsonl", "");
  expect_refused({"compare", "base", "empty.jsonl"}, "empty");
  here_.write("other.jsonl", "hello\nworld\n");
  expect_refused({"compare", "base", "other.jsonl"}, "other.jsonl");
  here_.write("json.jsonl", "{\"fio version\":\"fio-3.33\"}\n");
  expect_refused({"compare", "base", "json.jsonl"}, "json.jsonl");
  expect_refused({"compare", "base", "absent"}, "absent: no such file or directory");
  expect_refused({"compare", "base", "slow", "--base", "6.17"}, "no run has the label \"6.17\"");
  expect_refused({"compare", "base"}, "only one label");
  expect_refused({"compare"}, "which results?");
  expect_refused({"compare", "base", "slow", "--format", "pdf"}, "not a format");
  expect_refused({"compare", "base", "slow", "--only", "nosuch*"}, "nosuch*");
  MadeUpRun units = scaled(MadeUpRun{}, "6.19-rc1", "bbbb", 1);
  units.rows[0].unit = "ms";
  write_boots("units", units);
  expect_refused({"compare", "base", "units"}, "mixed units");
}

TEST_F(CompareTest, ATornFileIsRefusedUntilItsLastLineIsGone) {
  const std::string whole = made_up_run_file(scaled(MadeUpRun{}, "6.19-rc1", "bbbb", 1.2));
  here_.write("torn.jsonl", whole.substr(0, whole.size() - 100));
  expect_refused({"compare", "base", "torn.jsonl"}, "torn.jsonl: the last line is torn");
  expect_refused({"bundle", "base", "torn.jsonl"}, "torn.jsonl: the last line is torn");
  here_.write("torn.jsonl", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
  const Outcome outcome = here_.krepro({"compare", "base", "torn.jsonl"});
  EXPECT_EQ(outcome.status, 125) << outcome.err;
}

TEST_F(CompareTest, TenThousandTrialsASideFitInto200Megabytes) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer needs more address space than is allowed here";
#endif
  MadeUpRun run;
  run.repetitions = 10'000;
  here_.write("many.jsonl", made_up_run_file(run));
  here_.write("more.jsonl", made_up_run_file(scaled(run, "6.19-rc1", "bbbb", 1)));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit limit{200U << 20U, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const Outcome outcome = here_.krepro({"compare", "many.jsonl", "more.jsonl"});
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(outcome.status, 125) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 boot x 10000"));
}

TEST_F(CompareTest, PublishedTablesArePrintedAndSetBeside) {
  const std::string table = KREPRO_SOURCE_DIRECTORY "/profiles/graviton3/next-buddy.csv";
  const Outcome printed = here_.krepro({"compare", table});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, AllOf(HasSubstr("A: 33 of 88 rows worse"), HasSubstr("published:")));
  MadeUpRun base;
  base.environment["cpu.count_online"] = {{"value", 64}};
  base.rows[0].name = "process pipe g=7";
  write_boots("b7", base);
  write_boots("s7", scaled(base, "rc1", "bbbb", 1.23));
  const Outcome beside = here_.krepro({"compare", "b7", "s7", "--against", table});
  EXPECT_EQ(beside.status, 1) << beside.err;
  EXPECT_THAT(beside.out, HasSubstr("of 1 rows: 1 reproduced"));
  here_.write("bad.csv", "a,b\n1,2\n");
  expect_refused({"compare", "base", "slow", "--against", "bad.csv"}, "bad.csv:1: not a table");
}

TEST_F(CompareTest, ABundleIsMadeSentAndComparedWith) {
  const Outcome made = here_.krepro(
      {"bundle", "base", "slow", "--out", "b.tar.zst", "--introduced", "e837456fdca8"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("written to b.tar.zst"));
  const Outcome compared = here_.krepro({"compare", "base", "slow", "--like", "b.tar.zst"});
  EXPECT_EQ(compared.status, 1) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("1 reproduced"));
  expect_refused({"bundle", "base", "--out", "b.tar.zst"}, "b.tar.zst");
  expect_refused({"compare", "base", "slow", "--like", "base/0.jsonl"}, "not a bundle");
}

TEST_F(CompareTest, ABundlesPlanIsRunAgainHere) {
  here_.write("p.toml", instant_profile(3, 4));
  ASSERT_EQ(here_
                .krepro({"run", "p.toml", "--only", "row [12]", "--repetitions", "2", "--label",
                         "mine", "--out", "mine.jsonl"})
                .status,
            0);
  ASSERT_EQ(here_.krepro({"bundle", "mine.jsonl", "--text", "--out", "b.txt"}).status, 0);
  const Outcome outcome =
      here_.krepro({"run", "--like", "b.txt", "--label", "again", "--out", "again.jsonl"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const RunFile file = read_run_file(here_.path("again.jsonl"));
  const RunFile theirs = read_run_file(here_.path("mine.jsonl"));
  EXPECT_EQ(file.label, "again");
  EXPECT_EQ(to_json(file.plan).at("benchmarks"), to_json(theirs.plan).at("benchmarks"));
  EXPECT_EQ(to_json(file.plan).at("trials"), to_json(theirs.plan).at("trials"));
  expect_refused({"run", "--like", "b.txt", "--repetitions", "9"}, "--like repeats");
}

TEST_F(CompareTest, AKernelAgainstItselfIsRunAndCounted) {
  here_.write("p.toml", instant_profile(2, 12));
  const Outcome outcome = here_.krepro({"aa", "p.toml", "--out", "aa.jsonl"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("against itself"), HasSubstr("false alarms"),
                                 HasSubstr("difference between boots is not in this")));
  EXPECT_EQ(here_.krepro({"aa", "aa.jsonl"}).status, 0);
  expect_refused({"aa", "base", "slow"}, "aa is about one kernel");
}

TEST_F(CompareTest, NothingThatTellsWhoOrWhereIsInABundle) {
  MadeUpRun run;
  run.host = "lab-node-17.example.org";
  run.environment["host.name"] = {{"value", "lab-node-17"}, {"identity", true}};
  run.environment["kernel.cmdline"] = {
      {"value",
       "root=UUID=01234567-89ab-cdef-0123-456789abcdef ip=192.168.7.12 "
       "ifname=eth0:52:54:00:ab:cd:ef"}};
  run.environment["disk.serial"] = {{"value", "S4EVNX0R"}};
  run.environment["kernel.version"] = {{"value", "#1 SMP builder@lab-node-17"}};
  write_boots("b", run);
  run.label = "6.19";
  run.build_id = "bbbb";
  write_boots("o", run);
  ASSERT_EQ(here_.krepro({"bundle", "b", "o", "--text", "--out", "b.txt"}).status, 0);
  ASSERT_EQ(here_.krepro({"bundle", "b", "o", "--out", "b.tar.zst"}).status, 0);
  const FileSet files = unpack(here_.read("b.tar.zst"), "b.tar.zst");
  std::string all = here_.read("b.txt");
  for (const auto& [name, content] : files) all += content;
  for (const char* secret :
       {"lab-node", "192.168.7.12", "52:54:00", "S4EVNX0R", "builder@", "01234567-89ab"}) {
    EXPECT_THAT(all, Not(HasSubstr(secret)));
  }
}

}  // namespace
}  // namespace krepro::test
