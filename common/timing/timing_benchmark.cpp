// What the frame's own timing costs per operation, in a closed loop with one clock reading per
// operation, and what each part costs alone. Not a test: the figures are for the reader, except
// that "recorder_ns" is held against 5 ns by whoever changes Histogram::record.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/random.h"
#include "common/timing/clock.h"
#include "common/timing/histogram.h"
#include "common/timing/pacer.h"
#include "common/timing/series.h"

namespace krepro {
namespace {

void clock_reading(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(now_ns());
}
BENCHMARK(clock_reading);

void clock_cost(benchmark::State& state) {
  double cost_ns = 0;
  for (auto _ : state) cost_ns = clock_cost_ns();
  state.counters["cost_ns"] = cost_ns;
}
BENCHMARK(clock_cost)->Unit(benchmark::kMicrosecond);

/// Latencies around 20 us, log-normal, so that the branches and buckets are those of a real run.
std::vector<std::int64_t> latencies_ns() {
  RandomStream random(1);
  std::vector<std::int64_t> values(4096);
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(20'000 * std::exp(0.5 * random.normal()));
  }
  return values;
}

void histogram_record(benchmark::State& state) {
  const std::vector<std::int64_t> values = latencies_ns();
  const auto histogram = std::make_unique<Histogram>();
  std::size_t i = 0;
  for (auto _ : state) {
    histogram->record(values[i++ % values.size()]);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(histogram_record);

constexpr int operations = 4096;

/// The closed loop: the end of one operation is the start of the next.
std::int64_t loop_ns(Histogram* histogram) {
  const std::int64_t start_ns = now_ns();
  std::int64_t last_ns = start_ns;
  for (int i = 0; i < operations; ++i) {
    const std::int64_t end_ns = now_ns();
    if (histogram != nullptr) histogram->record(end_ns - last_ns);
    last_ns = end_ns;
    benchmark::ClobberMemory();
  }
  return last_ns - start_ns;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Loops with and without recording take turns, so that both see the same machine; the counters are
/// medians over the pairs, per operation.
void record_in_closed_loop(benchmark::State& state) {
  const auto histogram = std::make_unique<Histogram>();
  std::vector<double> clock_alone_ns;
  std::vector<double> recorder_ns;
  for (auto _ : state) {
    const auto with_ns = static_cast<double>(loop_ns(histogram.get()));
    const auto without_ns = static_cast<double>(loop_ns(nullptr));
    clock_alone_ns.push_back(without_ns / operations);
    recorder_ns.push_back((with_ns - without_ns) / operations);
  }
  state.counters["clock_ns"] = median(clock_alone_ns);
  state.counters["recorder_ns"] = median(recorder_ns);
}
BENCHMARK(record_in_closed_loop)->Unit(benchmark::kMicrosecond);

void histogram_merge(benchmark::State& state) {
  const auto from = std::make_unique<Histogram>();
  const auto to = std::make_unique<Histogram>();
  for (const std::int64_t value : latencies_ns()) from->record(value);
  for (auto _ : state) {
    to->merge(*from);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(histogram_merge);

void pacer_next(benchmark::State& state) {
  Pacer pacer(static_cast<Arrivals>(state.range(0)), 1e6, 1, 0);
  pacer.start(now_ns());
  for (auto _ : state) benchmark::DoNotOptimize(pacer.next_ns());
}
BENCHMARK(pacer_next)
    ->ArgName("arrivals")
    ->Arg(static_cast<int>(Arrivals::constant))
    ->Arg(static_cast<int>(Arrivals::poisson));

void series_add(benchmark::State& state) {
  Series series(600);
  series.start(0);
  std::int64_t time_ns = 0;
  for (auto _ : state) {
    series.add(time_ns += 1000);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(series_add);

void random_next(benchmark::State& state) {
  RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(random.next());
}
BENCHMARK(random_next);

void random_below(benchmark::State& state) {
  RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(random.below(1'000'003));
}
BENCHMARK(random_below);

void random_exponential(benchmark::State& state) {
  RandomStream random(1);
  for (auto _ : state) benchmark::DoNotOptimize(random.exponential());
}
BENCHMARK(random_exponential);

}  // namespace
}  // namespace krepro
