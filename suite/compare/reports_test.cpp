// The formats: what must be in them, how wide they are, and that foreign names cannot break them.
#include "suite/compare/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "suite/compare/reference.h"
#include "suite/compare/test_support.h"

namespace krepro {
namespace {

using testing::HasSubstr;
using testing::Not;

Comparison example(double factor = 1.2, const std::string& row_name = "process pipe g=4") {
  MadeUpRun base;
  base.rows[0].name = row_name;
  MadeUpRun rate = base;
  base.rows.push_back({"c=64 keep-alive", "http, requests/s (higher is better)", 87228, true, "1/s",
                       nlohmann::json::object()});
  MadeUpRun other = scaled(base, "6.19-rc1", "bbbb", 1);
  other.rows[0].value *= factor;
  MadeUpRun third = scaled(base, "revert-2", "cccc", 1);
  return compare_sides({{base.label, made_up_runs(base, 4)},
                        {other.label, made_up_runs(other, 4)},
                        {third.label, made_up_runs(third, 4)}},
                       {});
}

void expect_mailable(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 78u) << line;
    for (const char c : line) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(Reports, TextSaysChangesInWordsAndFitsIntoMail) {
  const std::string text = text_report(example());
  expect_mailable(text);
  EXPECT_THAT(text, HasSubstr("% worse"));
  EXPECT_THAT(text, HasSubstr("% same"));
  EXPECT_THAT(text, HasSubstr("+ is better, - is worse"));
  EXPECT_THAT(text, HasSubstr("A: 1 of 2 rows worse"));
  EXPECT_THAT(text, HasSubstr("B: 0 of 2 rows worse"));
  EXPECT_THAT(text, HasSubstr("geometric mean of 2 rows"));
}

TEST(Reports, TextOfTwoSidesHasIntervalsAndAdjustedP) {
  const MadeUpRun base;
  const MadeUpRun other = scaled(base, "6.19", "bbbb", 1.2);
  const std::string text = text_report(compare_sides(
      {{base.label, made_up_runs(base, 4)}, {other.label, made_up_runs(other, 4)}}, {}));
  expect_mailable(text);
  EXPECT_THAT(text, HasSubstr("95 % interval adj. p"));
  EXPECT_THAT(text, HasSubstr("<0.001"));
}

TEST(Reports, AWithinBootIntervalIsNamedAsSuch) {
  const MadeUpRun base;
  const MadeUpRun other = scaled(base, "6.19", "bbbb", 1.2);
  const std::string text = text_report(compare_sides(
      {{base.label, made_up_runs(base, 1)}, {other.label, made_up_runs(other, 1)}}, {}));
  expect_mailable(text);
  EXPECT_THAT(text, HasSubstr("]w"));
  EXPECT_THAT(text, HasSubstr("w = from the trials within the boots alone"));
  EXPECT_THAT(text, HasSubstr("1 boot per kernel"));
}

TEST(Reports, AStoppedRowStandsFirst) {
  const std::string text = text_report(example(0));
  expect_mailable(text);
  // Zero seconds are no ratio; for a rate it would be "stopped".
  EXPECT_THAT(text, HasSubstr("n/a"));
  EXPECT_THAT(text, HasSubstr("1 without a ratio"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(HasSubstr("inf ")));
}

TEST(Reports, NamesOfOthersCannotBreakThePage) {
  const std::string evil = "a<b>\"c'd</script><b>|,\x01";
  const Comparison comparison = example(1.2, evil);
  const std::string html = html_report(comparison);
  EXPECT_THAT(html, HasSubstr("a&lt;b&gt;&quot;c&#39;d&lt;/script&gt;&lt;b&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("</script>")));
  expect_mailable(text_report(comparison));
  EXPECT_THAT(text_report(comparison), HasSubstr("a<b>\"c'd</script><b>|,?"));
  EXPECT_THAT(csv_report(comparison), HasSubstr("\"a<b>\"\"c'd</script><b>|,"));
  EXPECT_THAT(markdown_report(comparison), HasSubstr("\\|,"));
}

TEST(Reports, HtmlNeedsNothingElse) {
  const std::string html = html_report(example());
  EXPECT_THAT(html, Not(HasSubstr("http://")));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("operations per second"));
}

TEST(Reports, CsvHasOneLinePerRowAndColumn) {
  const std::string csv = csv_report(example());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  std::istringstream lines(csv);
  std::string header;
  std::getline(lines, header);
  const auto columns = std::count(header.begin(), header.end(), ',');
  // Families hold a comma, in quotes.
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns + 1);
}

TEST(Reports, JsonHoldsNoNumberThatJsonCannot) {
  const nlohmann::json json = json_report(example(0));
  EXPECT_EQ(json["rows"][0]["cells"][0]["verdict"], "invalid");
  EXPECT_TRUE(json["rows"][0]["cells"][0]["change_percent"].is_null());
  EXPECT_EQ(json["columns"][1]["summary"]["invalid"], 1);
  EXPECT_EQ(json["rows"][1]["cells"][1]["verdict"], "same");
}

const char* published =
    "# source: a public report\n"
    "# cpus: 64\n"
    "benchmark,result_class,unit,higher_is_better,base_value,rc1_pct,rc1_sig,revert_pct,revert_"
    "sig\n"
    "mmtests/hackbench,hackbench-process-pipes-4,seconds,no,0.44,-16.50,R,0.10,none\n"
    "pts/nginx,keep-alive c 64,requests,yes,252332.60,17.54,I,-0.53,none\n";

TEST(Published, TheTableItselfIsPrinted) {
  const Comparison comparison = as_comparison(parse_published_table(published, "x.csv"));
  const std::string text = text_report(comparison);
  expect_mailable(text);
  EXPECT_THAT(text, HasSubstr("-16.5 % worse"));
  EXPECT_THAT(text, HasSubstr("+17.5 % better"));
  EXPECT_THAT(text, HasSubstr("+0.1 % none"));
}

TEST(Published, RowsAreFoundByTheirNumbersAndWords) {
  EXPECT_TRUE(names_match("hackbench-process-pipes-7", "process pipe g=7", "hackbench, seconds"));
  EXPECT_FALSE(names_match("hackbench-process-pipes-7", "process pipe g=70", "hackbench"));
  EXPECT_FALSE(names_match("hackbench-thread-pipes-7", "process pipe g=7", "hackbench"));
  EXPECT_TRUE(names_match("hackbench-process-pipes-7", "hackbench-process-pipes-7", ""));
}

Comparison set_beside(double factor, const std::string& cpus, bool null_column) {
  MadeUpRun base;
  base.environment["cpu.count_online"] = {{"value", std::stoi(cpus)}, {"source", "x"}};
  const MadeUpRun other = scaled(base, "rc1", "bbbb", factor);
  const std::vector<Side> sides = {{base.label, made_up_runs(base, 4)},
                                   {other.label, made_up_runs(other, 4)}};
  Comparison comparison = compare_sides(sides, {});
  set_against(parse_published_table(published, "x.csv"), {null_column ? "revert" : "", 0.5}, sides,
              comparison);
  return comparison;
}

TEST(Published, AChangeIsReproducedOrNot) {
  EXPECT_EQ(set_beside(1.2, "64", false).against->rows[0].verdict, "reproduced");
  EXPECT_EQ(set_beside(1.0, "64", false).against->rows[0].verdict, "not reproduced");
  EXPECT_EQ(set_beside(0.8, "64", false).against->rows[0].reason, "the other direction");
  EXPECT_EQ(set_beside(2.0, "64", false).against->rows[0].reason, "the size differs");
}

TEST(Published, ANullIsReproducedByEquivalenceOnly) {
  EXPECT_EQ(set_beside(1.0, "64", true).against->rows[0].verdict, "reproduced");
  EXPECT_EQ(set_beside(1.2, "64", true).against->rows[0].verdict, "not reproduced");
}

TEST(Published, AnotherMachineIsNotComparable) {
  const Comparison comparison = set_beside(1.2, "2", false);
  EXPECT_EQ(comparison.against->rows[0].verdict, "not comparable");
  EXPECT_THAT(comparison.against->rows[0].reason, HasSubstr("2 CPUs, published on 64"));
  const std::string text = text_report(comparison);
  expect_mailable(text);
  EXPECT_THAT(text, HasSubstr("not comparable"));
}

TEST(Published, BadTablesAreRefusedWithTheirLine) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_published_table(text, "x.csv"));
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of(""), HasSubstr("no rows"));
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("x.csv:1: not a table of published results"));
  const std::string header =
      "benchmark,result_class,unit,higher_is_better,base_value,a_pct,a_sig\n";
  EXPECT_THAT(error_of(header + "b,c,s,no,nan,1,R\n"), HasSubstr("x.csv:2: base_value is not"));
  EXPECT_THAT(error_of(header + "b,c,s,no,1,1\n"), HasSubstr("6 fields, the header has 7"));
  EXPECT_THAT(error_of(header + "b,c,s,no,1,1,X\n"), HasSubstr("neither R, I nor none"));
}

}  // namespace
}  // namespace krepro
