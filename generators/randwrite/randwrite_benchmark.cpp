// How near the psync engine comes to its floor: the same writes in the same order on a file in
// memory, once by a bare loop of pwrite and one clock reading at precomputed offsets, once by a job
// with its random map, changing buffer, histogram and series; in turn, so that drift hits both
// alike.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/process/descriptor.h"
#include "common/timing/clock.h"
#include "generators/randwrite/job_runner.h"

namespace krepro::randwrite {
namespace {

constexpr std::uint64_t block_bytes = 4096;
constexpr std::uint64_t blocks = 16384;

/// A file of 64 MiB on tmpfs, written once, and what a job needs to know of it.
class MemoryFile {
 public:
  MemoryFile() {
    std::string name = "/dev/shm/krepro-randwrite-XXXXXX";
    fd_ = Descriptor(mkstemp(name.data()));
    facts_.path = name;
    struct stat status {};
    if (!fd_.valid() || fstat(fd_.get(), &status) != 0) return;
    facts_.device = status.st_dev;
    facts_.inode = status.st_ino;
    facts_.size_bytes = blocks * block_bytes;
    const std::vector<char> block(block_bytes, 'x');
    for (std::uint64_t i = 0; i < blocks; ++i) {
      usable_ = pwrite(fd_.get(), block.data(), block_bytes, static_cast<off_t>(i * block_bytes)) ==
                block_bytes;
      if (!usable_) return;
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { unlink(facts_.path.c_str()); }
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const TargetFacts& facts() const { return facts_; }

 private:
  Descriptor fd_;
  TargetFacts facts_;
  bool usable_ = false;
};

JobPlan plan_on(const MemoryFile& file, const JobSettings& job, std::uint64_t seed) {
  JobPlan plan;
  plan.job = &job;
  plan.target = &file.facts();
  plan.offsets.random = true;
  plan.offsets.blocks = blocks;
  plan.operations = blocks;
  plan.range_bytes = blocks * block_bytes;
  plan.seed = seed;
  return plan;
}

/// Nanoseconds of one pass by the bare loop.
std::int64_t bare_pass_ns(const MemoryFile& file, const std::vector<off_t>& offsets) {
  static const std::vector<char> block(block_bytes, 'y');
  const std::int64_t begin_ns = now_ns();
  std::int64_t last_ns = begin_ns;
  for (const off_t offset : offsets) {
    benchmark::DoNotOptimize(pwrite(file.fd(), block.data(), block_bytes, offset));
    last_ns = now_ns();
  }
  return last_ns - begin_ns;
}

std::int64_t job_pass_ns(const JobPlan& plan, JobResult& result) {
  const std::atomic<bool> stop{false};
  const std::unique_ptr<JobRunner> runner = make_sync_runner(plan, result);
  runner->run(WorkerContext{0, now_ns(), &stop});
  return result.duration_ns();
}

void psync_against_its_floor(benchmark::State& state) {
  const MemoryFile file;
  if (!file.usable()) {
    state.SkipWithError("no memory for a file of 64 MiB in /dev/shm");
    return;
  }
  JobSettings job;
  job.reads = false;
  job.writes = true;
  job.random = true;
  job.read_percent = 0;
  const auto result = std::make_unique<JobResult>();
  std::vector<double> shares;
  double bare_ns = 0;
  double job_ns = 0;
  std::uint64_t seed = 1;
  for (auto _ : state) {
    const JobPlan plan = plan_on(file, job, ++seed);
    Offsets order(plan.offsets, seed, offset_stream);
    std::vector<off_t> offsets;
    for (std::uint64_t offset = 0; order.next(Direction::write, offset);) {
      offsets.push_back(static_cast<off_t>(offset));
    }
    const bool bare_first = seed % 2 == 0;
    std::int64_t bare = bare_first ? bare_pass_ns(file, offsets) : 0;
    result->clear_figures();
    const std::int64_t ours = job_pass_ns(plan, *result);
    if (!bare_first) bare = bare_pass_ns(file, offsets);
    bare_ns += static_cast<double>(bare);
    job_ns += static_cast<double>(ours);
    shares.push_back(static_cast<double>(bare) / static_cast<double>(ours));
    state.SetIterationTime(static_cast<double>(ours) / 1e9);
  }
  const double operations = static_cast<double>(shares.size()) * static_cast<double>(blocks);
  std::nth_element(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2),
                   shares.end());
  state.counters["bare_ns"] = bare_ns / operations;
  state.counters["job_ns"] = job_ns / operations;
  state.counters["share_of_floor"] = shares[shares.size() / 2];  // of the IOPS; at least 0.88
}
BENCHMARK(psync_against_its_floor)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace krepro::randwrite
