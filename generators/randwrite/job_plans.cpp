// Names of files, ranges of jobs, and the checks of one against the other.
#include "generators/randwrite/job_plans.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro::randwrite {

namespace {

/// fio's "\:" stands for a colon in a file name. An unescaped one is taken as it is: it separates
/// nothing here.
std::string unescaped(const std::string& name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size() && name[i + 1] == ':') continue;
    result.push_back(name[i]);
  }
  return result;
}

/// The path of a copy's file. A name that is chosen here is fio's, NAME.COPY.0, and the process's
/// number, so that trials at the same time do not share it; files that are kept have fio's alone,
/// so that the next trial finds them.
std::string path_of(const JobSettings& job, unsigned copy) {
  std::string name = unescaped(job.filename);
  if (name.empty()) {
    name = fmt::format("{}.{}.0", job.name, copy);
    if (!job.keep_files) name += fmt::format(".{}", getpid());
  }
  std::replace(name.begin(), name.end(), '\0', '_');
  if (job.directory.empty()) return job.filename.empty() ? "./" + name : name;
  struct stat status {};
  if (stat(job.directory.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    throw usage_error(fmt::format("directory={}: there is no such directory", job.directory));
  }
  return std::filesystem::path(job.directory) / name;
}

void add_wishes(TargetRequest& request, const JobSettings& job) {
  if (request.job == nullptr) request.job = &job;
  request.writes = request.writes || job.writes || job.precondition != Precondition::none;
  request.reads = request.reads || job.reads;
  request.direct = request.direct || job.direct;
  const bool in_bytes = job.size.given && job.size.percent == 0 && job.offset.percent == 0;
  if (in_bytes) {
    request.end_bytes = std::max(request.end_bytes, job.offset.bytes + job.size.bytes);
  } else {
    request.whole = true;
  }
}

void check_alignment(const JobSettings& job, const TargetFacts& target, std::uint64_t offset) {
  if (!job.direct) return;
  const std::uint64_t unit = target.direct_alignment;
  if (job.block_bytes % unit == 0 && offset % unit == 0) return;
  throw usage_error(
      fmt::format("bs={}, offset={}: with direct they must be multiples of the {} "
                  "bytes that {} works in",
                  job.block_bytes, offset, unit, target.path));
}

JobPlan plan_of(const JobSettings& job, const TargetFacts& target) {
  const std::uint64_t offset = job.offset.of(target.size_bytes);
  const std::uint64_t rest = target.size_bytes - std::min(offset, target.size_bytes);
  const std::uint64_t range =
      std::min(job.size.given ? job.size.of(target.size_bytes) : rest, rest);
  if (range < job.block_bytes) {
    throw usage_error(fmt::format(
        "{}: the range of {} from {} on, in {}, has no room for one block of {}", job.name,
        format_bytes(static_cast<double>(range)), format_bytes(static_cast<double>(offset)),
        target.path, format_bytes(static_cast<double>(job.block_bytes))));
  }
  check_alignment(job, target, offset);
  JobPlan plan;
  plan.job = &job;
  plan.target = &target;
  plan.range_bytes = range;
  plan.offsets = {.random = job.random,
                  .random_map = job.random_map,
                  .distribution = job.distribution,
                  .skew = job.skew,
                  .first_byte = offset,
                  .block_bytes = job.block_bytes,
                  .blocks = range / job.block_bytes};
  if (!job.time_based) {
    const std::uint64_t amount =
        job.io_size.given ? std::max(job.io_size.of(range), job.block_bytes) : 0;
    plan.operations = amount != 0 ? (amount + job.block_bytes - 1) / job.block_bytes
                                  : plan.offsets.blocks * job.loops;
  }
  return plan;
}

}  // namespace

TargetSet::TargetSet(const TrialSettings& trial, const HostFiles& host, Frame& frame) {
  std::map<std::string, TargetRequest> requests;
  for (std::size_t j = 0; j < trial.jobs.size(); ++j) {
    const JobSettings& job = trial.jobs[j];
    if (job.filename.empty()) {
      remove_left_behind(job.directory.empty() ? "." : job.directory, job.name, frame);
    }
    for (unsigned copy = 0; copy < trial.jobs[j].count; ++copy) {
      const std::string path = path_of(trial.jobs[j], copy);
      paths_[{j, copy}] = path;
      TargetRequest& request = requests[path];
      request.path = path;
      add_wishes(request, trial.jobs[j]);
    }
  }
  for (const auto& [path, request] : requests) {
    frame.check_interrupted();
    targets_[path] = open_target(request, trial, host, frame);
  }
}

Target& TargetSet::of(std::size_t job, unsigned copy) {
  return *targets_.at(paths_.at({job, copy}));
}

std::vector<const TargetFacts*> TargetSet::all() const {
  std::vector<const TargetFacts*> facts;
  for (const auto& [path, target] : targets_) facts.push_back(&target->facts());
  return facts;
}

std::vector<JobPlan> make_plans(const TrialSettings& trial, TargetSet& targets,
                                std::uint64_t seed) {
  std::vector<JobPlan> plans;
  for (std::size_t j = 0; j < trial.jobs.size(); ++j) {
    for (unsigned copy = 0; copy < trial.jobs[j].count; ++copy) {
      JobPlan plan = plan_of(trial.jobs[j], targets.of(j, copy).facts());
      plan.seed = seed;
      plan.stream = plans.size() * streams_per_job;
      plan.copy = copy;
      plans.push_back(plan);
    }
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].phase = static_cast<double>(i) / static_cast<double>(plans.size());
  }
  return plans;
}

}  // namespace krepro::randwrite
