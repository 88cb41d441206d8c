// Ordered lists of CPUs: text, and which worker gets which.
#include "common/affinity/cpu_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"

namespace krepro {
namespace {

using testing::ElementsAre;

TEST(CpuOrder, KeepsTheOrderThatWasGiven) {
  EXPECT_THAT(parse_cpu_order("0,48,1,49"), ElementsAre(0, 48, 1, 49));
  EXPECT_THAT(parse_cpu_order("4-6,0"), ElementsAre(4, 5, 6, 0));
  EXPECT_THAT(parse_cpu_order("7"), ElementsAre(7));
}

TEST(CpuOrder, PrintsWhatItReads) {
  for (const char* text : {"0,48,1,49", "4-6,0", "7", "1,0", "0-95"}) {
    EXPECT_EQ(to_string(parse_cpu_order(text)), text);
  }
}

TEST(CpuOrder, RefusesEverythingElse) {
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "x", "1,1", "0-3,2", "3-1", "-1"}) {
    EXPECT_THROW((void)parse_cpu_order(text), Error) << text;
  }
}

TEST(CpuOrder, WorkersBeyondItsEndBeginAgain) {
  const std::vector<int> order = parse_cpu_order("5,3,9");
  EXPECT_EQ(cpu_of_worker(order, 0), 5);
  EXPECT_EQ(cpu_of_worker(order, 2), 9);
  EXPECT_EQ(cpu_of_worker(order, 3), 5);
  EXPECT_EQ(cpu_of_worker(order, 3001), 3);
}

}  // namespace
}  // namespace krepro
