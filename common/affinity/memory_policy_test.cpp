// Memory policies: text, and what the kernel says of them where it knows NUMA.
#include "common/affinity/memory_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "common/base/error.h"
#include "common/base/host_files.h"

namespace krepro {
namespace {

using testing::HasSubstr;

TEST(MemoryPolicy, PrintsWhatItReads) {
  for (const char* text :
       {"default", "local", "bind:0", "bind:0-1,4", "interleave:0,2", "preferred:1"}) {
    EXPECT_EQ(to_string(parse_memory_policy(text)), text);
  }
}

TEST(MemoryPolicy, RefusesEverythingElse) {
  for (const char* text : {"", "bind", "bind:", "bind:x", "preferred:0-1", "local:0", "default:0",
                           "bind:9999", "interleave:1-0"}) {
    EXPECT_THROW((void)parse_memory_policy(text), Error) << text;
  }
  try {
    (void)parse_memory_policy("interleaved:0");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"interleave\""));
  }
}

/// In a thread of its own, whose policy ends with it.
template <typename Action>
void in_a_thread(Action action) {
  std::thread(action).join();
}

TEST(MemoryPolicy, IsReadBackFromTheKernel) {
  if (!HostFiles("/").exists("/sys/devices/system/node/node0")) {
    GTEST_SKIP() << "this kernel knows no NUMA";
  }
  in_a_thread([] {
    for (const char* text : {"bind:0", "interleave:0", "preferred:0", "local", "default"}) {
      apply_memory_policy(parse_memory_policy(text));
      EXPECT_EQ(to_string(read_memory_policy()), text);
      EXPECT_EQ(memory_policy_of(gettid()), text);
    }
  });
  EXPECT_EQ(to_string(read_memory_policy()), "default");
}

TEST(MemoryPolicy, OfNodesThatAreNotThereIsRefused) {
  in_a_thread([] {
    try {
      apply_memory_policy(parse_memory_policy("bind:1000"));
      ADD_FAILURE() << "there is no node 1000";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::not_possible) << error.what();
    }
  });
}

TEST(MemoryPolicy, OfAThreadThatIsNotThereIsNothing) { EXPECT_EQ(memory_policy_of(-1), ""); }

}  // namespace
}  // namespace krepro
