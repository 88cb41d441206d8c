// Sums over the jobs, and what they come to.
#include "generators/randwrite/randwrite_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "generators/randwrite/offsets.h"

namespace krepro::randwrite {

namespace {

constexpr std::size_t digest_operations = 10'000;

const char* call_name(Call call) {
  switch (call) {
    case Call::read:
      return "read";
    case Call::write:
      return "write";
    case Call::fsync:
      return "fsync";
    case Call::fdatasync:
      return "fdatasync";
    case Call::open:
      return "opening anew";
    case Call::submit:
      return "io_uring_enter";
    case Call::none:
      break;
  }
  return "nothing";
}

/// The kind under which a failure is counted: the error's symbol.
std::string kind_of(const JobFailure& failure) {
  if (failure.error_number == 0) return "short_transfer";
  const char* name = strerrorname_np(failure.error_number);
  return name != nullptr ? name : fmt::format("errno_{}", failure.error_number);
}

void add_metrics(Sample& sample, const ThreadUsage& usage, std::uint64_t bytes,
                 std::uint64_t syncs) {
  const double seconds = static_cast<double>(sample.duration_ns) / 1e9;
  const auto operations = static_cast<double>(sample.operations);
  sample.metrics["iops"] = {operations / seconds, "1/s", true, true};
  sample.metrics["bandwidth"] = {static_cast<double>(bytes) / seconds, "bytes/s", true, false};
  if (syncs > 0) {
    sample.metrics["fsync_rate"] = {static_cast<double>(syncs) / seconds, "1/s", true, false};
  }
  sample.metrics["cpu_per_operation"] = {
      static_cast<double>(usage.user_ns + usage.system_ns) / operations, "ns", false, false};
  sample.metrics["switches_per_operation"] = {
      static_cast<double>(usage.voluntary_switches + usage.involuntary_switches) / operations, "1",
      false, false};
}

nlohmann::json job_facts(const JobPlan& plan, const JobResult& result) {
  return {{"name", plan.job->name},          {"copy", plan.copy},
          {"target", plan.target->path},     {"offset_bytes", plan.offsets.first_byte},
          {"range_bytes", plan.range_bytes}, {"block_bytes", plan.offsets.block_bytes},
          {"direct", plan.job->direct},      {"reads", result.reads},
          {"writes", result.writes},         {"syncs", result.syncs},
          {"passes", result.passes + 1},     {"duration_ns", result.duration_ns()}};
}

}  // namespace

std::string describe_failure(const JobPlan& plan, const JobFailure& failure) {
  const bool placed = failure.call == Call::read || failure.call == Call::write;
  return fmt::format("{} {}: {}{} of {}: {}", plan.job->name, plan.copy, call_name(failure.call),
                     placed ? fmt::format(" at {}", failure.offset) : "", plan.target->path,
                     failure.error_number == 0 ? "fewer bytes than asked for, and no error"
                                               : std::strerror(failure.error_number));
}

void fill_sample(Sample& sample, const std::vector<JobPlan>& plans,
                 const SharedArray<JobResult>& results) {
  ThreadUsage usage;
  std::uint64_t bytes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t retries = 0;
  Histogram read;
  Histogram write;
  Histogram sync;
  Histogram service;
  nlohmann::json jobs = nlohmann::json::array();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const JobResult& result = results[i];
    sample.operations += result.operations();
    sample.duration_ns = std::max(sample.duration_ns, result.duration_ns());
    bytes += result.bytes_read + result.bytes_written;
    syncs += result.syncs;
    retries += result.retries;
    usage += result.usage;
    read.merge(result.read);
    write.merge(result.write);
    sync.merge(result.sync);
    service.merge(result.service);
    jobs.push_back(job_facts(plans[i], result));
    if (result.failure.call != Call::none) {
      ++sample.errors[kind_of(result.failure)];
      if (result.short_transfers > 0 && result.failure.error_number != 0) {
        sample.errors["short_transfer"] += result.short_transfers;
      }
      if (sample.error.empty()) sample.error = describe_failure(plans[i], result.failure);
    }
    if (result.completion_ring_overflowed) ++sample.errors["completion_ring_overflow"];
  }
  if (read.count() > 0) sample.latency["read"] = read;
  if (write.count() > 0) sample.latency["write"] = write;
  if (sync.count() > 0) sample.latency["fsync"] = sync;
  if (service.count() > 0) sample.latency["service"] = service;
  const auto seconds = static_cast<std::size_t>(sample.duration_ns / 1'000'000'000) + 1;
  sample.series.assign(std::min(seconds, JobResult::series_seconds), 0);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (std::size_t s = 0; s < sample.series.size(); ++s) {
      sample.series[s] += results[i].series[s];
    }
  }
  sample.extra["jobs"] = std::move(jobs);
  sample.extra["fsyncs"] = syncs;
  sample.extra["retries"] = retries;
  const JobPlan& first = plans.front();
  sample.extra["sequence"] = digest_of_offsets(
      Offsets(first.offsets, first.seed, first.stream + offset_stream), digest_operations);
  if (sample.errors.empty() && sample.error.empty() && sample.operations > 0 &&
      sample.duration_ns > 0) {
    add_metrics(sample, usage, bytes, syncs);
  }
}

}  // namespace krepro::randwrite
