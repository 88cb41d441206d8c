// CPU sets: text, set operations, and binding with the answer of the kernel read back.
#include "common/affinity/cpu_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include "common/base/error.h"

namespace krepro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(CpuSet, ReadsTheKernelsListFormat) {
  EXPECT_THAT(CpuSet::parse("0-3,8,10-11").cpus(), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(CpuSet::parse("5").cpus(), ElementsAre(5));
  EXPECT_THAT(CpuSet::parse("7-7").cpus(), ElementsAre(7));
  EXPECT_THAT(CpuSet::parse("4,0,0-1").cpus(), ElementsAre(0, 1, 4));
  EXPECT_THAT(CpuSet::parse("").cpus(), IsEmpty());
  EXPECT_THAT(CpuSet::parse("5000,8191").cpus(), ElementsAre(5000, 8191));
}

TEST(CpuSet, RejectsEverythingElse) {
  for (const char* text :
       {"1-0", "0,,1", "x",   ",",  "0,",  ",0",  "-1",          "0-",      "0--1", "0-1-2",
        " 0",  "0 ",   "0\n", "+1", "0x1", "1.5", "99999999999", "1048576", "0;1",  "all"}) {
    EXPECT_THROW((void)CpuSet::parse(text), Error) << text;
  }
  EXPECT_THAT(message_of([] { (void)CpuSet::parse("1-0"); }),
              HasSubstr("\"1-0\" is not a list of CPUs: 1-0 runs backwards"));
}

TEST(CpuSet, PrintsRunsAsRanges) {
  EXPECT_EQ(CpuSet().to_string(), "");
  EXPECT_EQ(CpuSet({3, 1, 2, 0, 8, 3}).to_string(), "0-3,8");
  EXPECT_EQ(CpuSet({0, 2, 4}).to_string(), "0,2,4");
  for (const char* text : {"0", "0-1", "0-3,8,10-11", "1,3,5-4095"}) {
    EXPECT_EQ(CpuSet::parse(text).to_string(), text);
  }
}

TEST(CpuSet, IsASet) {
  const CpuSet low({0, 1, 2});
  const CpuSet high({2, 3});
  EXPECT_EQ((low & high).to_string(), "2");
  EXPECT_EQ((low | high).to_string(), "0-3");
  EXPECT_EQ((low - high).to_string(), "0-1");
  EXPECT_TRUE(low.contains(1));
  EXPECT_FALSE(low.contains(3));
  EXPECT_EQ(low.size(), 3U);
  EXPECT_TRUE((low & CpuSet({7})).empty());
}

TEST(CpuSet, TheAllowedCpusAreWhatTheLibrarySays) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  const CpuSet allowed = CpuSet::allowed();
  EXPECT_EQ(allowed.size(), static_cast<std::size_t>(CPU_COUNT(&mask)));
  for (const int cpu : allowed.cpus()) {
    EXPECT_TRUE(CPU_ISSET(cpu, &mask));
  }
  EXPECT_EQ(CpuSet::allowed(getpid()), allowed);
}

TEST(CpuSet, BindsTheCallingThreadAlone) {
  const CpuSet before = CpuSet::allowed();
  const CpuSet one({before.cpus().back()});
  std::thread([&] {
    one.apply();
    EXPECT_EQ(CpuSet::allowed(), one);
    EXPECT_EQ(sched_getcpu(), one.cpus()[0]);
  }).join();
  EXPECT_EQ(CpuSet::allowed(), before);
}

TEST(CpuSet, CpusOutsideTheMachineAreNamedAndNothingChanges) {
  const CpuSet before = CpuSet::allowed();
  const int last = before.cpus().back();
  // The kernel would take this one and bind to the part that is there.
  const CpuSet partly = before | CpuSet({last + 1000, last + 1001});
  EXPECT_EQ(message_of([&] { partly.apply(); }),
            fmt::format("cpus {}-{}: not on this machine or not allowed here; allowed: {}",
                        last + 1000, last + 1001, before.to_string()));
  EXPECT_EQ(CpuSet::allowed(), before);
  EXPECT_THAT(message_of([&] { CpuSet({99999}).apply(); }), HasSubstr("cpus 99999: not on this"));
  EXPECT_EQ(CpuSet::allowed(), before);
  EXPECT_THAT(message_of([] { CpuSet().apply(); }), HasSubstr("the list is empty"));
}

TEST(CpuSet, TheErrorListsWhatTheThreadCouldHaveNotWhatItIsBoundTo) {
  const CpuSet all = CpuSet::allowed();
  if (all.size() < 2) {
    GTEST_SKIP() << "needs two CPUs";
  }
  std::thread([&] {
    const CpuSet one({all.cpus().back()});
    one.apply();
    EXPECT_THAT(message_of([] { CpuSet({99999}).apply(); }),
                HasSubstr("allowed: " + all.to_string()));
    EXPECT_EQ(CpuSet::allowed(), one);
    all.apply();
    EXPECT_EQ(CpuSet::allowed(), all) << "an earlier binding does not confine";
  }).join();
}

TEST(CpuSet, AThreadThatIsGoneIsASystemError) {
  EXPECT_THROW((void)CpuSet::allowed(0x3fffffff), Error);
  EXPECT_THROW(CpuSet({0}).apply(0x3fffffff), Error);
}

}  // namespace
}  // namespace krepro
