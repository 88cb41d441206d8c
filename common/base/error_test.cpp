// How errors look to the operator, and which suggestion is made.
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <string>
#include <vector>

namespace krepro {
namespace {

TEST(Error, CarriesTheExitStatus) {
  EXPECT_EQ(usage_error("x").code(), ExitCode::usage);
  EXPECT_EQ(not_possible("x").code(), ExitCode::not_possible);
  EXPECT_EQ(system_error("x", ENOENT).code(), ExitCode::usage);
  EXPECT_EQ(system_error("x", ENOENT, ExitCode::failed).code(), ExitCode::failed);
  EXPECT_EQ(not_possible("io_uring is off", "Set x").remedy(), "Set x");
}

TEST(SystemError, AppendsTheKernelsReason) {
  EXPECT_STREQ(system_error("open /x", EACCES).what(), "open /x: Permission denied");
}

TEST(FormatError, MessageAndRemedyBelowIt) {
  EXPECT_EQ(format_error("krepro", usage_error("mine.toml:14:3: unknown key \"repetition\"",
                                               "did you mean \"repetitions\"?")),
            "krepro: mine.toml:14:3: unknown key \"repetition\"\n"
            "        did you mean \"repetitions\"?\n");
  EXPECT_EQ(format_error("krepro", usage_error("no such profile")), "krepro: no such profile\n");
}

TEST(FormatError, LongTextIsWrappedBetweenWordsAt78Columns) {
  EXPECT_EQ(format_error("krepro",
                         not_possible("hackbench: 4,000,000 tasks need kernel.pid_max of at least "
                                      "4,000,100 (now 32,768); see docs/limits.md, or lower "
                                      "--groups to 800")),
            "krepro: hackbench: 4,000,000 tasks need kernel.pid_max of at least 4,000,100\n"
            "        (now 32,768); see docs/limits.md, or lower --groups to 800\n");
}

TEST(FormatError, EveryWidthOfWordsStaysWithin78Columns) {
  for (std::size_t width = 1; width <= 70; ++width) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += std::string(width, 'w') + " ";
    std::istringstream lines(format_error("krepro", usage_error(text, text)));
    std::size_t words = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 78U) << line;
      EXPECT_NE(line.back(), ' ');
      words += static_cast<std::size_t>(std::count(line.begin() + 8, line.end(), ' ')) + 1;
    }
    EXPECT_EQ(words, 80U) << "width " << width;
  }
}

TEST(FormatError, ALineIsFilledUpToItsLastColumn) {
  const std::string exactly_full = std::string(34, 'a') + " " + std::string(35, 'b');
  EXPECT_EQ(format_error("krepro", usage_error(exactly_full)), "krepro: " + exactly_full + "\n");
  EXPECT_EQ(format_error("krepro", usage_error(exactly_full + "b")),
            "krepro: " + std::string(34, 'a') + "\n        " + std::string(36, 'b') + "\n");
}

TEST(FormatError, AWordLongerThanTheLineIsNotCut) {
  const std::string path = "/" + std::string(100, 'p');
  EXPECT_EQ(format_error("krepro", usage_error("cannot open " + path + " here")),
            "krepro: cannot open\n        " + path + "\n        here\n");
}

TEST(FormatError, LineBreaksOfTheTextAreKept) {
  EXPECT_EQ(format_error("krepro", usage_error("two ways", "first\nsecond\n")),
            "krepro: two ways\n        first\n        second\n");
}

TEST(FormatError, SeveralErrorsStandOnALineEachWithoutWrapping) {
  const std::string first = "mine.toml:3:1: " + std::string(40, 'a') + " " + std::string(40, 'b');
  EXPECT_EQ(format_error("krepro", usage_error(first + "\nmine.toml:4:1: another")),
            "krepro: " + first + "\nkrepro: mine.toml:4:1: another\n");
}

TEST(PrintError, WritesToStandardError) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  print_error("krepro", usage_error("no", "yes"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "krepro: no\n        yes\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Nearest, SuggestsWhatWasMeant) {
  const std::vector<std::string> keys = {"repetitions", "runtime", "bs",  "size",
                                         "ioengine",    "numjobs", "rate"};
  EXPECT_EQ(nearest("repetition", keys), "repetitions");
  EXPECT_EQ(nearest("repititons", keys), "repetitions");
  EXPECT_EQ(nearest("rutnime", keys), "runtime") << "neighbours swapped";
  EXPECT_EQ(nearest("szie", keys), "size") << "neighbours swapped count as one";
  EXPECT_EQ(nearest("rat", keys), "rate");
  EXPECT_EQ(nearest("IOEngine", keys), "ioengine");
  EXPECT_EQ(nearest("runtime", keys), "runtime");
}

TEST(Nearest, DashesAndUnderscoresAreTheSame) {
  EXPECT_EQ(nearest("group-reporting", {"group_reporting"}), "group_reporting");
  EXPECT_EQ(nearest("group_reporting", {"group-reporting"}), "group-reporting");
}

TEST(Nearest, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> keys = {"repetitions", "runtime", "bs"};
  EXPECT_EQ(nearest("device", keys), "");
  EXPECT_EQ(nearest("ab", keys), "");
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("abcdef", {"abcxyz"}), "") << "three of six letters are more than a third";
  EXPECT_EQ(nearest("abcdef", {"abcdyz"}), "abcdyz");
}

TEST(Nearest, TheFirstOfEquallyNearOnes) {
  EXPECT_EQ(nearest("rase", {"rate", "race"}), "rate");
  EXPECT_EQ(nearest("rase", {"race", "rate"}), "race");
}

}  // namespace
}  // namespace krepro
