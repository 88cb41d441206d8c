// The doctor's checks of topologies, plans and looked-up facts, and the report as a whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "suite/doctor/doctor_command.h"
#include "suite/doctor/doctor_test_support.h"
#include "suite/doctor/host_facts.h"

namespace krepro {
namespace {

using test::Files;
using test::finding_of;
using test::finding_on;
using test::four_cpus;
using test::MadeUpHost;
using ::testing::HasSubstr;

// Checks that look at the topology, the plan and what was looked up -----------------------------

Patient healthy(const Machine& machine) {
  Patient patient;
  patient.machine = &machine;
  return patient;
}

TEST(DoctorOnTopologies, CpusThatAreOfflineOrNotAllowed) {
  Machine machine = four_cpus();
  take_offline(machine, CpuSet::parse("1"));
  machine.allowed = CpuSet::parse("0,2");
  EXPECT_THAT(finding_of("offline", healthy(machine)).text, HasSubstr("CPU 1 is offline"));
  EXPECT_THAT(finding_of("allowed", healthy(machine)).text,
              HasSubstr("only CPUs 0,2 of 0,2-3 may be used"));
  const Machine whole = four_cpus();
  EXPECT_EQ(finding_of("offline", healthy(whole)).weight, Weight::fine);
  EXPECT_EQ(finding_of("allowed", healthy(whole)).weight, Weight::fine);
}

TEST(DoctorOnTopologies, NumaBalancingMattersWithSeveralNodes) {
  const Files on = {{"proc/sys/kernel/numa_balancing", "1"}};
  EXPECT_EQ(finding_on("numa-balancing", on).weight, Weight::fine);
  const Machine two = read_machine_from_synthetic("pack:2 numa:1 l3:1 core:2 pu:1");
  EXPECT_EQ(finding_on("numa-balancing", on, two).weight, Weight::warning);
  EXPECT_EQ(finding_on("numa-balancing", {{"proc/sys/kernel/numa_balancing", "0"}}, two).weight,
            Weight::fine);
  EXPECT_EQ(finding_on("numa-balancing", {}, two).weight, Weight::unseen);
}

TEST(DoctorOnTopologies, WithoutATopologyAndWithCachesByCpuid) {
  const Machine hidden = machine_without_topology(CpuSet::parse("0-1"), "hidden");
  EXPECT_EQ(finding_of("topology", healthy(hidden)).weight, Weight::warning);
  Machine guessed = four_cpus();
  guessed.llcs_by_cpuid = true;
  EXPECT_EQ(finding_of("topology", healthy(guessed)).weight, Weight::note);
}

TEST(DoctorOnLoad, BusyCpusAreWeighedAgainstAllOfThem) {
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  patient.busy_cpus = 1.5;
  patient.busy_programs = {"stress 1.48"};
  EXPECT_EQ(finding_of("busy", patient).weight, Weight::problem);
  EXPECT_THAT(finding_of("busy", patient).text, HasSubstr("the busiest: stress 1.48"));
  patient.busy_cpus = 0.2;
  EXPECT_EQ(finding_of("busy", patient).weight, Weight::warning);
  patient.busy_cpus = 0.02;
  EXPECT_EQ(finding_of("busy", patient).weight, Weight::fine);
}

TEST(DoctorOnPlans, WhatTheProfileNeedsAndDoesNotFind) {
  const Machine machine = four_cpus();
  Plan plan;
  plan.benchmarks.resize(2);
  Patient patient = healthy(machine);
  patient.plan = &plan;
  for (const char* id : {"machine", "rows", "ports", "limits"}) {
    EXPECT_EQ(finding_of(id, patient).weight, Weight::fine) << id;
  }
  patient.plan = nullptr;
  patient.no_row_can_run = "mine: no row can run here";
  EXPECT_EQ(finding_of("rows", patient).weight, Weight::problem);
  patient.no_row_can_run.clear();
  patient.plan = &plan;
  plan.skipped = {{"web", "generator \"http\" is not built here"}};
  patient.machine_differences = {"96 CPUs expected, 4 here"};
  patient.taken_ports = {8080};
  patient.shortfalls = {
      {"kernel.pid_max", 32768, 400100, "sysctl kernel.pid_max=400100", "400,000 tasks"}};
  EXPECT_THAT(finding_of("machine", patient).text, HasSubstr("96 CPUs expected"));
  EXPECT_THAT(finding_of("rows", patient).text, HasSubstr("web: generator"));
  EXPECT_THAT(finding_of("ports", patient).text, HasSubstr("8080"));
  EXPECT_THAT(finding_of("limits", patient).text, HasSubstr("kernel.pid_max is 32768"));
  EXPECT_EQ(finding_of("limits", patient).mend, "sysctl kernel.pid_max=400100");
  for (const char* id : {"machine", "rows", "ports", "limits"}) {
    EXPECT_EQ(finding_of(id, patient).weight, Weight::problem) << id;
  }
}

TEST(DoctorOnDisks, NearlyFullOnesAndMissingTools) {
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  EXPECT_EQ(finding_of("disk-fill", patient).weight, Weight::unseen);
  patient.disks = {{"/data", 1000, 50}};
  EXPECT_EQ(finding_of("disk-fill", patient).weight, Weight::warning);
  patient.disks = {{"/data", 1000, 500}};
  EXPECT_EQ(finding_of("disk-fill", patient).weight, Weight::fine);
  EXPECT_EQ(finding_of("tools", patient).weight, Weight::fine);
  patient.missing_tools = {"perf (to look)"};
  EXPECT_EQ(finding_of("tools", patient).weight, Weight::note);
}

TEST(DoctorOnNoise, SaysWhatWasMeasured) {
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  EXPECT_EQ(finding_of("noise", patient).weight, Weight::unseen);
  patient.noise = {{"null", 10, 0.01, 0.002, false, ""}};
  EXPECT_EQ(finding_of("noise", patient).weight, Weight::fine);
  EXPECT_THAT(finding_of("noise", patient).text, HasSubstr("one trial +-1.0 %"));
  patient.noise->push_back({"hackbench g=1", 10, 0.2, -0.1, true, ""});
  EXPECT_EQ(finding_of("noise", patient).weight, Weight::warning);
  EXPECT_THAT(finding_of("noise", patient).text, HasSubstr("two modes"));
  patient.noise->push_back({"hackbench g=4", 0, 0, 0, false, "not built"});
  EXPECT_EQ(finding_of("noise", patient).weight, Weight::problem);
}

// The whole ------------------------------------------------------------------------------------

TEST(Doctor, SaysSomethingOfEveryCheckOnAnEmptyMachine) {
  const MadeUpHost nothing({});
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  patient.environment = read_environment(nothing.host());
  const std::vector<DoctorFinding> findings = examine(patient);
  EXPECT_EQ(findings.size(), check_ids().size());
  for (const DoctorFinding& finding : findings) {
    EXPECT_FALSE(finding.text.empty()) << finding.id;
    EXPECT_FALSE(finding.why.empty()) << finding.id;
    EXPECT_FALSE(finding.matters.empty()) << finding.id;
  }
  EXPECT_TRUE(std::is_sorted(
      findings.begin(), findings.end(),
      [](const auto& left, const auto& right) { return left.weight < right.weight; }));
}

TEST(Doctor, ChecksHaveNamesOfTheirOwn) {
  const std::vector<std::string> ids = check_ids();
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(Doctor, PrintsWhyHowMuchAndWhatToDoInMailableText) {
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  patient.busy_cpus = 3;
  const std::vector<DoctorFinding> findings = examine(patient);
  const std::string text = doctor_text(findings, "krepro\n");
  EXPECT_THAT(text, HasSubstr("\nPROBLEM  busy: other work takes 3.00 of 4 CPUs"));
  EXPECT_THAT(text, HasSubstr("\n  why      other work takes"));
  EXPECT_THAT(text, HasSubstr("\n  matters  "));
  EXPECT_THAT(text, HasSubstr("\n  mend     end it, or wait"));
  EXPECT_THAT(text, HasSubstr("\ncannot be seen here\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
  EXPECT_EQ(doctor_json(findings).size(), findings.size());
  EXPECT_THAT(serious_lines(findings), testing::ElementsAre(HasSubstr("busy: other work")));
}

TEST(HostFacts, PortsThatAreListenedOn) {
  const MadeUpHost host(
      {{"proc/net/tcp",
        "  sl  local_address rem_address   st\n"
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n"
        "   1: 0100007F:0050 0100007F:C000 01 00000000:00000000\n"},
       {"proc/net/tcp6", "  sl\n   0: 00000000000000000000000000000000:1538 0:0 0A 0\n"}});
  EXPECT_EQ(listening_ports(host.host()), (std::vector<int>{5432, 8080}));
}

TEST(HostFacts, BusyCpusNeedStat) {
  const Machine machine = four_cpus();
  Patient patient = healthy(machine);
  const MadeUpHost nothing({});
  add_busy_cpus(patient, 1000, nothing.host());
  EXPECT_FALSE(patient.busy_cpus.has_value());
  add_busy_cpus(patient, 50'000'000, HostFiles("/"));
  if (patient.busy_cpus) {
    EXPECT_GE(*patient.busy_cpus, 0);
    EXPECT_LE(*patient.busy_cpus, 4);
  }
}

}  // namespace
}  // namespace krepro
