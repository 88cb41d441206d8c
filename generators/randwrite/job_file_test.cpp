// fio's job files: sections, [global], what overrides what, and errors with their place.
#include "generators/randwrite/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generators/randwrite/settings.h"
#include "generators/randwrite/test_support.h"

namespace krepro::randwrite {
namespace {

using testing::HasSubstr;

std::vector<JobSection> parse(const std::string& text,
                              const std::vector<std::pair<std::string, std::string>>& given = {}) {
  return parse_job_file(text, "jobs.fio", options_of(given));
}

std::string error_in(const std::string& text) {
  return error_of([&text] { static_cast<void>(parse(text)); });
}

constexpr const char* two_jobs = R"(; a comment
[global]
rw = randwrite
bs=8k
direct=1
time_based
runtime=5

[writers]
numjobs=2
# another
fsync=64
[reader]
rw=randread
)";

TEST(JobFileTest, SectionsInheritWhatIsGlobal) {
  const std::vector<JobSection> sections = parse(two_jobs);
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].name, "writers");
  EXPECT_EQ(sections[0].options.text("rw"), "randwrite");
  EXPECT_EQ(sections[0].options.integer("bs"), 8192);
  EXPECT_EQ(sections[0].options.integer("numjobs"), 2);
  EXPECT_TRUE(sections[0].options.flag("time_based"));
  EXPECT_EQ(sections[1].options.text("rw"), "randread");
  EXPECT_EQ(sections[1].options.integer("numjobs"), 1);
  EXPECT_EQ(sections[1].options.integer("fsync"), 0);
}

TEST(JobFileTest, WhatIsGivenBesideTheFileOverridesIt) {
  const std::vector<JobSection> sections = parse(two_jobs, {{"runtime", "1"}, {"bs", "16k"}});
  for (const JobSection& section : sections) {
    EXPECT_EQ(section.options.integer("runtime"), 1'000'000'000);
    EXPECT_EQ(section.options.integer("bs"), 16384);
  }
}

TEST(JobFileTest, ErrorsNameTheLine) {
  EXPECT_THAT(error_in("[a]\nrw=read\nnumjbos=2\n"), HasSubstr("jobs.fio:3: unknown option"));
  EXPECT_THAT(error_in("[a]\nnumjbos=2\n"), HasSubstr("numjobs")) << "a suggestion";
  EXPECT_THAT(error_in("rw=read\n"), HasSubstr("jobs.fio:1:"));
  EXPECT_THAT(error_in("[a\n"), HasSubstr("jobs.fio:1:"));
  EXPECT_THAT(error_in("[a]\nbs=4x\n"), HasSubstr("jobs.fio:2: bs"));
  EXPECT_THAT(error_in("[a]\nbs\n"), HasSubstr("a value is missing"));
  EXPECT_THAT(error_in("[a]\nbssplit=4k/50\n"), HasSubstr("jobs.fio:2: bssplit"));
  EXPECT_THAT(error_in("[a]\nfilename=${DISK}\n"), HasSubstr("variables"));
  EXPECT_THAT(error_in("[global]\nbs=4k\n"), HasSubstr("no job"));
}

TEST(JobFileTest, AMissingFileIsNamed) {
  TestFrame frame;
  EXPECT_THAT(
      error_of([&frame] {
        static_cast<void>(resolve_settings(options_of({{"jobfile", "/no/such.fio"}}), frame));
      }),
      HasSubstr("/no/such.fio"));
}

TEST(JobFileTest, BecomesSettingsOfSeveralJobs) {
  const TemporaryDirectory directory;
  write_text(directory / "jobs.fio", two_jobs);
  TestFrame frame;
  const TrialSettings trial =
      resolve_settings(options_of({{"jobfile", directory / "jobs.fio"}}), frame);
  ASSERT_EQ(trial.jobs.size(), 2U);
  EXPECT_EQ(trial.jobs[0].name, "writers");
  EXPECT_TRUE(trial.jobs[0].writes);
  EXPECT_TRUE(trial.jobs[1].reads);
}

}  // namespace
}  // namespace krepro::randwrite
