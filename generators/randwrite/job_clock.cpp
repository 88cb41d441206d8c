// The moments of a job: start, end of the ramp, seconds, end.
#include "generators/randwrite/job_clock.h"

#include <algorithm>
#include <limits>

#include "common/base/units.h"
#include "common/timing/clock.h"

namespace krepro::randwrite {

namespace {

/// A stop is seen at the latest after this time.
constexpr std::int64_t longest_sleep_ns = 500'000'000;
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

}  // namespace

JobClock::JobClock(const JobSettings& job, JobResult& result, const std::atomic<bool>* stop)
    : job_(&job), result_(&result), stop_(stop) {}

std::int64_t JobClock::begin(std::int64_t trial_start_ns) {
  end_ns_ = never_ns;
  if (job_->start_delay_ns > 0) {
    static_cast<void>(sleep_until(trial_start_ns + job_->start_delay_ns));
  }
  const std::int64_t now = now_ns();
  ramping_ = job_->ramp_ns > 0;
  ramp_end_ns_ = now + job_->ramp_ns;
  if (job_->runtime_ns > 0) end_ns_ = ramp_end_ns_ + job_->runtime_ns;
  result_->start_ns = now;
  second_ = result_->series.data();
  second_end_ns_ = now + one_second_ns;
  usage_at_start_ = ThreadUsage::now();
  set_next_event();
  return now;
}

void JobClock::set_next_event() {
  event_ns_ = std::min(second_end_ns_, end_ns_);
  if (ramping_) event_ns_ = std::min(event_ns_, ramp_end_ns_);
}

bool JobClock::handle_event(std::int64_t now_ns) {
  if (ramping_ && now_ns >= ramp_end_ns_) {
    ramping_ = false;
    ramp_operations_ += result_->operations();
    result_->clear_figures();
    result_->start_ns = now_ns;
    usage_at_start_ = ThreadUsage::now();
    second_index_ = 0;
    second_end_ns_ = now_ns + one_second_ns;
    // The runtime begins where the ramp really ended.
    if (job_->runtime_ns > 0) end_ns_ = now_ns + job_->runtime_ns;
  }
  if (now_ns >= second_end_ns_) {
    const auto seconds = static_cast<std::size_t>((now_ns - second_end_ns_) / one_second_ns) + 1;
    second_index_ = std::min(second_index_ + seconds, JobResult::series_seconds - 1);
    second_end_ns_ += static_cast<std::int64_t>(seconds) * one_second_ns;
  }
  second_ = &result_->series[second_index_];
  result_->progress.store(ramp_operations_ + result_->operations(), std::memory_order_relaxed);
  set_next_event();
  return now_ns < end_ns_;
}

void JobClock::finish(std::int64_t now_ns) {
  result_->end_ns = now_ns;
  result_->usage = ThreadUsage::now();
  result_->usage -= usage_at_start_;
  result_->progress.store(ramp_operations_ + result_->operations(), std::memory_order_relaxed);
}

bool JobClock::sleep_until(std::int64_t deadline_ns) {
  const std::int64_t last_ns = std::min(deadline_ns, end_ns_);
  for (std::int64_t now = now_ns(); now < last_ns; now = now_ns()) {
    if (stopped()) return false;
    sleep_until_ns(std::min(last_ns, now + longest_sleep_ns));
  }
  return !stopped() && deadline_ns < end_ns_;
}

JobPace::JobPace(const JobSettings& job, std::uint64_t seed, std::uint64_t stream, double phase)
    : mixed_(job.mixed()) {
  const Arrivals arrivals = job.poisson ? Arrivals::poisson : Arrivals::constant;
  for (std::size_t i = 0; i < 2; ++i) {
    if (job.rate_per_second[i] > 0) {
      pacers_[i].emplace(arrivals, job.rate_per_second[i], seed, stream + i,
                         job.poisson ? 0 : phase);
    }
  }
}

void JobPace::start(std::int64_t start_ns) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!pacers_[i]) continue;
    pacers_[i]->start(start_ns);
    due_ns_[i] = pacers_[i]->next_ns();
  }
}

std::int64_t JobPace::due(Direction& direction, std::int64_t now_ns) const {
  const auto chosen = static_cast<std::size_t>(direction);
  const std::size_t other = 1 - chosen;
  if (mixed_ && due_ns_[chosen] > now_ns && due_ns_[other] < due_ns_[chosen]) {
    direction = static_cast<Direction>(other);
  }
  return due_ns_[static_cast<std::size_t>(direction)];
}

void JobPace::advance(Direction direction) {
  std::optional<Pacer>& pacer = pacers_[static_cast<std::size_t>(direction)];
  due_ns_[static_cast<std::size_t>(direction)] = pacer->next_ns();
}

}  // namespace krepro::randwrite
