// The order of a trial: check, lay out, settle, park the workers, run, collect.
#include "generators/randwrite/randwrite_generator.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "generators/randwrite/fio_lines.h"
#include "generators/randwrite/randwrite_options.h"
#include "generators/randwrite/randwrite_sample.h"

namespace krepro::randwrite {

namespace {

/// What an unseeded trial uses unless randrepeat=0: as fio, whose default order never changes.
constexpr std::uint64_t repeated_seed = 0x89;

CpuSet cpus_of(const JobPlan& plan, std::size_t worker) {
  const CpuSet& given = plan.job->cpus;
  if (given.empty()) return CpuSet::allowed();
  if (!plan.job->split_cpus) return given;
  return CpuSet({given.cpus()[worker % given.size()]});
}

/// Jobs' CPUs for the pool: nothing where no job has any.
std::vector<CpuSet> cpus_of_all(const std::vector<JobPlan>& plans) {
  std::vector<CpuSet> sets;
  if (std::all_of(plans.begin(), plans.end(),
                  [](const JobPlan& plan) { return plan.job->cpus.empty(); })) {
    return sets;
  }
  for (std::size_t i = 0; i < plans.size(); ++i) sets.push_back(cpus_of(plans[i], i));
  return sets;
}

void add_nice(int increment) {
  if (increment == 0) return;
  Scheduling scheduling = read_scheduling();
  scheduling.nice = std::clamp(scheduling.nice + increment, -20, 19);
  apply_scheduling(scheduling);
}

std::vector<DiskCounters> read_disks(const TargetSet& targets, const HostFiles& host) {
  std::vector<DiskCounters> disks;
  for (const TargetFacts* facts : targets.all()) {
    const auto counters = read_disk_counters(device_number(facts->device), host);
    const bool known = counters && std::any_of(disks.begin(), disks.end(), [&](const auto& disk) {
                         return disk.name == counters->name;
                       });
    if (counters && !known) disks.push_back(*counters);
  }
  return disks;
}

}  // namespace

RandwriteGenerator::RandwriteGenerator() : description_(make_description()) {}

void RandwriteGenerator::configure(const Options& options, Frame& frame) {
  trial_ = resolve_settings(options, frame);
  all_threads_ = frame.all_threads();
  if (!frame.seed_given() && trial_.jobs.front().repeat) frame.use_seed(repeated_seed);
  seed_ = frame.seed();
}

void RandwriteGenerator::prepare(Frame& frame) {
  const HostFiles& host = HostFiles::system();
  for (const JobSettings& job : trial_.jobs) {
    if (job.engine == Engine::io_uring) require_io_uring(job, host);
  }
  targets_ = std::make_unique<TargetSet>(trial_, host, frame);
  plans_ = make_plans(trial_, *targets_, seed_);
  std::vector<const TargetFacts*> conditioned;
  std::size_t index = 0;
  for (std::size_t j = 0; j < trial_.jobs.size(); ++j) {
    for (unsigned copy = 0; copy < trial_.jobs[j].count; ++copy, ++index) {
      const JobPlan& plan = plans_[index];
      if (std::find(conditioned.begin(), conditioned.end(), plan.target) != conditioned.end()) {
        continue;
      }
      conditioned.push_back(plan.target);
      targets_->of(j, copy).precondition(plan.job->precondition, plan.offsets.first_byte,
                                         plan.range_bytes, frame);
    }
  }
  settle(frame);
  make_workers(frame);
  watch_for_the_end();
  disks_before_ = read_disks(*targets_, host);
  dirty_before_ = read_dirty_pages(host);
}

void RandwriteGenerator::settle(Frame& frame) {
  for (const TargetFacts* facts : targets_->all()) {
    settled_ = drain_dirty_pages(facts->path, trial_.settle_ns, HostFiles::system(), frame);
    if (settled_) continue;
    const DirtyPages pages = read_dirty_pages(HostFiles::system());
    frame.note(
        fmt::format("{} of dirty pages are left after {}: something else writes on this machine",
                    format_bytes(static_cast<double>(pages.dirty_bytes + pages.writeback_bytes)),
                    format_duration(static_cast<double>(trial_.settle_ns))));
    return;
  }
}

void RandwriteGenerator::make_workers(Frame& frame) {
  results_ = std::make_unique<SharedArray<JobResult>>(plans_.size());
  runners_.resize(plans_.size());
  WorkerPlan plan;
  plan.kind = trial_.jobs.front().threads ? WorkerKind::threads : WorkerKind::processes;
  plan.count = plans_.size();
  plan.role = "job";
  plan.cpus = cpus_of_all(plans_);
  pool_ = std::make_unique<WorkerPool>(
      std::move(plan),
      [this](std::size_t index) {
        add_nice(plans_[index].job->nice);
        runners_[index] = make_runner(plans_[index], (*results_)[index]);
      },
      [this](const WorkerContext& context) { runners_[context.index]->run(context); });
  pool_->park(frame);
}

void RandwriteGenerator::watch_for_the_end() {
  done_ = Descriptor(epoll_create1(EPOLL_CLOEXEC));
  timer_ = Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  if (!done_.valid() || !timer_.valid()) throw system_error("epoll, timerfd", errno);
  for (const int fd : {pool_->done_fd(), timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(done_.get(), EPOLL_CTL_ADD, fd, &event) != 0) throw system_error("epoll", errno);
  }
}

void RandwriteGenerator::start() {
  start_ns_ = now_ns();
  std::int64_t longest_ns = 0;
  bool limited = trial_.hang_timeout_ns > 0;
  for (const JobSettings& job : trial_.jobs) {
    limited = limited && job.runtime_ns > 0;
    longest_ns = std::max(longest_ns, job.start_delay_ns + job.ramp_ns + job.runtime_ns);
  }
  if (limited) {
    const std::int64_t late_ns = longest_ns + trial_.hang_timeout_ns;
    itimerspec when{};
    when.it_value.tv_sec = late_ns / one_second_ns;
    when.it_value.tv_nsec = late_ns % one_second_ns;
    timerfd_settime(timer_.get(), 0, &when, nullptr);
  }
  pool_->start(start_ns_);
}

void RandwriteGenerator::stop() { pool_->request_stop(); }

Progress RandwriteGenerator::progress() {
  Progress progress;
  for (const JobResult& result : *results_) {
    progress.operations += result.progress.load(std::memory_order_relaxed);
  }
  const double seconds = static_cast<double>(now_ns() - start_ns_) / 1e9;
  progress.text =
      fmt::format("{} IOPS", format_count(static_cast<double>(progress.operations) / seconds));
  return progress;
}

int RandwriteGenerator::watch_interval_ms() const { return 10; }

void RandwriteGenerator::watch() {
  if (trial_.jobs.front().threads) return;
  for (const WorkerPool::Unfinished& worker : pool_->unfinished()) {
    // Leaves the process as it is: the pool reaps it.
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(worker.tid), &info, WEXITED | WNOHANG | WNOWAIT);
  }
}

std::string RandwriteGenerator::describe_stuck() const {
  epoll_event ready[2];
  const int count = epoll_wait(done_.get(), ready, 2, 0);
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.fd == pool_->done_fd()) return {};
  }
  std::string text;
  for (const WorkerPool::Unfinished& worker : pool_->unfinished()) {
    const std::string folder = fmt::format("/proc/{}", worker.tid);
    const std::string status = HostFiles::system().read(folder + "/stat").value_or("");
    const std::size_t end_of_name = status.rfind(')');
    const char state = end_of_name != std::string::npos && end_of_name + 2 < status.size()
                           ? status[end_of_name + 2]
                           : '?';
    text += fmt::format("{}job {} (process {}, state {}, in {})", text.empty() ? "" : ", ",
                        worker.index, worker.tid, state,
                        HostFiles::system().read_line(folder + "/wchan").value_or("?"));
  }
  return fmt::format("stuck {} beyond the runtime: {}",
                     format_duration(static_cast<double>(trial_.hang_timeout_ns)), text);
}

void RandwriteGenerator::note_rates(Sample& sample) const {
  double asked = 0;
  for (const JobPlan& plan : plans_) {
    if (!plan.job->paced()) return;
    // A mixed job has a schedule for each direction, and the mix decides how much of them is used.
    if (plan.job->mixed()) return;
    asked += plan.job->rate_per_second[0] + plan.job->rate_per_second[1];
  }
  const double achieved = static_cast<double>(sample.operations) * 1e9 /
                          static_cast<double>(std::max<std::int64_t>(1, sample.duration_ns));
  sample.asked["rate"] = asked;
  sample.achieved["rate"] = achieved;
  // Poisson arrivals differ from their mean by the square root of their number.
  const double expected = asked * static_cast<double>(sample.duration_ns) / 1e9;
  const double tolerance = std::max(0.02, 3 / std::sqrt(std::max(1.0, expected)));
  const bool met = achieved >= asked * (1 - tolerance);
  sample.achieved["rate_met"] = met;
  if (!met) {
    sample.notes.push_back(fmt::format("the rate was not met: {} of {} operations/s",
                                       format_count(achieved), format_count(asked)));
  }
}

Sample RandwriteGenerator::finish() {
  const HostFiles& host = HostFiles::system();
  Sample sample;
  sample.error = describe_stuck();
  if (sample.error.empty()) {
    sample.error = pool_->join();
  } else {
    sample.errors["stuck"] = pool_->unfinished().size();
  }
  fill_sample(sample, plans_, *results_);
  const std::vector<DiskCounters> disks_after = read_disks(*targets_, host);
  for (const DiskCounters& after : disks_after) {
    for (const DiskCounters& before : disks_before_) {
      if (after.name == before.name) disks_.push_back(difference(after, before));
    }
  }
  const DirtyPages dirty = read_dirty_pages(host);
  sample.extra["disks"] = disks_;
  sample.extra["dirty_pages"] = {{"before_bytes", dirty_before_.dirty_bytes},
                                 {"before_writeback_bytes", dirty_before_.writeback_bytes},
                                 {"after_bytes", dirty.dirty_bytes},
                                 {"after_writeback_bytes", dirty.writeback_bytes},
                                 {"settled_before", settled_}};
  for (const TargetFacts* facts : targets_->all()) {
    nlohmann::json told = facts->told;
    told["path"] = facts->path;
    sample.extra["targets"].push_back(std::move(told));
  }
  sample.threads = pool_->groups();
  std::uint64_t counted = 0;
  for (const ThreadGroup& group : sample.threads) counted += group.count;
  sample.asked["jobs"] = plans_.size();
  sample.achieved["jobs"] = counted;
  const JobSettings& first = trial_.jobs.front();
  if (first.runtime_ns > 0) {
    sample.asked["runtime_ns"] = first.runtime_ns;
    sample.achieved["runtime_ns"] = sample.duration_ns;
    if (!first.time_based && sample.error.empty() && sample.duration_ns < first.runtime_ns) {
      sample.notes.push_back(
          fmt::format("ended after {} of {}: the range was done once; time_based goes on",
                      format_duration(static_cast<double>(sample.duration_ns)),
                      format_duration(static_cast<double>(first.runtime_ns))));
    }
  }
  note_rates(sample);
  if (all_threads_) sample.extra["all_threads"] = pool_->all_threads();
  return sample;
}

std::string RandwriteGenerator::human_result(const Sample& sample) const {
  if (!sample.valid() || !results_) return Generator::human_result(sample);
  std::string out;
  JobReport all;
  std::vector<JobReport> reports;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const JobPlan& plan = plans_[i];
    const bool joins = plan.job->group_reporting && plan.copy > 0;
    if (joins) {
      ++reports.back().jobs;
    } else {
      reports.emplace_back();
      reports.back().name = plan.job->name;
    }
    reports.back().add((*results_)[i]);
    all.add((*results_)[i]);
  }
  for (const JobReport& report : reports) out += job_lines(report);
  out += status_lines(all);
  out += disk_lines(disks_, sample.duration_ns);
  for (const std::string& note : sample.notes) out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace krepro::randwrite
