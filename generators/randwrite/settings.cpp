// From option texts to plain settings, and the checks of options against each other.
#include "generators/randwrite/settings.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "common/base/error.h"
#include "common/base/units.h"
#include "generators/randwrite/job_file.h"
#include "generators/randwrite/randwrite_options.h"

namespace krepro::randwrite {

namespace {

std::string text_or_empty(const Options& options, std::string_view name) {
  return options.has(name) ? options.text(name) : std::string();
}

void resolve_pattern(const Options& options, JobSettings& job) {
  const std::string& rw = options.text("rw");
  job.random = rw.starts_with("rand");
  const std::string kind = job.random ? rw.substr(4) : rw;
  job.reads = kind == "read" || kind == "rw" || kind == "readwrite";
  job.writes = kind == "write" || kind == "rw" || kind == "readwrite";
  if (job.mixed()) {
    job.read_percent =
        static_cast<unsigned>(options.given("rwmixwrite") ? 100 - options.integer("rwmixwrite")
                                                          : options.integer("rwmixread"));
  } else {
    job.read_percent = job.reads ? 100 : 0;
  }
  job.block_bytes = static_cast<std::uint64_t>(options.integer("bs"));
  job.size = parse_amount("size", text_or_empty(options, "size"));
  job.offset = parse_amount("offset", text_or_empty(options, "offset"));
  job.io_size = parse_amount("io_size", text_or_empty(options, "io_size"));
  job.loops = static_cast<std::uint64_t>(options.integer("loops"));
  job.random_map = !options.flag("norandommap");
  job.repeat = options.flag("randrepeat");
}

void resolve_distribution(const std::string& text, JobSettings& job) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const bool has_value = colon != std::string::npos;
  if (kind == "random" && !has_value) return;
  if (kind == "zipf") {
    job.distribution = Distribution::zipf;
    job.skew = 1.1;
  } else if (kind == "pareto") {
    job.distribution = Distribution::pareto;
    job.skew = 0.2;
  } else {
    throw usage_error(
        fmt::format("random_distribution={}: only random, zipf[:theta] and pareto[:h] "
                    "are implemented here",
                    text));
  }
  if (has_value) {
    try {
      job.skew = parse_number(text.substr(colon + 1));
    } catch (const Error& error) {
      throw usage_error(fmt::format("random_distribution: {}", error.what()));
    }
  }
  const bool zipf_fits = job.distribution != Distribution::zipf || (job.skew > 0 && job.skew != 1);
  const bool pareto_fits =
      job.distribution != Distribution::pareto || (job.skew > 0 && job.skew < 1);
  if (!zipf_fits || !pareto_fits) {
    throw usage_error(fmt::format(
        "random_distribution={}: {}", text,
        zipf_fits ? "pareto's h lies between 0 and 1" : "zipf's theta is above 0 and not 1"));
  }
  if (!job.random) throw usage_error("random_distribution: only for random reads and writes");
  job.random_map = false;
}

void resolve_access(const Options& options, JobSettings& job) {
  const std::string& engine = options.text("ioengine");
  job.engine = engine == "psync"    ? Engine::psync
               : engine == "sync"   ? Engine::sync
               : engine == "pvsync" ? Engine::pvsync
                                    : Engine::io_uring;
  job.direct = options.given("buffered") ? !options.flag("buffered") : options.flag("direct");
  if (options.given("buffered") && options.given("direct") &&
      options.flag("buffered") == options.flag("direct")) {
    throw usage_error("direct and buffered contradict each other");
  }
  const std::string& sync = options.text("sync");
  job.sync_flag = sync == "dsync" ? O_DSYNC : sync == "sync" || sync == "1" ? O_SYNC : 0;
  job.fsync_every = static_cast<std::uint64_t>(options.integer("fsync"));
  job.fdatasync_every = static_cast<std::uint64_t>(options.integer("fdatasync"));
  job.end_fsync = options.flag("end_fsync") || options.flag("fsync_on_close");
  job.invalidate = options.flag("invalidate");
  const std::string& hint = options.text("fadvise_hint");
  const bool by_pattern = hint == "1";
  job.hint = hint == "0" || hint == "none"                    ? AccessHint::none
             : hint == "random" || (by_pattern && job.random) ? AccessHint::random
                                                              : AccessHint::sequential;
}

void resolve_ring(const Options& options, JobSettings& job, Frame& frame) {
  const auto number = [&options](const char* name) {
    return static_cast<unsigned>(options.integer(name));
  };
  RingSettings& ring = job.ring;
  ring.depth = number("iodepth");
  if (job.engine != Engine::io_uring) {
    if (ring.depth > 1) {
      frame.note(fmt::format("{}: iodepth={} has no effect, {} has one request in flight", job.name,
                             ring.depth, options.text("ioengine")));
      ring.depth = 1;
    }
    for (const char* name : {"fixedbufs", "registerfiles", "sqthread_poll"}) {
      if (options.flag(name)) throw usage_error(fmt::format("{}: only for io_uring", name));
    }
    return;
  }
  ring.batch = std::min(number("iodepth_batch"), ring.depth);
  ring.complete_min = std::min(number("iodepth_batch_complete_min"), ring.depth);
  ring.complete_max = std::min(number("iodepth_batch_complete_max"), ring.depth);
  if (ring.complete_max != 0 && ring.complete_max < ring.complete_min) {
    throw usage_error("iodepth_batch_complete_max is below iodepth_batch_complete_min");
  }
  ring.low = std::min(number("iodepth_low"), ring.depth);
  if (ring.low == 0) ring.low = ring.depth;
  ring.fixed_buffers = options.flag("fixedbufs");
  ring.registered_file = options.flag("registerfiles");
  ring.polling_cpu = static_cast<int>(options.integer("sqthread_poll_cpu"));
  ring.polling_thread = options.flag("sqthread_poll");
  if (ring.polling_cpu >= 0 && !ring.polling_thread) {
    throw usage_error("sqthread_poll_cpu needs sqthread_poll");
  }
  ring.non_vectored = static_cast<int>(options.integer("nonvectored"));
  ring.force_async = number("force_async");
}

void resolve_time(const Options& options, JobSettings& job) {
  job.time_based = options.flag("time_based");
  job.runtime_ns = options.integer("runtime");
  job.ramp_ns = options.integer("ramp_time");
  job.start_delay_ns = options.integer("startdelay");
  if (job.time_based && job.runtime_ns == 0) throw usage_error("time_based needs a runtime");
  if (job.ramp_ns > 0 && !job.time_based) {
    throw usage_error("ramp_time needs time_based: the range could be done within the ramp");
  }
  if (options.has("rate") && options.has("rate_iops")) {
    throw usage_error("rate and rate_iops exclude each other");
  }
  double per_second = 0;
  if (options.has("rate_iops")) per_second = options.number("rate_iops");
  if (options.has("rate")) {
    per_second =
        static_cast<double>(options.integer("rate")) / static_cast<double>(job.block_bytes);
  }
  if (job.reads) job.rate_per_second[0] = per_second;
  if (job.writes) job.rate_per_second[1] = per_second;
  job.poisson = options.text("rate_process") == "poisson";
  if (job.poisson && !job.paced()) throw usage_error("rate_process=poisson needs a rate");
  job.think_ns = options.integer("thinktime");
  job.think_spin_ns = options.integer("thinktime_spin");
  job.think_every = static_cast<std::uint64_t>(options.integer("thinktime_blocks"));
  if (job.think_spin_ns > job.think_ns) throw usage_error("thinktime_spin is above thinktime");
}

void resolve_layout(const Options& options, JobSettings& job) {
  const std::string& fallocate = options.text("fallocate");
  job.fallocate = fallocate == "none" || fallocate == "0"    ? Fallocate::none
                  : fallocate == "posix" || fallocate == "1" ? Fallocate::posix
                  : fallocate == "keep"                      ? Fallocate::keep
                  : fallocate == "truncate"                  ? Fallocate::truncate
                                                             : Fallocate::native;
  job.create_on_open = options.flag("create_on_open");
  job.overwrite = options.flag("overwrite");
  job.create_fsync = options.flag("create_fsync");
  job.keep_files = options.flag("keep-files") && !options.flag("unlink");
  const std::string& precondition = options.text("precondition");
  job.precondition = precondition == "fill"      ? Precondition::fill
                     : precondition == "discard" ? Precondition::discard
                                                 : Precondition::none;
  job.buffers.zero = options.flag("zero_buffers");
  job.buffers.refill = options.flag("refill_buffers");
  // As in fio: zeros stay zeros; a pattern is scrambled unless that is switched off.
  job.buffers.scramble = options.flag("scramble_buffers") && !job.buffers.zero;
  job.buffers.pattern = parse_pattern(text_or_empty(options, "buffer_pattern"));
}

JobSettings resolve_job(const std::string& name, const Options& options, Frame& frame) {
  check_single_values(options);
  JobSettings job;
  job.name = name;
  job.filename = text_or_empty(options, "filename");
  job.directory = text_or_empty(options, "directory");
  job.count = static_cast<unsigned>(options.integer("numjobs"));
  job.threads = options.flag("thread");
  job.group_reporting = options.flag("group_reporting");
  resolve_pattern(options, job);
  resolve_distribution(options.text("random_distribution"), job);
  resolve_access(options, job);
  resolve_ring(options, job, frame);
  resolve_time(options, job);
  resolve_layout(options, job);
  job.cpus = CpuSet::parse(text_or_empty(options, "cpus_allowed"));
  job.split_cpus = options.text("cpus_allowed_policy") == "split";
  job.nice = static_cast<int>(options.integer("nice"));
  if (options.flag("readonly") && (job.writes || job.precondition != Precondition::none)) {
    throw usage_error(fmt::format("{}: rw={}, precondition={} writes, and readonly was given", name,
                                  options.text("rw"), options.text("precondition")));
  }
  for (const std::string& note : options.notes()) {
    if (!text_or_empty(options, "jobfile").empty()) frame.note(fmt::format("{}: {}", name, note));
  }
  return job;
}

}  // namespace

std::uint64_t Amount::of(std::uint64_t whole) const {
  if (!given) return 0;
  if (percent == 0) return bytes;
  return whole / 100 * percent + whole % 100 * percent / 100;
}

Amount parse_amount(const std::string& option, const std::string& text) {
  Amount amount;
  if (text.empty()) return amount;
  amount.given = true;
  try {
    if (text.ends_with('%')) {
      const std::uint64_t percent = parse_count(text.substr(0, text.size() - 1));
      if (percent > 100 || percent == 0) {
        throw usage_error(fmt::format("{} is not between 1% and 100%", text));
      }
      amount.percent = static_cast<std::uint32_t>(percent);
    } else {
      amount.bytes = parse_bytes(text);
    }
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", option, error.what()), error.remedy());
  }
  return amount;
}

std::string parse_pattern(const std::string& text) {
  const auto wrong = [&text] {
    return usage_error(
        fmt::format("buffer_pattern={}: expected 0x and an even number of hexadecimal "
                    "digits, \"text\" in quotes, or a number",
                    text));
  };
  if (text.empty()) return {};
  if (text.front() == '"') {
    if (text.size() < 3 || text.back() != '"') throw wrong();
    return text.substr(1, text.size() - 2);
  }
  std::string bytes;
  const char* end = text.data() + text.size();
  if (text.starts_with("0x") || text.starts_with("0X")) {
    if (text.size() % 2 != 0 || text.size() == 2) throw wrong();
    for (const char* at = text.data() + 2; at < end; at += 2) {
      unsigned value = 0;
      const auto [stop, error] = std::from_chars(at, at + 2, value, 16);
      if (error != std::errc() || stop != at + 2) throw wrong();
      bytes.push_back(static_cast<char>(value));
    }
    return bytes;
  }
  std::uint32_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) throw wrong();
  do {
    bytes.push_back(static_cast<char>(number & 0xFFU));
    number >>= 8U;
  } while (number != 0);
  return bytes;
}

TrialSettings resolve_settings(const Options& options, Frame& frame) {
  TrialSettings trial;
  if (text_or_empty(options, "jobfile").empty()) {
    trial.jobs.push_back(resolve_job(options.text("name"), options, frame));
  } else {
    for (const JobSection& section : read_job_file(options.text("jobfile"), options)) {
      trial.jobs.push_back(resolve_job(section.name, section.options, frame));
    }
  }
  if (std::any_of(trial.jobs.begin(), trial.jobs.end(), [&trial](const JobSettings& job) {
        return job.threads != trial.jobs.front().threads;
      })) {
    throw usage_error("thread: all jobs are threads, or all are processes");
  }
  trial.allowed_devices = options.list("allow-device-write");
  trial.destroy_signature = options.flag("destroy-signature");
  trial.overwrite_existing = options.flag("overwrite-existing");
  trial.read_only = options.flag("readonly");
  trial.device_model = text_or_empty(options, "device-model");
  trial.settle_ns = options.integer("settle");
  trial.hang_timeout_ns = options.integer("hang-timeout");
  return trial;
}

}  // namespace krepro::randwrite
