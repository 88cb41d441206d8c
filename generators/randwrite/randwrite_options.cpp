// The table of the options that are implemented, with fio's names and defaults, and krepro's own.
#include "generators/randwrite/randwrite_options.h"

#include <algorithm>

#include "common/base/units.h"

namespace krepro::randwrite {

namespace {

using enum OptionType;

constexpr double day_ns = 86400e9;
constexpr double many = 1e9;
constexpr std::int64_t microsecond_ns = 1'000;

Option flag_option(std::string name, std::string default_text, std::string help) {
  Option made = make_option(std::move(name), {}, flag, std::move(default_text), std::move(help));
  made.optional_value = true;
  return made;
}

Option one_of(Option made, std::vector<std::string> choices) {
  made.type = choice;
  made.choices = std::move(choices);
  return made;
}

Option time_option(std::string name, std::vector<std::string> aliases, std::int64_t plain_unit_ns,
                   std::string help) {
  Option made = make_option(std::move(name), std::move(aliases), duration, "0", std::move(help));
  made.unit = "ns";
  made.plain_unit_ns = plain_unit_ns;
  return ranged(std::move(made), 0, 30 * day_ns);
}

Option count_option(std::string name, std::string default_text, double min, std::string help) {
  return ranged(make_option(std::move(name), {}, integer, std::move(default_text), std::move(help)),
                min, many);
}

Option ours(Option made) {
  made.origin = Origin::ours;
  return made;
}

std::vector<Option> target_options() {
  return {
      make_option("name", {}, text, "randwrite", "name of the job"),
      make_option("filename", {}, text, "",
                  "file or block device; taken whole, ':' does not separate names"),
      make_option("directory", {}, text, "", "where files without a --filename are made [.]"),
      make_option("size", {}, text, "",
                  "bytes of the range, or % of the target; default: all of it"),
      make_option("offset", {"fileoffset"}, text, "0", "where the range begins, bytes or %"),
      make_option("io_size", {"io_limit"}, text, "",
                  "bytes to transfer, or % of the range; default: the range once"),
      count_option("loops", "1", 1, "passes over the range, if not time_based"),
      one_of(make_option("fallocate", {}, text, "native", "how a new file gets its space"),
             {"none", "native", "posix", "keep", "truncate", "0", "1"}),
      flag_option("create_on_open", "0", "no layout: the file grows as it is written"),
      flag_option("overwrite", "0", "new files are filled with data first"),
      flag_option("create_fsync", "1", "fsync a file that was filled"),
      flag_option("unlink", "0", "remove the file at the end, also with keep-files"),
      flag_option("invalidate", "1", "drop the target's cached pages at each open and pass"),
      one_of(make_option("fadvise_hint", {}, text, "1", "advice on the access pattern"),
             {"0", "1", "none", "random", "sequential"}),
      flag_option("readonly", "0", "refuse jobs that write"),
  };
}

std::vector<Option> pattern_options() {
  return {
      one_of(make_option("rw", {"readwrite"}, text, "read", "what is done"),
             {"read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"}),
      ranged(make_option("rwmixread", {}, integer, "50", "rw, randrw: % of reads"), 0, 100),
      ranged(make_option("rwmixwrite", {}, integer, "50", "rw, randrw: % of writes"), 0, 100),
      ranged(make_option("bs", {"blocksize"}, bytes, "4k", "block size"), 1, 1U << 30U),
      flag_option("norandommap", "0", "random blocks may repeat within a pass"),
      flag_option("randrepeat", "1", "without a seed: the same order in every run"),
      meaning(
          ranged(make_option("randseed", {}, integer, "", "seed; --seed is the same"), 0, 9.2e18),
          Meaning::seed),
      make_option("random_distribution", {}, text, "random",
                  "random, zipf[:theta] or pareto[:h] (1.1, 0.2)"),
      flag_option("zero_buffers", "0", "write zeros"),
      flag_option("refill_buffers", "0", "new random contents for each write"),
      flag_option("scramble_buffers", "1", "change a few words of each 512 bytes per write"),
      make_option("buffer_pattern", {}, text, "",
                  "write this pattern: 0xdeadbeef, \"text\" or a number"),
  };
}

std::vector<Option> engine_options() {
  return {
      one_of(make_option("ioengine", {}, text, "psync", "how"),
             {"psync", "sync", "pvsync", "io_uring"}),
      ranged(make_option("iodepth", {}, integer, "1", "requests in flight (io_uring)"), 1, 32768),
      ranged(make_option("iodepth_batch", {"iodepth_batch_submit"}, integer, "1",
                         "io_uring: requests submitted with one system call"),
             1, 32768),
      ranged(make_option("iodepth_batch_complete_min", {"iodepth_batch_complete"}, integer, "1",
                         "io_uring: completions waited for; 0: only looked for"),
             0, 32768),
      ranged(make_option("iodepth_batch_complete_max", {}, integer, "0",
                         "io_uring: completions taken at once; 0: as _min"),
             0, 32768),
      ranged(make_option("iodepth_low", {}, integer, "0",
                         "io_uring: empty a full queue down to so many; 0: iodepth"),
             0, 32768),
      flag_option("fixedbufs", "0", "io_uring: registered buffers"),
      flag_option("registerfiles", "0", "io_uring: registered file"),
      flag_option("sqthread_poll", "0", "io_uring: a kernel thread polls for requests"),
      ranged(make_option("sqthread_poll_cpu", {}, integer, "-1", "io_uring: CPU of that thread"),
             -1, many),
      ranged(make_option("nonvectored", {}, integer, "-1",
                         "io_uring: 1 READ/WRITE, 0 READV/WRITEV, -1 what the kernel has"),
             -1, 1),
      count_option("force_async", "0", 0, "io_uring: every Nth request goes to a kernel worker"),
      flag_option("direct", "0", "O_DIRECT"),
      flag_option("buffered", "1", "the opposite of direct"),
      one_of(make_option("sync", {}, text, "none", "O_SYNC or O_DSYNC"),
             {"none", "0", "sync", "1", "dsync"}),
      count_option("fsync", "0", 0, "fsync after so many writes of a job; 0: none"),
      count_option("fdatasync", "0", 0, "fdatasync after so many writes of a job; 0: none"),
      flag_option("end_fsync", "0", "one more fsync at the end of a job"),
      flag_option("fsync_on_close", "0", "the same as end_fsync"),
  };
}

std::vector<Option> time_options() {
  return {
      meaning(
          time_option("runtime", {"timeout"}, one_second_ns, "end after this time; 0: at the size"),
          Meaning::runtime),
      flag_option("time_based", "0", "go over the range again until the runtime is over"),
      time_option("ramp_time", {}, one_second_ns, "run unmeasured for this time first"),
      time_option("startdelay", {}, one_second_ns, "start the job so much later"),
      ranged(make_option("rate", {}, bytes, "", "bytes/s of each job and direction"), 1, 1e15),
      meaning(
          ranged(make_option("rate_iops", {}, rate, "", "operations/s of each job and direction"),
                 1e-3, 1e9),
          Meaning::rate),
      one_of(make_option("rate_process", {}, text, "linear", "arrivals of a rate"),
             {"linear", "poisson"}),
      time_option("thinktime", {}, microsecond_ns, "idle between operations"),
      time_option("thinktime_spin", {}, microsecond_ns, "part of it that is spent spinning"),
      count_option("thinktime_blocks", "1", 1, "operations between two thinktimes"),
  };
}

std::vector<Option> job_options() {
  return {
      meaning(ranged(make_option("numjobs", {}, integer, "1", "copies of the job"), 1, 10000),
              Meaning::threads),
      flag_option("thread", "0", "jobs are threads; default: processes"),
      flag_option("group_reporting", "0", "one report for all copies"),
      make_option("cpus_allowed", {}, text, "", "CPUs of the job"),
      one_of(make_option("cpus_allowed_policy", {}, text, "shared",
                         "copies share the CPUs or split them"),
             {"shared", "split"}),
      ranged(make_option("nice", {}, integer, "0", "added to the nice value"), -20, 19),
  };
}

std::vector<Option> own_options() {
  std::vector<Option> options{
      make_option(
          "jobfile", {}, text, "",
          "an fio job file (also without --jobfile=); what is given beside it overrides it"),
      make_option("allow-device-write", {}, list, "", "this block device may be overwritten"),
      make_option("destroy-signature", {}, flag, "",
                  "even if it carries a file system, RAID or partition signature"),
      make_option("device-model", {}, text, "", "the device's model must contain this text"),
      make_option("overwrite-existing", {}, flag, "",
                  "a regular file that krepro did not make may be overwritten"),
      make_option("keep-files", {}, flag, "", "leave files that were made here"),
      one_of(make_option("precondition", {}, text, "none",
                         "before the start: discard the range, or fill it with data"),
             {"none", "discard", "fill"}),
      make_option("settle", {}, duration, "3s",
                  "wait at most so long for dirty pages to be written before the start"),
      make_option("hang-timeout", {}, duration, "60s",
                  "a job so long beyond its runtime is reported as stuck"),
  };
  for (Option& each : options) each = ours(std::move(each));
  for (Option& each : options) {
    if (each.type == duration) {
      each.unit = "ns";
      each = ranged(std::move(each), 0, day_ns);
    }
  }
  return options;
}

constexpr const char* details =
    "It does what fio does for jobs of these options, call by call: the layout of a missing file\n"
    "(fallocate, no data), invalidation of cached pages (`posix_fadvise`, `BLKFLSBUF`), advice on\n"
    "the access pattern, a random map by which each block comes once per pass and job, fsync "
    "after\n"
    "exactly so many writes of a job and never a trailing one, contents that change a little with\n"
    "each write. [docs/randwrite.md](../randwrite.md) shows the sequences beside fio's, lists "
    "every\n"
    "deliberate difference, and says how targets are kept safe.\n"
    "\n"
    "A boolean is given as `--direct=1`, not `--direct 1`.\n";

Original make_original() {
  using Options = std::vector<std::pair<std::string, std::string>>;
  const Options common{{"name", "fidelity"}, {"filename", "/var/tmp/krepro-fidelity-randwrite.dat"},
                       {"size", "1G"},       {"bs", "4k"},
                       {"rw", "randwrite"},  {"runtime", "3"},
                       {"time_based", ""},   {"randrepeat", "0"},
                       {"unlink", "1"},      {"group_reporting", ""}};
  const auto row = [&common](const std::string& name, const Options& more) {
    FidelityRow made;
    made.name = name;
    made.options = common;
    made.options.insert(made.options.end(), more.begin(), more.end());
    made.placements = {"floating"};
    const bool syncs = std::any_of(more.begin(), more.end(),
                                   [](const auto& option) { return option.first == "fsync"; });
    if (syncs) {
      made.cpu_ratio_low = 0.85;
      made.cpu_ratio_high = 1.0;
    }
    made.floating_calls = name.starts_with("psync");
    return made;
  };
  Original original;
  original.program = "fio";
  original.package = "fio";
  original.version_arguments = {"--version"};
  original.extra_arguments = {"--output-format=json"};
  // The first figures of a job's "write" section; its nested sections come after them.
  original.figures = {
      {"iops", "\"write\" : \\{[^}]*\"iops\" : ([0-9.]+)", 1},
      {"bandwidth", "\"write\" : \\{[^}]*\"bw_bytes\" : ([0-9]+)", 1},
      {"operations", "\"write\" : \\{[^}]*\"total_ios\" : ([0-9]+)", 1},
  };
  original.rows = {
      row("psync x1 fsync=64", {{"ioengine", "psync"}, {"numjobs", "1"}, {"fsync", "64"}}),
      row("psync x4 fsync=64", {{"ioengine", "psync"}, {"numjobs", "4"}, {"fsync", "64"}}),
      row("psync x1", {{"ioengine", "psync"}, {"numjobs", "1"}}),
      row("psync x1 direct", {{"ioengine", "psync"}, {"numjobs", "1"}, {"direct", "1"}}),
      row("io_uring QD1 direct fsync=64",
          {{"ioengine", "io_uring"}, {"iodepth", "1"}, {"direct", "1"}, {"fsync", "64"}}),
      row("io_uring QD32 direct", {{"ioengine", "io_uring"}, {"iodepth", "32"}, {"direct", "1"}}),
      row("io_uring QD32", {{"ioengine", "io_uring"}, {"iodepth", "32"}}),
  };
  original.long_equals = true;
  original.scaling_option = "runtime";
  original.operation = "write";
  original.time_ratio_low = original.floating_ratio_low = 0.93;
  original.time_ratio_high = original.floating_ratio_high = 1.07;
  original.without_start_up = true;
  original.syscall_tolerance = 0.02;
  return original;
}

}  // namespace

Description make_description() {
  std::vector<Option> options = target_options();
  for (const auto& part : {pattern_options(), engine_options(), time_options(), job_options(),
                           own_options(), other_fio_options()}) {
    options.insert(options.end(), part.begin(), part.end());
  }
  Description description{
      .name = "randwrite",
      .summary =
          "Reads and writes on a file or block device as fio does them: random writes with an "
          "fsync after every 64, by default engine psync, and its relatives.",
      .details = details,
      .metrics = {{"iops", "1/s", true, true, "reads and writes a second"},
                  {"bandwidth", "bytes/s", true, false, "bytes read and written a second"},
                  {"fsync_rate", "1/s", true, false, "fsync and fdatasync calls a second"},
                  {"cpu_per_operation", "ns", false, false,
                   "user and system time of the jobs per read or write"},
                  {"switches_per_operation", "1", false, false,
                   "context switches of the jobs per read or write"}},
      .options = OptionTable(std::move(options)),
      .roles = {"load"},
      .example = {{"rw", "randwrite"},
                  {"directory", "/tmp"},
                  {"size", "16M"},
                  {"bs", "4k"},
                  {"fsync", "64"},
                  {"numjobs", "2"},
                  {"runtime", "1"},
                  {"time_based", ""},
                  {"settle", "0"}},
      .long_example = {{"runtime", "60"}},
      .original = make_original(),
      .positional = "jobfile"};
  return description;
}

}  // namespace krepro::randwrite
