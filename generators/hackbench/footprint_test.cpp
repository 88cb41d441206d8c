// What a worker maps and has resident, which its end has to undo while the clock runs: within 20 %
// of the installed original's, both stopped in the middle of their load.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

#include "common/base/host_files.h"
#include "common/process/child.h"
#include "common/process/program.h"
#include "common/timing/clock.h"
#include "generators/hackbench/test_support/running_hackbench.h"

namespace krepro::hackbench {
namespace {

constexpr std::size_t workers_of_a_group = 40;

struct Footprint {
  double parent_mappings = 0;
  double parent_resident_kib = 0;
  double worker_mappings = 0;  ///< Median over the workers, as the next one.
  double worker_resident_kib = 0;
};

double mappings_of(pid_t pid) {
  const std::string maps = HostFiles().read("/proc/" + std::to_string(pid) + "/maps").value_or("");
  return static_cast<double>(std::count(maps.begin(), maps.end(), '\n'));
}

double resident_kib_of(pid_t pid) {
  std::istringstream text(HostFiles().read("/proc/" + std::to_string(pid) + "/smaps").value_or(""));
  double sum = 0;
  std::string word;
  while (text >> word) {
    double kib = 0;
    if (word == "Rss:" && text >> kib) {
      sum += kib;
    }
  }
  return sum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Footprint footprint_of(pid_t parent) {
  std::vector<double> mappings;
  std::vector<double> resident;
  for (const pid_t worker : children_of(parent, HostFiles("/"))) {
    mappings.push_back(mappings_of(worker));
    resident.push_back(resident_kib_of(worker));
  }
  return {mappings_of(parent), resident_kib_of(parent), median(mappings), median(resident)};
}

Footprint ours() {
  RunningHackbench hackbench({{"groups", 1}, {"loops", 100'000'000}, {"pipe", true}});
  hackbench.go();
  usleep(200'000);
  kill(-hackbench.load_pid(), SIGSTOP);
  return footprint_of(hackbench.load_pid());
}

Footprint original() {
  SpawnRequest request;
  request.argv = {"hackbench", "-p", "-g", "1", "-l", "100000000"};
  Child child = Child::spawn(request);
  const std::int64_t deadline_ns = now_ns() + 30'000'000'000;
  while (children_of(child.pid(), HostFiles("/")).size() < workers_of_a_group &&
         now_ns() < deadline_ns) {
    usleep(10'000);
  }
  usleep(200'000);
  child.signal(SIGSTOP);
  const Footprint result = footprint_of(child.pid());
  child.close_and_kill();
  return result;
}

/// The smallest of a few runs: where address randomisation puts libc decides how many of its pages
/// the kernel maps ahead, 64 KiB more or less.
Footprint smallest(Footprint (*measure)()) {
  Footprint result = measure();
  for (int run = 1; run < 4; ++run) {
    const Footprint next = measure();
    result.parent_mappings = std::min(result.parent_mappings, next.parent_mappings);
    result.parent_resident_kib = std::min(result.parent_resident_kib, next.parent_resident_kib);
    result.worker_mappings = std::min(result.worker_mappings, next.worker_mappings);
    result.worker_resident_kib = std::min(result.worker_resident_kib, next.worker_resident_kib);
  }
  return result;
}

void expect_within_a_fifth(const char* what, double our_value, double original_value) {
  std::printf("  %-28s ours %6.0f   original %6.0f\n", what, our_value, original_value);
  EXPECT_GE(our_value, 0.8 * original_value) << what;
  EXPECT_LE(our_value, 1.2 * original_value) << what;
}

TEST(Footprint, IsThatOfTheOriginal) {
  if (!find_program("hackbench")) {
    GTEST_SKIP() << "needs rt-tests";
  }
  const Footprint our = smallest(ours);
  const Footprint their = smallest(original);
  expect_within_a_fifth("mappings of the parent", our.parent_mappings, their.parent_mappings);
  expect_within_a_fifth("mappings of a worker", our.worker_mappings, their.worker_mappings);
  expect_within_a_fifth("resident KiB of the parent", our.parent_resident_kib,
                        their.parent_resident_kib);
  expect_within_a_fifth("resident KiB of a worker", our.worker_resident_kib,
                        their.worker_resident_kib);
}

TEST(Footprint, IsSmallWhereTheOriginalIsNotThereToCompareWith) {
  // The original on Debian 12, x86-64: 28 mappings, 312 KiB in a worker, 1.7 MiB in the parent,
  // much of which are pages of libc that the kernel maps ahead.
  const Footprint our = ours();
  EXPECT_LE(our.worker_mappings, 34);
  EXPECT_LE(our.worker_resident_kib, 640);
  EXPECT_LE(our.parent_resident_kib, 4096);
}

}  // namespace
}  // namespace krepro::hackbench
