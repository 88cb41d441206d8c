// Every placement, pinning and memory policy on every machine of tests/fixtures/topology, against
// lists that were derived from the machines' numbering, not by this program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "common/affinity/cpu_order.h"
#include "common/base/error.h"
#include "suite/placement/drawing.h"
#include "suite/placement/machine_file.h"
#include "suite/placement/pinning.h"
#include "suite/placement/placement.h"

namespace krepro {
namespace {

std::filesystem::path fixtures() {
  return std::filesystem::path(KREPRO_TEST_FIXTURES) / "topology";
}

/// What a golden line's left side comes to on `machine`.
std::string answer(const std::string& question, const Machine& machine) {
  const auto after = [&](std::size_t length) { return question.substr(length); };
  try {
    if (question.starts_with("other ")) {
      const std::size_t slash = question.find(" / ");
      return resolve_placements(
                 {{"serve", question.substr(6, slash - 6)}, {"load", question.substr(slash + 3)}},
                 machine)
          .at("load")
          .to_string();
    }
    if (question.starts_with("pin-")) {
      const std::size_t blank = question.find(' ');
      return to_string(pinning_order(parse_pinning(question.substr(0, blank)),
                                     resolve_placement(after(blank + 1), machine), machine));
    }
    if (question.starts_with("memory ")) {
      const std::size_t on = question.find(" on ");
      return resolve_memory(question.substr(7, on - 7), resolve_placement(after(on + 4), machine),
                            machine);
    }
    return resolve_placement(question, machine).to_string();
  } catch (const Error& error) {
    return error.code() == ExitCode::not_possible ? "impossible" : error.what();
  }
}

class GoldenPlacements : public testing::TestWithParam<std::string> {};

TEST_P(GoldenPlacements, AreAsDerivedByHand) {
  std::filesystem::path file = fixtures() / (GetParam() + ".txt");
  if (!std::filesystem::exists(file)) file.replace_extension(".xml");
  const Machine machine = read_machine_file(file);
  std::ifstream lines(fixtures() / (GetParam() + ".golden"));
  int checked = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => ");
    if (line.starts_with('#') || arrow == std::string::npos) continue;
    EXPECT_EQ(answer(line.substr(0, arrow), machine), line.substr(arrow + 4))
        << line.substr(0, arrow);
    ++checked;
  }
  EXPECT_GE(checked, 50);
}

TEST_P(GoldenPlacements, PinningsAreOrdersOfThePlacement) {
  std::filesystem::path file = fixtures() / (GetParam() + ".txt");
  if (!std::filesystem::exists(file)) file.replace_extension(".xml");
  const Machine machine = read_machine_file(file);
  for (const Pinning pinning : {Pinning::compact, Pinning::spread}) {
    const std::vector<int> order = pinning_order(pinning, machine.allowed, machine);
    EXPECT_EQ(order.size(), machine.allowed.size());
    EXPECT_EQ(CpuSet(order), machine.allowed);
  }
}

TEST_P(GoldenPlacements, TheMachineIsDrawnInMailableText) {
  std::filesystem::path file = fixtures() / (GetParam() + ".txt");
  if (!std::filesystem::exists(file)) file.replace_extension(".xml");
  std::istringstream lines(draw_machine(read_machine_file(file)));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 78U) << line;
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
        << line;
  }
}

std::vector<std::string> fixture_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures())) {
    if (entry.path().extension() == ".golden") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GoldenPlacements, testing::ValuesIn(fixture_names()),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(TopologyFixtures, AreTheSixMachinesAndMore) {
  const std::vector<std::string> names = fixture_names();
  EXPECT_THAT(names, testing::IsSupersetOf({"c5ad.24xlarge", "c6g.metal", "c7g.metal",
                                            "c8g.metal-48xl", "two-sockets-snc", "cpus-1536"}));
}

TEST(TopologyFixtures, HaveTheShapesThatTheirNamesPromise) {
  const auto summary_of = [](const char* file) {
    return summary(read_machine_file(fixtures() / file));
  };
  EXPECT_EQ(summary_of("c5ad.24xlarge.txt"), "96 CPUs, 12 LLCs, SMT");
  EXPECT_EQ(summary_of("c6g.metal.txt"), "64 CPUs, 1 LLC, no SMT");
  EXPECT_EQ(summary_of("c8g.metal-48xl.txt"), "192 CPUs, 2 LLCs, 2 packages, 2 NUMA nodes, no SMT");
  EXPECT_EQ(summary_of("two-sockets-snc.txt"), "96 CPUs, 4 LLCs, 2 packages, 4 NUMA nodes, SMT");
  EXPECT_EQ(summary_of("cpus-1536.txt"), "1536 CPUs, 96 LLCs, 16 packages, 16 NUMA nodes, SMT");
  EXPECT_EQ(summary_of("clustered.txt"),
            "32 CPUs, 4 LLCs, 8 clusters, 2 packages, 2 NUMA nodes, no SMT");
  EXPECT_EQ(summary_of("hybrid.xml"), "24 CPUs, 1 LLC, 2 clusters, 2 kinds of CPUs, SMT");
  EXPECT_EQ(summary_of("offline-and-cpuset.txt"), "6 CPUs (4 allowed), 2 LLCs, SMT");
}

TEST(TopologyDrawing, ShowsWhatMayNotBeUsedAndWhatIsOffline) {
  const std::string text = draw_machine(read_machine_file(fixtures() / "offline-and-cpuset.txt"));
  EXPECT_EQ(text,
            "6 CPUs (4 allowed), 2 LLCs, SMT, x86_64\n"
            "cpus 0,2-5,7\n"
            "offline 1,6\n"
            "allowed here 0,3-5 (taskset or cpuset)\n"
            "package 0\n"
            "  node 0\n"
            "    llc 0   cpus 0,4-5           2 cores: 0+4 5\n"
            "    llc 1   cpus 2-3,7           2 cores: 2 3+7; allowed here 3\n");
}

TEST(TopologyFiles, SayWhereTheyAreWrong) {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      (void)parse_machine_text(text, "m.txt");
    } catch (const Error& error) {
      return std::string(error.what()) + "; " + error.remedy();
    }
    return "";
  };
  EXPECT_EQ(problem("pack:1 core:2 pu:1"), "");
  EXPECT_THAT(problem(""), testing::HasSubstr("no description"));
  EXPECT_THAT(problem("# x\narchitektur = x\npack:1 pu:1"),
              testing::AllOf(testing::HasSubstr("m.txt:2: unknown key"),
                             testing::HasSubstr("did you mean \"architecture\"?")));
  EXPECT_THAT(problem("offline = x\npack:1 pu:1"), testing::HasSubstr("m.txt:1: "));
  EXPECT_THAT(problem("allowed = 7\npack:1 pu:2"), testing::HasSubstr("names CPUs 7"));
  EXPECT_THAT(problem("offline = 0-1\npack:1 pu:2"), testing::HasSubstr("no CPU is left"));
  EXPECT_THAT(problem("nonsense"), testing::HasSubstr("not a synthetic topology"));
  EXPECT_THROW((void)read_machine_file("/nowhere/at/all.txt"), Error);
  EXPECT_THROW((void)read_machine_file("/"), Error);
}

TEST(Pinning, NeedsATopologyUnlessItFloats) {
  const Machine machine = machine_without_topology(CpuSet::parse("0-1"), "hidden");
  EXPECT_TRUE(pinning_order(Pinning::floating, machine.allowed, machine).empty());
  EXPECT_THROW((void)pinning_order(Pinning::compact, machine.allowed, machine), Error);
  EXPECT_THROW((void)resolve_memory("bind", machine.allowed, machine), Error);
  EXPECT_EQ(resolve_memory("local", machine.allowed, machine), "local");
}

TEST(Pinning, WordsThatAreWrongGetASuggestion) {
  try {
    (void)parse_pinning("pin-compct");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.remedy(), testing::HasSubstr("pin-compact"));
  }
  for (const char* text : {"", "bind:", "bound", "bind:x", "preferred:0-1", "local:1"}) {
    EXPECT_THROW(check_memory_syntax(text), Error) << text;
  }
}

}  // namespace
}  // namespace krepro
