// Names, defaults and limits of a trial, without starting one.
#include "generators/hackbench/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/error.h"
#include "generators/hackbench/description.h"

namespace krepro::hackbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LoadSetup setup_with(const std::vector<std::pair<std::string, std::string>>& given) {
  Options options(description().options);
  for (const auto& [name, value] : given) {
    options.set(name, value);
  }
  return setup_from(options);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " / " + error.remedy();
  }
  return "no error";
}

TEST(LoadSetup, HasTheDefaultsOfTheOriginal) {
  const LoadSetup setup = setup_with({});
  EXPECT_FALSE(setup.threads);
  EXPECT_EQ(setup.channel, Channel::unix_socket);
  EXPECT_EQ(setup.groups, 10U);
  EXPECT_EQ(setup.fds, 20U);
  EXPECT_EQ(setup.loops, 100U);
  EXPECT_EQ(setup.datasize_bytes, 100U);
  EXPECT_FALSE(setup.fifo);
  EXPECT_EQ(setup.tasks(), 400U);
  EXPECT_EQ(setup.messages(), 400'000U);
}

TEST(LoadSetup, TakesTheShortNamesOfTheOriginal) {
  const LoadSetup setup =
      setup_with({{"T", ""}, {"p", ""}, {"g", "3"}, {"f", "4"}, {"l", "5"}, {"s", "6"}, {"F", ""}});
  EXPECT_THAT(load_arguments(setup), ElementsAre("threads", "pipe", "3", "4", "5", "6", "fifo"));
}

TEST(LoadSetup, TakesTheNamesOfPerfBench) {
  const LoadSetup setup = setup_with({{"t", ""}, {"group", "3"}, {"nr_loops", "7"}});
  EXPECT_THAT(load_arguments(setup), ElementsAre("threads", "socket", "3", "20", "7", "100", "-"));
}

TEST(LoadSetup, RefusesWhatContradictsItself) {
  EXPECT_THAT(message_of([] {
                setup_with({{"pipe", ""}, {"inet", ""}});
              }),
              HasSubstr("--pipe and --inet"));
  EXPECT_THAT(message_of([] {
                setup_with({{"threads", ""}, {"process", ""}});
              }),
              HasSubstr("--threads and --process"));
  EXPECT_THAT(message_of([] { setup_with({{"groups", "0"}}); }), HasSubstr("0 is below 1"));
}

TEST(LoadSetup, AcceptsFlagsThatAreOffAsAMatrixOfAProfileHasThem) {
  EXPECT_FALSE(setup_with({{"threads", "0"}, {"process", "1"}}).threads);
}

TEST(LoadSetup, RefusesMoreMessagesThanCanBeCounted) {
  EXPECT_THAT(message_of([] {
                setup_with({{"groups", "10000000"}, {"fds", "1000000"}, {"loops", "4000000000"}});
              }),
              HasSubstr("more messages than can be counted"));
}

TEST(LoadSetup, AParentOfProcessesHoldsTheWriteEndsOfOneGroupOnly) {
  const ResourceNeeds few = needs_of(setup_with({{"groups", "1"}, {"pipe", ""}}));
  const ResourceNeeds many = needs_of(setup_with({{"groups", "256"}, {"pipe", ""}}));
  EXPECT_EQ(few.descriptors, 7U + 2 + 20);
  EXPECT_EQ(many.descriptors, few.descriptors);
  EXPECT_EQ(many.tasks, 10'240U + 1);
}

TEST(LoadSetup, ThreadsHoldBothEndsOfAllChannelsAndAStackEach) {
  const ResourceNeeds needs = needs_of(setup_with({{"groups", "20"}, {"threads", ""}}));
  EXPECT_EQ(needs.descriptors, 7U + 2 + 2 * 20 * 20);
  EXPECT_GE(needs.mappings, 2U * 800);
}

TEST(LoadSetup, MessagesThatDoNotFitOnTheStackAreToldBefore) {
  rlimit stack{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
  if (stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur > (1U << 29U)) {
    GTEST_SKIP() << "this shell's stack is not limited";
  }
  const LoadSetup setup = setup_with({{"groups", "1"}, {"fds", "1"}, {"datasize", "1g"}});
  EXPECT_THAT(message_of([&] { require_machine(setup); }), HasSubstr("RLIMIT_STACK"));
  EXPECT_THAT(message_of([&] { require_machine(setup); }), HasSubstr("ulimit -s"));
}

TEST(LoadSetup, TooFewTcpPortsAreToldBefore) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("krepro-setup-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / "proc/sys/net/ipv4");
  std::ofstream(root / "proc/sys/net/ipv4/ip_local_port_range") << "32768\t32807\n";
  const HostFiles host(root);
  const LoadSetup fits = setup_with({{"groups", "9"}, {"fds", "2"}, {"inet", ""}});
  EXPECT_EQ(message_of([&] { require_machine(fits, host); }), "no error");
  const LoadSetup too_many = setup_with({{"groups", "10"}, {"fds", "2"}, {"inet", ""}});
  EXPECT_THAT(message_of([&] { require_machine(too_many, host); }),
              HasSubstr("20 TCP connections need 44 ports"));
  const LoadSetup pipes = setup_with({{"groups", "10"}, {"fds", "2"}, {"pipe", ""}});
  EXPECT_EQ(message_of([&] { require_machine(pipes, host); }), "no error");
  std::filesystem::remove_all(root);
}

TEST(LoadSetup, TheDigestTellsLoadsApart) {
  EXPECT_EQ(sequence_digest(setup_with({})), sequence_digest(setup_with({{"groups", "10"}})));
  EXPECT_NE(sequence_digest(setup_with({})), sequence_digest(setup_with({{"pipe", ""}})));
  EXPECT_NE(sequence_digest(setup_with({{"groups", "1"}, {"fds", "11"}})),
            sequence_digest(setup_with({{"groups", "11"}, {"fds", "1"}})));
}

}  // namespace
}  // namespace krepro::hackbench
