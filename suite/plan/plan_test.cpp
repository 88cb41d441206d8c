// The order of trials, the way to a run file and back, and the text of a plan.
#include "suite/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "suite/placement/machine_file.h"
#include "suite/placement/pinning.h"
#include "suite/placement/placement.h"
#include "suite/plan/machine_differences.h"
#include "suite/plan/plan_command.h"
#include "suite/plan/plan_test_support.h"
#include "suite/plan/trials.h"

namespace krepro {
namespace {

using test::names;
using test::plan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// "a1 b1" of a plan's trials: the benchmark as a letter, the repetition, w for a warm-up.
std::string order_of(const std::vector<Trial>& trials) {
  std::string text;
  for (const Trial& trial : trials) {
    if (!text.empty()) text += ' ';
    if (trial.warmup) text += 'w';
    text += static_cast<char>('a' + trial.benchmark);
    text += std::to_string(trial.repetition + 1);
  }
  return text;
}

TEST(TrialOrder, InterleavedRunsAllOnceThenAllAgain) {
  const auto trials = order_trials({{0, 2}, {0, 3}}, Order::interleaved, 1);
  EXPECT_EQ(order_of(trials), "a1 b1 a2 b2 b3");
  EXPECT_EQ(trials[3].index, 3U);
}

TEST(TrialOrder, SequentialRunsOneBenchmarkAfterTheOther) {
  EXPECT_EQ(order_of(order_trials({{1, 2}, {0, 2}}, Order::sequential, 1)), "wa1 a1 a2 b1 b2");
}

TEST(TrialOrder, WarmupsComeFirstAndAreMarked) {
  EXPECT_EQ(order_of(order_trials({{1, 2}, {2, 1}}, Order::interleaved, 1)),
            "wa1 wb1 wb2 a1 b1 a2");
}

TEST(TrialOrder, RandomIsAShuffleThatTheSeedDecides) {
  const std::vector<TrialCounts> counts = {{1, 8}, {0, 8}, {0, 8}};
  const std::string first = order_of(order_trials(counts, Order::random, 1));
  EXPECT_EQ(first, order_of(order_trials(counts, Order::random, 1)));
  EXPECT_NE(first, order_of(order_trials(counts, Order::random, 2)));
  EXPECT_NE(first, order_of(order_trials(counts, Order::interleaved, 1)));
  EXPECT_EQ(first.substr(0, 4), "wa1 ");
  auto trials = order_trials(counts, Order::random, 1);
  std::set<std::pair<std::size_t, std::int64_t>> seen;
  for (const Trial& trial : trials) {
    if (!trial.warmup) seen.insert({trial.benchmark, trial.repetition});
  }
  EXPECT_EQ(seen.size(), 24U);
}

TEST(TrialOrder, IsChosenByName) {
  EXPECT_EQ(parse_order("random"), Order::random);
  EXPECT_STREQ(to_string(Order::interleaved), "interleaved");
  try {
    (void)parse_order("sequentail");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.remedy(), "did you mean \"sequential\"?");
  }
}

constexpr const char* profile = R"(
title = "Some rows"
report = "https://example.org/r"
[machine]
cpus = 64
[defaults]
repetitions = 2
warmups = 1
[[benchmark]]
name = "g=${groups}"
generator = "hackbench"
placement = "cpus:0-1"
scheduling = "batch"
options = { pipe = true }
fit = "groups"
expected_seconds = 1.5
matrix.groups = [16, 64]
[[benchmark]]
name = "writes"
generator = "randwrite"
repetitions = 1
options = { filename = "/tmp/a file's name", tag = ["a", "b"], direct = false, runtime = "2s" }
[[benchmark]]
name = "web"
generator = "http"
)";

PlanSettings fitted() {
  PlanSettings settings;
  settings.fit = true;
  settings.seed = 18446744073709551615ULL;
  return settings;
}

TEST(PlanJson, ComesBackAsItWent) {
  const Plan made = plan(profile, fitted());
  const Plan back = plan_from_json(nlohmann::json::parse(to_json(made).dump()));
  EXPECT_EQ(to_json(back), to_json(made));
  EXPECT_EQ(back.seed, 18446744073709551615ULL);
  EXPECT_EQ(names(back), names(made));
  EXPECT_EQ(back.benchmarks[0].scaled, "groups 16 -> 1");
  EXPECT_EQ(back.skipped.size(), 1U);
  EXPECT_EQ(order_of(back.trials), "wa1 wb1 wc1 a1 b1 c1 a2 b2");
  EXPECT_EQ(back.trials[4].index, 4U);
}

TEST(PlanJson, ThatIsNoneIsAUsageError) {
  const nlohmann::json good = to_json(plan(profile, fitted()));
  EXPECT_THROW((void)plan_from_json(nlohmann::json()), Error);
  EXPECT_THROW((void)plan_from_json(nlohmann::json::array()), Error);
  EXPECT_THROW((void)plan_from_json(nlohmann::json::object()), Error);
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = good;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return changed;
  };
  for (const auto& [pointer, value] :
       std::vector<std::pair<const char*, nlohmann::json>>{{"/trials/0/benchmark", 99},
                                                           {"/trials/0/benchmark", -1},
                                                           {"/trials/0/repetition", "x"},
                                                           {"/trials/0/repetition", 5000000000},
                                                           {"/order", "backwards"},
                                                           {"/seed", -1},
                                                           {"/benchmarks/0/options", 3},
                                                           {"/benchmarks/0/name", 3},
                                                           {"/benchmarks", 3},
                                                           {"/skipped/0/reason", nullptr}}) {
    EXPECT_THROW((void)plan_from_json(with(pointer, value)), Error) << pointer;
  }
}

TEST(Settings, GoBeforeTheProfile) {
  PlanSettings settings;
  settings.repetitions = 3;
  settings.warmups = 0;
  settings.order = Order::sequential;
  EXPECT_EQ(order_of(plan(profile, settings).trials), "a1 a2 a3 b1 b2 b3 c1 c2 c3");
}

TEST(Settings, SameSettingsSamePlan) {
  PlanSettings settings;
  settings.order = Order::random;
  settings.seed = 3;
  EXPECT_EQ(to_json(plan(profile, settings)), to_json(plan(profile, settings)));
}

TEST(ExpectedDuration, IsTheSumWhereItIsKnown) {
  const ExpectedDuration expected = expected_duration(plan(profile));
  EXPECT_TRUE(expected.complete);
  EXPECT_DOUBLE_EQ(expected.seconds, 6 * 1.5 + 2 * 2);
  EXPECT_FALSE(expected_duration(plan("[[benchmark]]\ngenerator = \"hackbench\"\n")).complete);
}

PreparedPlan prepared() {
  PreparedPlan result;
  result.catalog = test::catalog();
  result.machine = test::machine();
  result.profile = parse_profile(profile, "mine.toml");
  result.plan = make_plan(result.profile, fitted(), result.catalog, result.machine);
  return result;
}

TEST(CommandLine, IsWhatOneWouldType) {
  const PreparedPlan made = prepared();
  EXPECT_EQ(command_line(made.plan.benchmarks[1], made.catalog),
            "taskset -c 0-1 krepro hackbench --groups=4 --pipe");
  EXPECT_EQ(command_line(made.plan.benchmarks[2], made.catalog),
            "krepro randwrite --direct=0 '--filename=/tmp/a file'\\''s name' --runtime=2s --tag=a "
            "--tag=b");
}

TEST(CommandLine, HasPinningAndMemoryToo) {
  Benchmark row = prepared().plan.benchmarks[1];
  row.worker_cpus = {{"load", "1,0"}, {"serve", "2-3"}};
  row.memory_policy = {{"load", "interleave:0-1"}};
  EXPECT_EQ(command_line(row, test::catalog()),
            "taskset -c 0-1 numactl --interleave=0-1 krepro hackbench --groups=4 --pipe "
            "--worker-cpus=1,0 --server-worker-cpus=2-3");
}

TEST(CommandLine, OfAnUpstreamRowIsTheOriginals) {
  Benchmark row = prepared().plan.benchmarks[0];
  row.upstream = true;
  EXPECT_THAT(command_line(row, test::catalog()),
              AllOf(HasSubstr("krepro-no-such-program"), Not(HasSubstr("krepro hackbench"))));
}

TEST(PlanText, SpellsEverythingOut) {
  const std::string text = plan_text(prepared());
  for (const char* part :
       {"Some rows (mine.toml)\n", "report: https://example.org/r\n",
        "3 rows + 3 warm-ups = 8 trials, interleaved", "13 s", "18446744073709551615\n",
        "this machine: 4 CPUs, 1 LLC, no SMT, x86_64\n", "  WARNING: 64 CPUs expected, 4 here\n",
        "  WARNING: scaled to this machine (x 4/64 CPUs)",
        "  SKIPPED: web: generator \"http\" is not built here",
        "  note: the original krepro-no-such-program (package rt-tests) is not\n",
        "hackbench, seconds (lower is better)\n", "   1  g=1  scaled: groups 16 -> 1\n",
        "load on cpus:0-1: cpus 0-1\n", "load scheduled as batch\n",
        "taskset -c 0-1 krepro hackbench --groups=1 --pipe\n", "name' \\\n          --runtime=2s",
        "   1  warm-up 1   g=1\n", "   8  run 2       g=4\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 78U) << line;
}

// The profiles that are shipped ----------------------------------------------------------------

class ShippedProfiles : public testing::Test {
 protected:
  static std::filesystem::path directory() { return find_profiles_directory(); }
  static Machine c7g_metal() {
    Machine machine = test::machine(64);
    machine.architecture = "aarch64";
    return machine;
  }
};

TEST_F(ShippedProfiles, AreAllReadable) {
  for (const std::string& name : list_profiles(directory())) {
    EXPECT_NO_THROW((void)load_profile(name, directory())) << name;
  }
}

TEST_F(ShippedProfiles, AndTheOneInTheDocumentationToo) {
  std::ifstream page(directory().parent_path() / "docs" / "profiles.md");
  if (!page) GTEST_SKIP() << "the documentation is not beside the profiles";
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (inside && line == "```") break;
    if (inside) text += line + "\n";
    inside = inside || line == "```toml";
  }
  EXPECT_EQ(parse_profile(text, "docs/profiles.md").benchmarks.size(), 1U);
}

TEST_F(ShippedProfiles, FitTheMachinesThatTheyName) {
  int checked = 0;
  for (const std::string& name : list_profiles(directory())) {
    const Profile shipped = load_profile(name, directory());
    const std::filesystem::path file =
        std::filesystem::path(KREPRO_TEST_FIXTURES) / "topology" / (shipped.machine.name + ".txt");
    if (shipped.machine.name.empty()) continue;
    ASSERT_TRUE(std::filesystem::exists(file)) << name << " names " << shipped.machine.name;
    const Machine named = read_machine_file(file);
    EXPECT_THAT(machine_differences(shipped.machine, named), testing::IsEmpty()) << name;
    EXPECT_TRUE(shipped.machine.cpus && shipped.machine.llcs && shipped.machine.numa_nodes) << name;
    for (const BenchmarkTemplate& each : shipped.benchmarks) {
      std::map<std::string, std::string> roles;
      for (const auto& [role, text] : each.placement) roles[role] = text.text;
      EXPECT_FALSE(roles.empty()) << name << ": a row without a placement";
      const auto cpus = resolve_placements(roles, named);
      for (const auto& [role, text] : each.pinning) {
        EXPECT_NO_THROW((void)pinning_order(parse_pinning(text.text), cpus.at(role), named));
      }
      for (const auto& [role, text] : each.memory) {
        EXPECT_NO_THROW((void)resolve_memory(text.text, cpus.at(role), named)) << name;
      }
    }
    ++checked;
  }
  EXPECT_GE(checked, 6);
}

TEST_F(ShippedProfiles, NextBuddyHasTheRowsOfThePublishedTable) {
  const Profile published = load_profile("graviton3/next-buddy-hackbench", directory());
  const Plan made = make_plan(published, {}, test::catalog(), c7g_metal());
  EXPECT_THAT(made.warnings, testing::IsEmpty());
  EXPECT_EQ(made.trials.size(), 56U * 3);
  std::ifstream csv(directory() / "graviton3" / published.reference.text);
  std::set<std::string> rows;
  for (std::string line; std::getline(csv, line);) {
    if (!line.starts_with("mmtests/hackbench,")) continue;
    const std::size_t begin = line.find(',') + 1;
    rows.insert(line.substr(begin, line.find(',', begin) - begin));
  }
  EXPECT_EQ(rows.size(), 56U);
  for (const std::string& name : names(made)) EXPECT_EQ(rows.count(name), 1U) << name;
}

TEST_F(ShippedProfiles, NextBuddyFitsSmallMachines) {
  PlanSettings settings;
  settings.fit = true;
  settings.only = {"*pipes*"};
  const Plan made = make_plan(load_profile("graviton3/next-buddy-hackbench", directory()), settings,
                              test::catalog(), test::machine(2));
  EXPECT_EQ(made.benchmarks.size(), 16U);
  EXPECT_EQ(made.benchmarks.front().name, "hackbench-process-pipes-1");
  EXPECT_EQ(made.benchmarks.back().options.at("groups"), 8);
}

}  // namespace
}  // namespace krepro
