// The loops of the null generator, in virtual and in real time.
#include "generators/null/null_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/timing/clock.h"
#include "common/timing/pacer.h"
#include "generators/null/null_options.h"

namespace krepro::null {

namespace {

void spin_until(std::int64_t deadline_ns) {
  while (now_ns() < deadline_ns) {
  }
}

}  // namespace

NullGenerator::NullGenerator() : description_(make_description()) {}

void NullGenerator::Result::count(std::int64_t end_after_ns) {
  const auto second =
      static_cast<std::size_t>(std::max<std::int64_t>(0, end_after_ns) / one_second_ns);
  ++per_second[std::min(second, series_seconds - 1)];
}

void NullGenerator::configure(const Options& options, Frame& frame) {
  options_ = options;
  seed_ = frame.seed();
  all_threads_ = frame.all_threads();
  virtual_time_ = options.text("time") == "virtual";
  if ((options.text("arrivals") != "closed") != options.has("rate")) {
    throw usage_error("rate and arrivals=constant or poisson go together");
  }
  if (virtual_time_ && options.integer("latency") == 0) {
    throw usage_error("latency: virtual time needs one above 0");
  }
  if (virtual_time_ && options.has("rate")) throw usage_error("rate: only in real time");
  model_.emplace(options, seed_);
  faults_ = Faults(options, seed_);
  if (faults_.has("not-possible")) {
    throw not_possible("made-up fault: not possible here", "ask for no fault");
  }
}

void NullGenerator::prepare(Frame& frame) {
  faults_.ignore_signals();
  faults_.hang_if("hang-setup");
  faults_.print_garbage();
  const auto workers = static_cast<std::size_t>(options_->integer("workers"));
  results_ = std::make_unique<SharedArray<Result>>(workers);
  WorkerPlan plan;
  plan.count = workers;
  plan.kind = options_->flag("process") ? WorkerKind::processes : WorkerKind::threads;
  pool_ =
      std::make_unique<WorkerPool>(std::move(plan), nullptr, [this](const WorkerContext& context) {
        faults_.hang_if("hang-run");
        virtual_time_ ? run_virtual(context) : run_real(context);
      });
  pool_->park(frame);
}

void NullGenerator::start() {
  if (faults_.has("crash")) std::abort();
  if (faults_.has("exit")) std::_Exit(1);
  start_ns_ = now_ns();
  pool_->start(start_ns_);
}

void NullGenerator::run_virtual(const WorkerContext& context) {
  Result& result = (*results_)[context.index];
  RandomStream random(seed_, context.index);
  const std::int64_t runtime_ns = options_->integer("runtime");
  const auto limit = static_cast<std::uint64_t>(options_->integer("operations"));
  std::int64_t clock_ns = 0;
  std::uint64_t operations = 0;
  while ((limit == 0 || operations < limit) && !context.stopped()) {
    const std::int64_t latency_ns = std::max<std::int64_t>(1, model_->draw_ns(random));
    if (limit == 0 && clock_ns + latency_ns > runtime_ns) break;
    clock_ns += latency_ns;
    result.latency.record(latency_ns);
    result.count(clock_ns);
    ++operations;
  }
  result.operations.store(operations);
  result.end_ns = clock_ns;
}

void NullGenerator::run_real(const WorkerContext& context) {
  Result& result = (*results_)[context.index];
  RandomStream random(seed_, context.index);
  const double workers = static_cast<double>(options_->integer("workers"));
  const std::string& arrivals = options_->text("arrivals");
  Pacer pacer;
  if (arrivals != "closed") {
    pacer = Pacer(arrivals == "poisson" ? Arrivals::poisson : Arrivals::constant,
                  options_->number("rate") / workers, seed_, context.index,
                  static_cast<double>(context.index) / workers);
  }
  pacer.start(context.start_ns);
  const bool sleeps = options_->text("wait") == "sleep";
  const bool empty = options_->integer("latency") == 0;
  const auto limit = static_cast<std::uint64_t>(options_->integer("operations"));
  const std::int64_t end_ns = context.start_ns + options_->integer("runtime");
  std::uint64_t operations = 0;
  // The end of one operation is the start of the next: one clock reading per operation.
  std::int64_t at_ns = now_ns();
  while (at_ns < end_ns && (limit == 0 || operations < limit) && !context.stopped()) {
    std::int64_t from_ns = at_ns;
    if (!pacer.closed()) {
      from_ns = pacer.next_ns();
      if (from_ns >= end_ns) break;
      sleep_until_ns(from_ns);
      at_ns = std::max(at_ns, from_ns);
    }
    if (!empty) {
      const std::int64_t until_ns = at_ns + model_->draw_ns(random);
      sleeps ? static_cast<void>(sleep_until_ns(until_ns)) : spin_until(until_ns);
    }
    at_ns = now_ns();
    result.latency.record(at_ns - from_ns);
    result.count(at_ns - context.start_ns);
    result.operations.store(++operations, std::memory_order_relaxed);
  }
  result.end_ns = at_ns - context.start_ns;
}

Progress NullGenerator::progress() {
  Progress progress;
  for (const Result& result : *results_) {
    progress.operations += result.operations.load(std::memory_order_relaxed);
  }
  const double seconds = static_cast<double>(now_ns() - start_ns_) / 1e9;
  progress.text = fmt::format("{} operations/s",
                              format_count(static_cast<double>(progress.operations) / seconds));
  return progress;
}

void NullGenerator::stop() {
  faults_.hang_if("hang-stop");
  pool_->request_stop();
}

void NullGenerator::add_metrics(Sample& sample) const {
  const double duration_ns = static_cast<double>(std::max<std::int64_t>(1, sample.duration_ns));
  const double operations = static_cast<double>(sample.operations);
  sample.metrics["operations/s"] = {operations * 1e9 / duration_ns, "1/s", true, true};
  const double workers = static_cast<double>(results_->size());
  if (!virtual_time_ && options_->text("arrivals") == "closed" && sample.operations > 0) {
    sample.metrics["frame"] = {duration_ns * workers / operations - model_->trial_mean_ns(), "ns",
                               false, false};
  }
  if (options_->has("rate")) {
    sample.asked["rate"] = options_->number("rate");
    sample.achieved["rate"] = operations * 1e9 / duration_ns;
  }
}

std::uint64_t NullGenerator::sequence_digest() const {
  RandomStream random(seed_, 0);
  std::uint64_t digest = 0;
  for (int i = 0; i < 1000; ++i) {
    digest = digest * 1099511628211ULL + static_cast<std::uint64_t>(model_->draw_ns(random));
  }
  return digest;
}

Sample NullGenerator::finish() {
  Sample sample;
  sample.error = pool_->join();
  Histogram& latency = sample.latency["operation"];
  for (const Result& result : *results_) {
    latency.merge(result.latency);
    sample.operations += result.operations.load();
    sample.duration_ns = std::max(sample.duration_ns, result.end_ns);
  }
  const auto seconds = static_cast<std::size_t>(sample.duration_ns / one_second_ns) + 1;
  sample.series.assign(std::min(seconds, series_seconds), 0);
  for (const Result& result : *results_) {
    for (std::size_t i = 0; i < sample.series.size(); ++i) sample.series[i] += result.per_second[i];
  }
  add_metrics(sample);
  sample.threads = pool_->groups();
  std::uint64_t counted = 0;
  for (const ThreadGroup& group : sample.threads) counted += group.count;
  sample.asked["workers"] = options_->integer("workers");
  sample.achieved["workers"] = counted;
  sample.extra["sequence"] = sequence_digest();
  if (virtual_time_) sample.extra["virtual_time"] = true;
  if (all_threads_) sample.extra["all_threads"] = pool_->all_threads();
  faults_.falsify(sample);
  return sample;
}

}  // namespace krepro::null
