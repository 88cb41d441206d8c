// Bundles as they are made, mailed and read back; and what must not be in them.
#include "suite/bundle/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/base/error.h"
#include "suite/bundle/scrub.h"
#include "suite/compare/comparison.h"
#include "suite/compare/reference.h"
#include "suite/compare/test_support.h"

namespace krepro {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Archive, FilesComeBackAsTheyWere) {
  const FileSet files{{"a.txt", "text\n"}, {"b.bin", std::string("\0\xff\n", 3)}, {"c", ""}};
  EXPECT_EQ(unpack(pack(files), "x"), files);
  EXPECT_EQ(pack(files), pack(files));
}

TEST(Archive, WhatIsNoArchiveIsRefused) {
  EXPECT_THROW(static_cast<void>(unpack("nothing of the kind", "x")), Error);
  EXPECT_THROW(static_cast<void>(unpack("", "x")), Error);
  const std::string cut = pack({{"a", std::string(100'000, 'x')}});
  EXPECT_THROW(static_cast<void>(unpack(cut.substr(0, cut.size() / 2), "x")), Error);
}

TEST(Archive, Base64SurvivesQuoting) {
  // RFC 4648, section 10.
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy\n");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=\n");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==\n");
  EXPECT_EQ(from_base64("> Zm9v\r\n> Yg==\r\n", "x"), "foob");
  EXPECT_THROW(static_cast<void>(from_base64("Zm9!", "x")), Error);
}

TEST(Scrubber, TakesOutWhoAndWhere) {
  Scrubber scrubber;
  scrubber.add_name("node17", "HOST");
  scrubber.add_name("alice", "NAME");
  EXPECT_EQ(scrubber.scrub(std::string("/home/alice/x on node17.")), "/home/NAME/x on HOST.");
  EXPECT_EQ(scrubber.scrub(std::string("malice node171")), "malice node171");
  EXPECT_EQ(scrubber.scrub(std::string("52:54:00:ab:cd:ef 192.168.7.12 fe80::1:2")), "MAC IP IP");
  EXPECT_EQ(scrubber.scrub(std::string("127.0.0.1:8089 6.18.44 1.5 5.15.0.91-generic")),
            "127.0.0.1:8089 6.18.44 1.5 5.15.0.91-generic");
  EXPECT_EQ(scrubber.scrub(std::string("ip=10.0.0.5::10.0.0.1:255.255.255.0:x:eth0:off")),
            "ip=IP::IP:IP:x:eth0:off");
  EXPECT_EQ(scrubber.scrub(std::string("ifname=eth0:52:54:00:ab:cd:ef, from 10.1.2.3.")),
            "ifname=eth0:MAC, from IP.");
  EXPECT_EQ(scrubber.scrub(std::string("Linux version 6.18 (bob@build.example) #1")),
            "Linux version 6.18 (USER@HOST) #1");
  EXPECT_EQ(scrubber.scrub(std::string("root=UUID=01234567-89ab-cdef-0123-456789abcdef ro")),
            "root=UUID=UUID ro");
  EXPECT_EQ(scrubber.scrub(std::string("/dev/disk/by-id/nvme-Amazon_S123")),
            "/dev/disk/by-id/DEVICE");
}

TEST(Scrubber, JsonLosesFindingsAboutIdentity) {
  const nlohmann::json scrubbed = Scrubber().scrub(nlohmann::json{
      {"host.name", {{"value", "n"}, {"identity", true}}}, {"disk_serial", "S1"}, {"n", 5}});
  EXPECT_TRUE(scrubbed["host.name"]["value"].is_null());
  EXPECT_TRUE(scrubbed["disk_serial"].is_null());
  EXPECT_EQ(scrubbed["n"], 5);
}

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    char pattern[] = "/tmp/krepro-bundle-XXXXXX";
    directory_ = mkdtemp(pattern);
    MadeUpRun base;
    base.host = "secret-host.example.org";
    base.rows[0].options["url"] = "https://secret-server.example.org:8443/test.html";
    write_side(base);
    write_side(scaled(base, "6.19-rc1", "bbbb", 1.2));
    arguments_.paths = {directory_ / "6.18.0", directory_ / "6.19-rc1"};
    arguments_.introduced = "e837456fdca8";
  }
  ~BundleTest() override { std::filesystem::remove_all(directory_); }

  void write_side(MadeUpRun run) const {
    std::filesystem::create_directories(directory_ / run.label);
    for (run.first_boot = 0; run.first_boot < 4; ++run.first_boot) {
      std::ofstream(directory_ / run.label / (std::to_string(run.first_boot) + ".jsonl"))
          << made_up_run_file(run);
    }
  }

  /// Adds figures that do not compress to every trial of a run file.
  static void fatten(const std::filesystem::path& path) {
    RunFile file = read_run_file(path);
    RandomStream random(1, std::hash<std::string>()(path.string()));
    std::ofstream stream(path);
    stream << file.run.dump() << "\n";
    for (const nlohmann::json& boot : file.boots) stream << boot.dump() << "\n";
    for (RecordedTrial& trial : file.trials) {
      for (int i = 0; i < 40; ++i) trial.sample["series"].push_back(random.below(1'000'000'000));
      stream << to_json(trial).dump() << "\n";
    }
  }

  std::filesystem::path directory_;
  BundleArguments arguments_;
};

TEST_F(BundleTest, TheReportHasTheHeaderThatRegressionReportsNeed) {
  const std::string report = make_bundle(arguments_).at("report.txt");
  EXPECT_THAT(report, testing::StartsWith("Subject: [REGRESSION] 6.19-rc1 is slower than 6.18.0 "));
  EXPECT_THAT(report, HasSubstr("\n#regzbot introduced: e837456fdca8\n"));
  EXPECT_THAT(report, HasSubstr("6.19-rc1: Linux 6.19-rc1 #1 (build id bbbb)"));
  EXPECT_THAT(report, HasSubstr("64 CPUs, 1 LLC, no SMT"));
  EXPECT_THAT(report, HasSubstr("krepro run "));
  EXPECT_THAT(report, HasSubstr("% worse"));
}

TEST_F(BundleTest, NoHostNameIsInIt) {
  for (const auto& [name, content] : make_bundle(arguments_)) {
    EXPECT_THAT(content, Not(HasSubstr("secret-"))) << name;
  }
  arguments_.keep_identity = true;
  EXPECT_THAT(make_bundle(arguments_).at("run-01.jsonl"), HasSubstr("secret-host"));
}

TEST_F(BundleTest, BothFormsAreReadBack) {
  for (const bool text : {false, true}) {
    arguments_.text = text;
    arguments_.out = directory_ / (text ? "b.txt" : "b.tar.zst");
    testing::internal::CaptureStdout();
    EXPECT_EQ(bundle_command(arguments_), 0);
    testing::internal::GetCapturedStdout();
    const Bundle bundle = read_bundle(arguments_.out);
    EXPECT_EQ(bundle.runs.size(), 8u);
    EXPECT_THAT(bundle.report, HasSubstr("[REGRESSION]"));
    const Comparison comparison =
        compare_sides(make_sides({bundle_input(bundle, arguments_.out)}, "6.18.0"), {});
    EXPECT_EQ(comparison.rows[0].cells[0].test.verdict, Verdict::worse);
    EXPECT_THROW(bundle_command(arguments_), Error) << "an existing file is not overwritten";
  }
  EXPECT_LT(std::filesystem::file_size(directory_ / "b.txt"), largest_text_bundle_bytes);
}

TEST_F(BundleTest, ManyTrialsStillFitIntoAMailWithoutTheirHistograms) {
  MadeUpRun base;
  base.repetitions = 300;
  write_side(base);
  write_side(scaled(base, "6.19-rc1", "bbbb", 1.2));
  for (const std::filesystem::path& side : arguments_.paths) {
    // As much per trial as a generator with histograms says.
    for (const auto& entry : std::filesystem::directory_iterator(side)) fatten(entry.path());
  }
  arguments_.text = true;
  arguments_.out = directory_ / "b.txt";
  testing::internal::CaptureStdout();
  EXPECT_EQ(bundle_command(arguments_), 0);
  testing::internal::GetCapturedStdout();
  EXPECT_LT(std::filesystem::file_size(arguments_.out), largest_text_bundle_bytes);
  const Bundle bundle = read_bundle(arguments_.out);
  EXPECT_THAT(bundle.report, HasSubstr("are left out"));
  EXPECT_EQ(bundle.runs[0].trials.size(), 300u);
  EXPECT_TRUE(bundle.runs[0].trials[0].sample.contains("metrics"));
}

TEST_F(BundleTest, AReaderSeesTheReportersChangesBesideTheirOwn) {
  arguments_.out = directory_ / "b.tar.zst";
  testing::internal::CaptureStdout();
  bundle_command(arguments_);
  testing::internal::GetCapturedStdout();
  const Bundle bundle = read_bundle(arguments_.out);
  const PublishedTable reported =
      as_published_table(compare_sides(make_sides({bundle_input(bundle, "b")}, "6.18.0"), {}));
  ASSERT_EQ(reported.rows.size(), 1u);
  EXPECT_EQ(reported.rows[0].changes[0]->mark, PublishedMark::regression);
  const MadeUpRun mine;
  const std::vector<Side> sides{
      {"6.18.0", made_up_runs(mine, 4)},
      {"6.19-rc1", made_up_runs(scaled(mine, "6.19-rc1", "bbbb", 1.18), 4)}};
  Comparison comparison = compare_sides(sides, {});
  set_against(reported, {}, sides, comparison);
  EXPECT_EQ(comparison.against->rows[0].verdict, "reproduced");
}

TEST_F(BundleTest, WhatIsNoBundleIsRefused) {
  const std::filesystem::path path = directory_ / "x.txt";
  std::ofstream(path) << "hello";
  EXPECT_THROW(static_cast<void>(read_bundle(path)), Error);
  std::ofstream(path) << "-----BEGIN KREPRO BUNDLE-----\nZm9v";
  EXPECT_THROW(static_cast<void>(read_bundle(path)), Error);
}

}  // namespace
}  // namespace krepro
