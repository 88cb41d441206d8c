// Placements on synthetic machines: what each word means, on machines that nobody has at hand.
#include "suite/placement/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"

namespace krepro {
namespace {

using ::testing::HasSubstr;

/// 48 cores with two threads each, N and N+48; a last-level cache per four cores.
Machine c5ad_24xlarge() {
  static const Machine machine =
      read_machine_from_synthetic("pack:1 numa:1 l3:12 l2:4 core:1 pu:2(indexes=2*48:48*1)");
  return machine;
}

/// Two packages with two nodes each (sub-NUMA clusters): one cache per node, no SMT.
Machine two_sockets() {
  static const Machine machine = read_machine_from_synthetic("pack:2 numa:2 l3:1 core:4 pu:1");
  return machine;
}

std::string cpus(const std::string& text, const Machine& machine) {
  return resolve_placement(text, machine).to_string();
}

std::string error_of(const std::string& text, const Machine& machine,
                     ExitCode code = ExitCode::not_possible) {
  try {
    return "resolved to " + cpus(text, machine);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return std::string(error.what()) + "; " + error.remedy();
  }
}

TEST(SyntheticMachines, HaveTheShapeThatTheTestsRelyOn) {
  const Machine machine = c5ad_24xlarge();
  EXPECT_EQ(machine.online.size(), 96U);
  EXPECT_EQ(machine.cores.size(), 48U);
  ASSERT_EQ(machine.llcs.size(), 12U);
  EXPECT_EQ(machine.llcs[0].to_string(), "0-3,48-51");
  EXPECT_EQ(machine.llcs[1].to_string(), "4-7,52-55");
  EXPECT_TRUE(machine.smt());
  EXPECT_FALSE(machine.this_machine);
  EXPECT_EQ(two_sockets().nodes.size(), 4U);
  EXPECT_EQ(two_sockets().packages.size(), 2U);
}

TEST(Placement, AllIsEveryAllowedCpu) { EXPECT_EQ(cpus("all", c5ad_24xlarge()), "0-95"); }

TEST(Placement, OnePerCoreAndOnePerLlcTakeTheLowest) {
  EXPECT_EQ(cpus("one-per-core", c5ad_24xlarge()), "0-47");
  EXPECT_EQ(cpus("one-per-llc", c5ad_24xlarge()), "0,4,8,12,16,20,24,28,32,36,40,44");
}

TEST(Placement, CachesNodesAndPackagesByNumber) {
  EXPECT_EQ(cpus("llc:0,2", c5ad_24xlarge()), "0-3,8-11,48-51,56-59");
  EXPECT_EQ(cpus("llc:10-11", c5ad_24xlarge()), "40-47,88-95");
  EXPECT_EQ(cpus("node:1", two_sockets()), "4-7");
  EXPECT_EQ(cpus("package:1", two_sockets()), "8-15");
}

TEST(Placement, SpreadTakesCoresBeforeSiblings) {
  EXPECT_EQ(cpus("spread-llc:1", c5ad_24xlarge()), cpus("one-per-llc", c5ad_24xlarge()));
  EXPECT_EQ(cpus("spread-llc:4 & llc:0", c5ad_24xlarge()), "0-3");
  EXPECT_EQ(cpus("spread-llc:5 & llc:0", c5ad_24xlarge()), "0-3,48");
  EXPECT_THAT(error_of("spread-llc:9", c5ad_24xlarge()), HasSubstr("llc 0 has 8 allowed CPUs"));
}

TEST(Placement, SiblingsAreTheOtherThreadsOfTheCores) {
  EXPECT_EQ(cpus("siblings-of:0-3", c5ad_24xlarge()), "48-51");
  EXPECT_EQ(cpus("siblings-of:50", c5ad_24xlarge()), "2");
  EXPECT_THAT(error_of("siblings-of:0", two_sockets()), HasSubstr("no SMT siblings"));
}

TEST(Placement, SetsAreJoinedFromLeftToRight) {
  EXPECT_EQ(cpus("llc:0 + llc:1", c5ad_24xlarge()), "0-7,48-55");
  EXPECT_EQ(cpus("llc:0|llc:1", c5ad_24xlarge()), "0-7,48-55");
  EXPECT_EQ(cpus("one-per-core & llc:0", c5ad_24xlarge()), "0-3");
  EXPECT_EQ(cpus("llc:0 - one-per-core", c5ad_24xlarge()), "48-51");
  EXPECT_EQ(cpus("llc:0 - cpus:0-1 - siblings-of:0-1", c5ad_24xlarge()), "2-3,50-51");
  EXPECT_EQ(cpus("llc:0 + llc:1 & one-per-core", c5ad_24xlarge()), "0-7");
  EXPECT_EQ(cpus("llc:0 + (llc:1 & one-per-core)", c5ad_24xlarge()), "0-7,48-51");
}

TEST(Placement, RestIsWhatTheOtherSideLeaves) {
  const auto both = resolve_placements({{"load", "rest"}, {"serve", "llc:0-10"}}, c5ad_24xlarge());
  EXPECT_EQ(both.at("serve").size(), 88U);
  EXPECT_EQ(both.at("load").to_string(), "44-47,92-95");
  EXPECT_EQ(
      resolve_placements({{"load", "cpus:0"}, {"serve", "rest & one-per-core"}}, c5ad_24xlarge())
          .at("serve")
          .to_string(),
      "1-47");
  EXPECT_THROW((void)resolve_placements({{"load", "rest"}, {"serve", "rest"}}, two_sockets()),
               Error);
  EXPECT_THROW((void)resolve_placements({{"load", "rest"}, {"serve", "all"}}, two_sockets()),
               Error);
  EXPECT_THAT(error_of("rest", two_sockets(), ExitCode::usage), HasSubstr("no other side"));
}

TEST(Placement, OnlyAllowedCpusCountAndNumbersStay) {
  Machine machine = c5ad_24xlarge();
  machine.allowed = CpuSet::parse("2,5-6,50");  // taskset
  EXPECT_EQ(cpus("all", machine), "2,5-6,50");
  EXPECT_EQ(cpus("one-per-core", machine), "2,5-6");
  EXPECT_EQ(cpus("one-per-llc", machine), "2,5");
  EXPECT_EQ(cpus("llc:1", machine), "5-6");
  EXPECT_EQ(cpus("siblings-of:2", machine), "50");
  EXPECT_THAT(error_of("llc:2", machine),
              HasSubstr("2 is not there or has no CPU allowed here; last-level caches here: 0-1"));
  EXPECT_THAT(error_of("cpus:0-2", machine),
              HasSubstr("cpus 0-1 are not on this machine or not allowed here; allowed: 2,5-6,50"));
}

TEST(Placement, OfflineCpusAndGapsInTheNumberingAreNoCpus) {
  const Machine machine = read_machine_from_synthetic("pack:1 l3:2 core:2 pu:1(indexes=0,2,5,9)");
  EXPECT_EQ(cpus("all", machine), "0,2,5,9");
  EXPECT_EQ(cpus("llc:1", machine), "5,9");
  EXPECT_THAT(error_of("cpus:1", machine), HasSubstr("allowed: 0,2,5,9"));
}

TEST(Placement, WhatIsNotThereIsNamedWithWhatIs) {
  EXPECT_THAT(error_of("llc:12", c5ad_24xlarge()), HasSubstr("last-level caches here: 0-11"));
  EXPECT_THAT(error_of("node:4", two_sockets()), HasSubstr("NUMA nodes here: 0-3"));
  EXPECT_THAT(error_of("package:7", two_sockets()), HasSubstr("packages here: 0-1"));
  EXPECT_THAT(error_of("cpus:16", two_sockets()), HasSubstr("allowed: 0-15"));
  EXPECT_THAT(error_of("llc:0 - cpus:0-3", two_sockets()), HasSubstr("leaves no CPU here"));
}

TEST(Placement, WrongWordingIsAUsageErrorWithASuggestion) {
  const Machine machine = two_sockets();
  EXPECT_THAT(error_of("one-per-lcc", machine, ExitCode::usage),
              HasSubstr("did you mean \"one-per-llc\"?"));
  EXPECT_THAT(error_of("everything", machine, ExitCode::usage), HasSubstr("known are all, rest"));
  EXPECT_THAT(error_of("llc", machine, ExitCode::usage), HasSubstr("for instance llc:0,2"));
  EXPECT_THAT(error_of("all:3", machine, ExitCode::usage), HasSubstr("takes nothing after it"));
  for (const char* list : {"cpus:1-0", "cpus:0,,1", "cpus:x", "cpus:-1", "cpus:", "spread-llc:0",
                           "spread-llc:1,2", "cpus:99999999999"}) {
    EXPECT_THAT(error_of(list, machine, ExitCode::usage), HasSubstr("for instance")) << list;
  }
  for (const char* text : {"", "  ", "all &", "& all", "(all", "all)", "all all", "()"}) {
    EXPECT_THROW(check_placement_syntax(text), Error) << text;
  }
  EXPECT_THROW(check_placement_syntax(std::string(100, '(') + "all" + std::string(100, ')')),
               Error);
}

TEST(Placement, WithoutATopologyTheCpusRemain) {
  const Machine machine = machine_without_topology(CpuSet::parse("0-1"), "no sysfs");
  EXPECT_EQ(cpus("all", machine), "0-1");
  EXPECT_EQ(cpus("all - cpus:0", machine), "1");
  EXPECT_THAT(error_of("one-per-core", machine),
              HasSubstr("topology is not known here (no sysfs)"));
}

TEST(Placement, WithoutCachesThePackagesRemain) {
  const Machine machine = read_machine_from_synthetic("pack:2 core:2 pu:1");
  EXPECT_TRUE(machine.llcs.empty());
  EXPECT_EQ(cpus("package:1", machine), "2-3");
  EXPECT_THAT(error_of("one-per-llc", machine), HasSubstr("caches are not known"));
}

}  // namespace
}  // namespace krepro
