// The machine as hwloc tells it: this one, and others from text and files.
#include "suite/placement/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "common/base/error.h"

namespace krepro {
namespace {

using ::testing::HasSubstr;

TEST(ThisMachine, ShowsTheCpusThatThisProcessMayUse) {
  const Machine machine = read_machine();
  ASSERT_TRUE(machine.this_machine);
  EXPECT_EQ(machine.allowed, CpuSet::allowed());
  EXPECT_TRUE((machine.allowed - machine.online).empty());
  EXPECT_FALSE(machine.architecture.empty());
  CpuSet in_cores;
  for (const CpuSet& core : machine.cores) in_cores = in_cores | core;
  if (machine.has_topology()) {
    EXPECT_EQ(in_cores, machine.online);
  }
}

TEST(ThisMachine, UnderTasksetTheTopologyStaysWhole) {
  const CpuSet before = CpuSet::allowed();
  const Machine whole = read_machine();
  if (before.size() < 2 || !whole.has_topology()) GTEST_SKIP() << "needs two CPUs and a topology";
  const CpuSet one(std::vector<int>{before.cpus().back()});
  one.apply();
  const Machine bound = read_machine();
  before.apply();
  EXPECT_EQ(bound.allowed, one);
  EXPECT_EQ(bound.online, whole.online);
  EXPECT_EQ(bound.cores, whole.cores);
  EXPECT_EQ(bound.llcs, whole.llcs);
  EXPECT_THAT(summary(bound), HasSubstr("(1 allowed)"));
}

TEST(OtherMachines, ReplaceThisOneThroughTheEnvironment) {
  setenv("HWLOC_SYNTHETIC", "pack:1 l3:2 core:2 pu:2", 1);
  const Machine machine = read_machine();
  unsetenv("HWLOC_SYNTHETIC");
  EXPECT_FALSE(machine.this_machine);
  EXPECT_EQ(machine.online.to_string(), "0-7");
  EXPECT_EQ(machine.allowed, machine.online);
  EXPECT_EQ(machine.llcs.size(), 2U);
}

TEST(OtherMachines, ComeFromXml) {
  std::string path = testing::TempDir() + "krepro-machine-XXXXXX";
  const int descriptor = mkstemp(path.data());
  ASSERT_GE(descriptor, 0);
  close(descriptor);
  std::ofstream(path) << R"(<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
          nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <info name="Architecture" value="aarch64"/>
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
            complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
    <object type="L3Cache" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
            complete_nodeset="0x1" gp_index="3" cache_size="33554432" depth="3"
            cache_linesize="64" cache_associativity="16" cache_type="0">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
              complete_nodeset="0x1" gp_index="4"/>
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
              complete_nodeset="0x1" gp_index="5"/>
    </object>
  </object>
</topology>
)";
  const Machine machine = read_machine_from_xml(path);
  unlink(path.c_str());
  EXPECT_EQ(machine.architecture, "aarch64");
  EXPECT_EQ(machine.online.to_string(), "0-1");
  EXPECT_EQ(machine.cores.size(), 2U);  // no cores told: each CPU is one
  EXPECT_EQ(machine.llcs.size(), 1U);
}

TEST(OtherMachines, ThatAreNoneAreUsageErrors) {
  EXPECT_THROW((void)read_machine_from_xml("/nowhere.xml"), Error);
  EXPECT_THROW((void)read_machine_from_synthetic("nonsense:0"), Error);
}

TEST(Numbering, CachesAreNumberedByTheirLowestCpu) {
  // Two packages that take CPUs in turn, as many two-socket machines number them.
  const Machine machine = read_machine_from_synthetic("pack:2 l3:1 core:2 pu:1(indexes=0,2,1,3)");
  EXPECT_EQ(machine.llcs[0].to_string(), "0,2");
  EXPECT_EQ(machine.llcs[1].to_string(), "1,3");
}

TEST(Numbering, MachinesOf1536CpusWork) {
  const Machine machine = read_machine_from_synthetic("pack:16 numa:1 l3:12 core:4 pu:2");
  EXPECT_EQ(machine.online.to_string(), "0-1535");
  EXPECT_EQ(machine.llcs.size(), 192U);
  EXPECT_EQ(machine.nodes.size(), 16U);
}

TEST(Summary, IsOneLine) {
  EXPECT_EQ(summary(read_machine_from_synthetic(
                "pack:1 numa:1 l3:12 l2:4 core:1 pu:2(indexes=2*48:48*1)")),
            "96 CPUs, 12 LLCs, SMT");
  EXPECT_EQ(summary(read_machine_from_synthetic("pack:1 l3:1 core:2 pu:1")),
            "2 CPUs, 1 LLC, no SMT");
  EXPECT_EQ(summary(read_machine_from_synthetic("pack:2 numa:2 l3:1 core:4 pu:1")),
            "16 CPUs, 4 LLCs, 2 packages, 4 NUMA nodes, no SMT");
  EXPECT_EQ(summary(machine_without_topology(CpuSet::parse("0"), "hidden")),
            "1 CPU, topology unknown");
}

}  // namespace
}  // namespace krepro
