// A profile made concrete: rows, names, options, defaults, placements, and all that can be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "suite/plan/plan_test_support.h"

namespace krepro {
namespace {

using test::errors;
using test::machine;
using test::names;
using test::plan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* four_modes = R"(
title = "Four modes"
[defaults]
repetitions = 2
[[benchmark]]
name = "${mode} ${channel} g=${groups}"
generator = "hackbench"
options = { loops = 100 }
[benchmark.matrix]
mode = { process = { process = true }, thread = { threads = true } }
channel = { pipe = { pipe = true }, socket = {} }
groups = [1, 4]
)";

std::string hackbench(const std::string& rest) {
  return "[[benchmark]]\nname = \"x\"\ngenerator = \"hackbench\"\n" + rest;
}

std::string randwrite(const std::string& rest) {
  return "[[benchmark]]\nname = \"w\"\ngenerator = \"randwrite\"\n" + rest;
}

TEST(Rows, AreTheMatrixMultipliedOutInTheOrderOfTheFile) {
  EXPECT_THAT(names(plan(four_modes)),
              ElementsAre("process pipe g=1", "process pipe g=4", "process socket g=1",
                          "process socket g=4", "thread pipe g=1", "thread pipe g=4",
                          "thread socket g=1", "thread socket g=4"));
}

TEST(Rows, CarryTheOptionsThatTheirChoicesSet) {
  const Plan made = plan(four_modes);
  EXPECT_EQ(made.benchmarks[0].options,
            nlohmann::json({{"loops", 100}, {"process", true}, {"pipe", true}, {"groups", 1}}));
  EXPECT_EQ(made.benchmarks[7].options,
            nlohmann::json({{"loops", 100}, {"threads", true}, {"groups", 4}}));
  EXPECT_EQ(made.benchmarks[0].family, "hackbench, seconds (lower is better)");
  EXPECT_EQ(made.title, "Four modes");
}

TEST(Rows, WithoutPlaceholdersShowTheirAxes) {
  EXPECT_THAT(names(plan(hackbench("matrix.groups = [1, 2]\nmatrix.mode.a = {}\n"))),
              ElementsAre("x groups=1 a", "x groups=2 a"));
  EXPECT_THAT(names(plan(randwrite("matrix = { ioengine = [\"psync\", \"io_uring\"] }\n"))),
              ElementsAre("w ioengine=psync", "w ioengine=io_uring"));
}

TEST(Rows, MayBeNamedByOptionsDefaultsAndParameters) {
  EXPECT_THAT(names(plan("[[benchmark]]\nname = \"${g} x ${loops} on ${where}\"\n"
                         "generator = \"hackbench\"\noptions.groups = 3\n"
                         "[parameters]\nwhere = { help = \"h\", default = \"disk\" }\n")),
              ElementsAre("3 x 100 on disk"));
  EXPECT_THAT(errors("[[benchmark]]\nname = \"${grups}\"\ngenerator = \"hackbench\"\n"),
              ElementsAre(HasSubstr("mine.toml:2:8: name \"${grups}\": nothing is called grups")));
  EXPECT_THAT(errors("[[benchmark]]\nname = \"${groups\"\ngenerator = \"hackbench\"\n"),
              ElementsAre(HasSubstr("${ is never closed")));
}

TEST(Rows, OfOneNameAreRefused) {
  EXPECT_THAT(errors(hackbench("") + hackbench("options.groups = 2\n")),
              ElementsAre(HasSubstr("mine.toml:5:8: two rows are called \"x\"")));
}

TEST(Rows, HaveNamesThatCanBeMailed) {
  EXPECT_THAT(errors("[[benchmark]]\nname = \"caf\xc3\xa9\"\ngenerator = \"hackbench\"\n"),
              ElementsAre(HasSubstr("only printable ASCII")));
  EXPECT_THAT(
      errors("[[benchmark]]\nname = \"" + std::string(61, 'x') + "\"\ngenerator = \"hackbench\"\n"),
      ElementsAre(HasSubstr("longer than 60")));
}

TEST(Rows, TooManyAreRefusedBeforeTheyAreMade) {
  std::string axes = "matrix.a = [";
  for (int i = 0; i < 1000; ++i) axes += std::to_string(i) + ",";
  axes += "]\n";
  std::string again = axes;
  again.replace(again.find("matrix.a"), 8, "matrix.b");
  EXPECT_THAT(errors(hackbench(axes + again)), ElementsAre(HasSubstr("more than 10000 rows")));
}

TEST(Options, UnknownNamesAreErrorsAtTheKeyWithTheNearest) {
  EXPECT_THAT(errors(randwrite("options = { bs = \"4k\", iodepht = 64 }\n")),
              ElementsAre("mine.toml:4:24: randwrite has no option \"iodepht\"; did you mean "
                          "\"iodepth\"?"));
  EXPECT_THAT(errors(hackbench("matrix = { grups = [1, 2] }\n")),
              ElementsAre(HasSubstr("mine.toml:4:12: hackbench has no option \"grups\"; did you "
                                    "mean \"groups\"?")));
  EXPECT_THAT(errors(hackbench("options.zzz = 1\n")),
              ElementsAre(HasSubstr("krepro hackbench --help lists them")));
}

TEST(Options, ValuesAreCheckedByTheGeneratorsTable) {
  EXPECT_THAT(errors(hackbench("options = { groups = 0, datasize = \"4q\" }\n")),
              ElementsAre(HasSubstr("mine.toml:4:22: hackbench: groups: 0 is below 1"),
                          HasSubstr("mine.toml:4:36: hackbench: datasize: \"4q\"")));
  EXPECT_THAT(errors(randwrite("options = { runtime = \"60x\", ioengine = \"psyn\" }\n")),
              ElementsAre(HasSubstr("mine.toml:4:23: randwrite: runtime: \"60x\""),
                          HasSubstr("did you mean \"psync\"?")));
  EXPECT_THAT(errors(hackbench("options.groups = -1\n")), ElementsAre(HasSubstr("4:18")));
  EXPECT_THAT(errors(hackbench("options.groups = 1.5\n")), ElementsAre(HasSubstr("4:18")));
  EXPECT_THAT(errors(hackbench("options.groups = true\n")),
              ElementsAre(HasSubstr("groups is true; expected a number")));
  EXPECT_THAT(errors(hackbench("options.groups = [1, 2]\n")),
              ElementsAre(HasSubstr("groups is an array; expected a number")));
}

TEST(Options, FlagsAreTomlBooleansOnly) {
  EXPECT_EQ(plan(randwrite("options.direct = true\n")).benchmarks[0].options.at("direct"), true);
  for (const char* value : {"\"true\"", "1", "\"yes\""}) {
    EXPECT_THAT(errors(randwrite(std::string("options.direct = ") + value + "\n")),
                ElementsAre(AllOf(HasSubstr("mine.toml:4:18: randwrite: direct is"),
                                  HasSubstr("expected true or false, without quotes"))))
        << value;
  }
}

TEST(Options, MayBeSpeltWithEitherDash) {
  const Plan made = plan(randwrite("options = { io_depth = 2, tag = [\"a\", \"b\"] }\n"));
  EXPECT_EQ(made.benchmarks[0].options, nlohmann::json({{"io-depth", 2}, {"tag", {"a", "b"}}}));
}

TEST(Options, SetTwiceInARowAreAnError) {
  EXPECT_THAT(errors(hackbench("options.groups = 1\nmatrix.g = [1, 2]\n")),
              ElementsAre(HasSubstr("option \"g\" is set twice in one row")));
}

TEST(Options, RefusedOnesAreErrorsAndIgnoredOnesAreNoted) {
  EXPECT_THAT(errors(randwrite("options.thinktime = \"1ms\"\n")),
              ElementsAre(HasSubstr("not implemented here, and it would change the load")));
  EXPECT_THAT(plan(randwrite("options.group_reporting = true\n")).warnings,
              ElementsAre(HasSubstr("no effect on the load here")));
}

TEST(Defaults, GoToEveryGeneratorThatHasAnOptionOfThatMeaning) {
  const Plan made =
      plan("[defaults]\nruntime = \"60s\"\nthreads = 4\n" + randwrite("") + hackbench(""));
  EXPECT_EQ(made.benchmarks[0].options, nlohmann::json({{"runtime", "60s"}, {"numjobs", 4}}));
  EXPECT_EQ(made.benchmarks[1].options, nlohmann::json::object());
  EXPECT_DOUBLE_EQ(made.benchmarks[0].expected_seconds, 60);
}

TEST(Defaults, GiveWayToTheRowsOwnOption) {
  const Plan made = plan("[defaults]\nruntime = \"60s\"\n" + randwrite("options.runtime = 5\n"));
  EXPECT_EQ(made.benchmarks[0].options.at("runtime"), 5);
  EXPECT_DOUBLE_EQ(made.benchmarks[0].expected_seconds, 5);
}

TEST(Defaults, ThatNoGeneratorTakesAreErrors) {
  EXPECT_THAT(errors("[defaults]\nruntime = \"60s\"\n" + hackbench("")),
              ElementsAre(HasSubstr("mine.toml:2:11: runtime in [defaults] has no effect")));
  EXPECT_EQ(plan("[defaults]\nseed = 7\n" + hackbench("")).seed, 7U);
}

TEST(Parameters, FillTexts) {
  PlanSettings settings;
  settings.parameters = {"device=/dev/x=y", "size=8k", "raw=true"};
  const std::string profile = randwrite(
      "options = { filename = \"${device}-$${a}\", bs = \"${size}\", direct = \"${raw}\" }\n"
      "placement = \"${where}\"\n"
      "[parameters]\ndevice = { help = \"a device\", required = true }\n"
      "size = { help = \"bytes\", default = 4096 }\nraw = { help = \"r\", default = false }\n"
      "where = { help = \"w\", default = \"cpus:1\" }\n");
  const Plan made = plan(profile, settings);
  EXPECT_EQ(made.benchmarks[0].options,
            nlohmann::json({{"filename", "/dev/x=y-${a}"}, {"bs", "8k"}, {"direct", true}}));
  EXPECT_EQ(made.benchmarks[0].cpus.at("load"), "1");
}

TEST(Parameters, ThatAreMissingUnknownOrUnusedAreErrors) {
  const std::string profile = randwrite(
      "options = { filename = \"${device}\" }\n[parameters]\n"
      "device = { help = \"a spare block device or a file\", required = true }\n");
  EXPECT_THAT(errors(profile),
              ElementsAre("mine.toml:6:1: parameter \"device\" must be given: a spare block device "
                          "or a file; add --set device=..."));
  PlanSettings settings;
  settings.parameters = {"devcie=/dev/x", "nonsense"};
  EXPECT_THAT(
      errors(profile, settings),
      ElementsAre(HasSubstr("no parameter \"devcie\"; did you mean \"device\"?"),
                  HasSubstr("--set nonsense: expected NAME=VALUE"), HasSubstr("must be given")));
  settings.parameters = {"device=x"};
  EXPECT_THAT(errors(randwrite("options.filename = \"${devcie}\"\n[parameters]\n"
                               "device = { help = \"h\", required = true }\n"),
                     settings),
              ElementsAre(HasSubstr("mine.toml:4:20: no parameter is called \"devcie\"; did you "
                                    "mean \"device\"?"),
                          HasSubstr("parameter \"device\" is not used")));
}

TEST(Generators, UnknownOnesAreErrorsAndUnbuiltOnesAreSkipped) {
  EXPECT_THAT(errors("[[benchmark]]\ngenerator = \"hackbnech\"\n"),
              ElementsAre("mine.toml:2:13: unknown generator \"hackbnech\"; did you mean "
                          "\"hackbench\"?"));
  const Plan made = plan(hackbench("") + "[[benchmark]]\nname = \"web\"\ngenerator = \"http\"\n" +
                         "matrix.connections = [1, 2]\nplacement = \"${p}\"\n" +
                         "[[benchmark]]\ngenerator = \"torn\"\n" +
                         "[parameters]\np = { help = \"h\", default = \"all\" }\n");
  EXPECT_THAT(names(made), ElementsAre("x"));
  ASSERT_EQ(made.skipped.size(), 3U);
  EXPECT_EQ(made.skipped[0].name, "web connections=1");
  EXPECT_THAT(made.skipped[0].reason, HasSubstr("generator \"http\" is not built here"));
  EXPECT_THAT(made.skipped[2].reason, HasSubstr("does not print JSON"));
}

TEST(Generators, WhereNoneCanRunNothingIsPossible) {
  try {
    (void)plan("[[benchmark]]\ngenerator = \"http\"\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::not_possible);
    EXPECT_THAT(error.what(), HasSubstr("no row can run here: generator \"http\""));
  }
}

TEST(Placements, AreResolvedOnThisMachine) {
  const Plan made = plan(randwrite("placement = { load = \"rest\", serve = \"cpus:0-1\" }\n"));
  EXPECT_EQ(made.benchmarks[0].placement.at("load"), "rest");
  EXPECT_EQ(made.benchmarks[0].cpus.at("load"), "2-3");
  EXPECT_EQ(made.benchmarks[0].cpus.at("serve"), "0-1");
  EXPECT_TRUE(plan(hackbench("")).benchmarks[0].cpus.empty());
}

TEST(Placements, OfAServerThatRunsAlreadyAreRefused) {
  for (const std::string key : {"placement", "pinning", "memory", "scheduling"}) {
    EXPECT_THAT(errors(randwrite(key + " = { serve = \"cpus:0\" }\n" +
                                 "options = { filename = \"http://10.0.0.2/\" }\n")),
                ElementsAre(HasSubstr(key + ".serve has no effect: the row names a server")));
  }
}

TEST(Placements, ThatThisMachineCannotMeetSkipTheRow) {
  const Plan made = plan(hackbench("placement = \"cpus:0-7\"\n") +
                         "[[benchmark]]\nname = \"y\"\ngenerator = \"hackbench\"\n");
  EXPECT_THAT(names(made), ElementsAre("y"));
  ASSERT_EQ(made.skipped.size(), 1U);
  EXPECT_THAT(made.skipped[0].reason, HasSubstr("cpus 4-7 are not on this machine"));
}

TEST(Placements, OfWrongWordingOrOfNoSuchRoleAreErrors) {
  EXPECT_THAT(errors(hackbench("placement = \"one-per-lcc\"\n")),
              ElementsAre(HasSubstr("mine.toml:4:13: unknown placement \"one-per-lcc\"; did you "
                                    "mean \"one-per-llc\"?")));
  EXPECT_THAT(errors(hackbench("placement = { serve = \"all\" }\n")),
              ElementsAre(HasSubstr("mine.toml:4:23: placement.serve has no effect: hackbench has "
                                    "no role \"serve\"")));
  EXPECT_THAT(errors(hackbench("scheduling = \"btach\"\n")),
              ElementsAre(HasSubstr("mine.toml:4:14: ")));
  EXPECT_EQ(plan(hackbench("scheduling = \"batch,nice:5\"\n")).benchmarks[0].scheduling.at("load"),
            "batch,nice:5");
}

TEST(Upstream, RowsAreSkippedWhereTheOriginalIsMissing) {
  const Plan made = plan(hackbench("upstream = true\n") +
                         "[[benchmark]]\nname = \"y\"\ngenerator = \"hackbench\"\n");
  EXPECT_THAT(names(made), ElementsAre("y"));
  ASSERT_EQ(made.skipped.size(), 1U);
  EXPECT_THAT(made.skipped[0].reason,
              AllOf(HasSubstr("krepro-no-such-program"), HasSubstr("rt-tests")));
}

TEST(Upstream, RowsThatTheOriginalCannotRunAreErrors) {
  EXPECT_THAT(errors(hackbench("upstream = true\noptions.ours = 3\n")),
              ElementsAre(HasSubstr("mine.toml:1:1: upstream: ")));
  EXPECT_THAT(errors(randwrite("upstream = true\n")), ElementsAre(HasSubstr("upstream: ")));
}

TEST(Machines, ThatDifferFromTheExpectationAreWarnedOf) {
  const std::string profile =
      "[machine]\nname = \"c7g.metal\"\ncpus = 64\nllcs = 1\nsmt = true\n"
      "architecture = \"aarch64\"\ncores = 4\n" +
      hackbench("");
  EXPECT_THAT(plan(profile).warnings, ElementsAre("64 CPUs expected (c7g.metal), 4 here",
                                                  "SMT expected (c7g.metal), none here",
                                                  "aarch64 expected (c7g.metal), x86_64 here"));
  Machine restricted = machine();
  restricted.allowed = CpuSet::parse("1");
  EXPECT_THAT(plan(hackbench(""), {}, restricted).warnings,
              ElementsAre(HasSubstr("only 1 of 4 CPUs may be used here")));
  EXPECT_THAT(plan("[machine]\nllcs = 2\nsmt = false\n" + hackbench(""), {},
                   machine_without_topology(CpuSet::parse("0"), "hidden"))
                  .warnings,
              ElementsAre("2 LLCs expected, unknown here"));
}

TEST(Everything, IsSaidAtOnce) {
  PlanSettings settings;
  settings.parameters = {"size=1"};
  settings.repetitions = 0;
  EXPECT_THAT(errors(hackbench("options = { grups = 1 }\nplacement = \"al\"\n") +
                         "[[benchmark]]\ngenerator = \"randwriet\"\n",
                     settings),
              ElementsAre(HasSubstr("--set size=1"), HasSubstr("--repetitions 0"),
                          HasSubstr("mine.toml:4:13"), HasSubstr("mine.toml:5:13"),
                          HasSubstr("mine.toml:7:13")));
}

TEST(Only, SelectsRowsByShellPatterns) {
  PlanSettings settings;
  settings.only = {"*pipe*"};
  EXPECT_THAT(names(plan(four_modes, settings)), ElementsAre("process pipe g=1", "process pipe g=4",
                                                             "thread pipe g=1", "thread pipe g=4"));
  settings.only = {"process pipe g=1", "thread*4"};
  EXPECT_THAT(names(plan(four_modes, settings)),
              ElementsAre("process pipe g=1", "thread pipe g=4", "thread socket g=4"));
  settings.only = {"*pipe*", "*pipes*"};
  EXPECT_THAT(errors(four_modes, settings),
              ElementsAre(AllOf(HasSubstr("--only '*pipes*' matches no row"),
                                HasSubstr("process pipe g=1, process pipe g=4"))));
}

TEST(Fit, ScalesCountsAndLeavesOutWhatBecameEqual) {
  PlanSettings settings;
  settings.fit = true;
  const std::string profile =
      "[machine]\ncpus = 64\n" + hackbench("fit = \"groups\"\nmatrix.groups = [1, 4, 48, 256]\n");
  const Plan made = plan(profile, settings, machine(2));
  EXPECT_TRUE(made.fitted);
  EXPECT_THAT(names(made), ElementsAre("x groups=1", "x groups=2", "x groups=8"));
  EXPECT_EQ(made.benchmarks[0].scaled, "");
  EXPECT_EQ(made.benchmarks[1].scaled, "groups 48 -> 2");
  EXPECT_EQ(made.benchmarks[2].options.at("groups"), 8);
  EXPECT_THAT(made.warnings, ElementsAre(HasSubstr("64 CPUs expected"),
                                         AllOf(HasSubstr("scaled to this machine (x 2/64 CPUs)"),
                                               HasSubstr("1 row left out"))));
}

TEST(Fit, GoesByTheAllowedCpusAndLeavesAFittingMachineAlone) {
  PlanSettings settings;
  settings.fit = true;
  const std::string profile =
      "[machine]\ncpus = 4\n" + hackbench("fit = \"groups\"\noptions.groups = 8\n");
  const Plan same = plan(profile, settings);
  EXPECT_EQ(same.benchmarks[0].options.at("groups"), 8);
  EXPECT_EQ(same.benchmarks[0].scaled, "");
  EXPECT_THAT(same.warnings, IsEmpty());
  Machine restricted = machine();
  restricted.allowed = CpuSet::parse("0-1");
  EXPECT_EQ(plan(profile, settings, restricted).benchmarks[0].options.at("groups"), 4);
}

TEST(Fit, NeedsToKnowWhatItScalesAndFromWhere) {
  PlanSettings settings;
  settings.fit = true;
  EXPECT_THAT(errors(hackbench("fit = \"groups\"\n"), settings),
              ElementsAre(HasSubstr("--fit: mine.toml says nothing of the machine")));
  EXPECT_THAT(errors(hackbench("fit = \"gruops\"\n")),
              ElementsAre(HasSubstr("mine.toml:4:7: fit: \"gruops\" is not an option of hackbench "
                                    "that counts something; did you mean \"groups\"?")));
  EXPECT_THAT(plan("[machine]\ncpus = 64\n" + hackbench(""), settings).warnings,
              ElementsAre(HasSubstr("64 CPUs"), HasSubstr("--fit has changed nothing")));
}

// Pinning and memory --------------------------------------------------------------------------

/// What a run file gives back.
Plan through_a_file(const Plan& made) {
  return plan_from_json(nlohmann::json::parse(to_json(made).dump()));
}

TEST(Pinnings, BecomeAnOrderOfThePlacementsCpus) {
  const Plan made =
      plan(randwrite("placement = { load = \"cpus:0-1\", serve = \"rest\" }\n"
                     "pinning = { load = \"pin-compact\", serve = \"float\" }\n"));
  const Benchmark& row = made.benchmarks.at(0);
  EXPECT_EQ(row.pinning, nlohmann::json({{"load", "pin-compact"}, {"serve", "float"}}));
  EXPECT_EQ(row.worker_cpus, nlohmann::json({{"load", "0-1"}}));
  const Plan again = through_a_file(made);
  EXPECT_EQ(again.benchmarks.at(0).worker_cpus, row.worker_cpus);
  EXPECT_EQ(again.benchmarks.at(0).pinning, row.pinning);
}

TEST(Pinnings, WithoutAPlacementAreOfAllCpus) {
  EXPECT_EQ(plan(hackbench("pinning = \"pin-spread\"\n")).benchmarks.at(0).worker_cpus,
            nlohmann::json({{"load", "0-3"}}));
}

TEST(Pinnings, ThatAreWrongAreErrorsWithTheirPlace) {
  EXPECT_THAT(errors(hackbench("pinning = \"pin-compct\"\n")),
              ElementsAre(HasSubstr("mine.toml:4:11: unknown pinning \"pin-compct\"; did you mean "
                                    "\"pin-compact\"?")));
  EXPECT_THAT(errors(hackbench("pinning = { serve = \"float\" }\n")),
              ElementsAre(HasSubstr("pinning.serve has no effect")));
  EXPECT_THAT(errors(hackbench("upstream = true\npinning = \"pin-compact\"\n")),
              ElementsAre(HasSubstr("the workers of an original cannot be pinned")));
}

TEST(MemoryPolicies, GetTheNodesOfThePlacement) {
  const Plan made = plan(hackbench("placement = \"cpus:0\"\nmemory = \"bind\"\n"));
  EXPECT_EQ(made.benchmarks.at(0).memory, nlohmann::json({{"load", "bind"}}));
  EXPECT_EQ(made.benchmarks.at(0).memory_policy, nlohmann::json({{"load", "bind:0"}}));
  EXPECT_EQ(through_a_file(made).benchmarks.at(0).memory_policy,
            made.benchmarks.at(0).memory_policy);
}

TEST(MemoryPolicies, ThatTheMachineCannotMeetSkipTheRow) {
  const Plan made =
      plan(hackbench("memory = \"bind:3\"\n") + "[[benchmark]]\ngenerator = \"hackbench\"\n");
  ASSERT_EQ(made.skipped.size(), 1U);
  EXPECT_THAT(made.skipped[0].reason, HasSubstr("node 3 is not there; NUMA nodes here: 0"));
  EXPECT_THAT(errors(hackbench("memory = \"bound\"\n")),
              ElementsAre(HasSubstr("mine.toml:4:10: \"bound\" is not a memory policy")));
}

// Settings ------------------------------------------------------------------------------------

constexpr const char* varied_settings =
    "[settings]\nthp = [\"never\", \"always\"]\nsmt = true\nscheduling = [\"other\", "
    "\"batch\"]\n";

TEST(VariedSettings, AreMultipliedAndSurviveAFile) {
  const Plan made = through_a_file(plan(varied_settings + hackbench("")));
  ASSERT_EQ(made.variants.size(), 4U);
  EXPECT_EQ(made.variants[1].suffix, "+thp=never+scheduling=batch");
  EXPECT_EQ(made.variants[3].settings,
            (std::vector<Setting>{{"thp", "always"}, {"scheduling", "batch"}}));
  EXPECT_EQ(made.settings, (std::vector<Setting>{{"smt", "1"}}));
  std::size_t runs = 0;
  std::size_t last = made.variants.size();
  for (const Trial& trial : made.trials) {
    // The first trial after each switch only settles.
    EXPECT_EQ(trial.settling, trial.variant != last) << trial.index;
    EXPECT_EQ(trial.settling, trial.warmup);
    last = trial.variant;
    if (!trial.warmup) ++runs;
  }
  EXPECT_EQ(runs, 4U * 3);
}

TEST(VariedSettings, InRandomOrderEachRepetitionHasEachOnce) {
  PlanSettings settings;
  settings.order = Order::random;
  settings.seed = 5;
  const Plan made = plan(varied_settings + hackbench(""), settings);
  std::map<std::int64_t, std::set<std::size_t>> seen;
  for (const Trial& trial : made.trials) {
    if (trial.warmup) continue;
    EXPECT_TRUE(seen[trial.repetition].insert(trial.variant).second);
  }
  for (const auto& [repetition, variants] : seen) EXPECT_EQ(variants.size(), 4U);
}

TEST(VariedSettings, OfAForeignFileAreCheckedAgain) {
  nlohmann::json file = to_json(plan(varied_settings + hackbench("")));
  file["settings"][0]["name"] = "sched/../../../etc/passwd";
  EXPECT_THROW((void)plan_from_json(nlohmann::json::parse(file.dump())), Error);
}

}  // namespace
}  // namespace krepro
