// Every option of fio 3.33 that is not implemented: those that do not shape the load are accepted
// with a note, those that do are refused by name, and those whose default is what happens here are
// accepted with that value. The names are fio's; none is ignored in silence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "generators/randwrite/randwrite_options.h"

namespace krepro::randwrite {

namespace {

struct Other {
  const char* name;
  const char* alias;  ///< nullptr: none
  const char* help;
};

constexpr const char* reported = "only shapes fio's report";
constexpr const char* logs = "fio's logs are not written; --json has a per-second series";
constexpr const char* clocks = "the clock is read once per operation, whatever is set";
constexpr const char* verifying = "nothing is verified";
constexpr const char* screen = "only shapes fio's screen";
constexpr const char* result = "the result goes to standard output, --json FILE as JSON";

/// Accepted with a value and a note.
constexpr auto ignored_values = std::to_array<Other>({
    {"description", nullptr, "only shapes fio's report"},
    {"verify_fatal", nullptr, verifying},
    {"do_verify", nullptr, verifying},
    {"verify_dump", nullptr, verifying},
    {"verify_state_save", nullptr, verifying},
    {"trim_verify_zero", nullptr, verifying},
    {"allrandrepeat", nullptr, "one seed governs all random choices"},
    {"softrandommap", nullptr, "the random map always fits"},
    {"create_serialize", nullptr, "files are laid out one after the other"},
    {"openfiles", nullptr, "a job has one file"},
    {"file_service_type", nullptr, "a job has one file"},
    {"unique_filename", nullptr, "concerns fio's client only"},
    {"rate_cycle", "ratecycle", "no least rate is enforced"},
    {"cmd_type", nullptr, "concerns another engine of fio"},
    {"dedupe_mode", nullptr, "buffers are not deduplicated"},
    {"dedupe_global", nullptr, "buffers are not deduplicated"},
    {"dedupe_working_set_percentage", nullptr, "buffers are not deduplicated"},
    {"buffer_compress_chunk", nullptr, "buffers are not made compressible"},
    {"hugepage-size", nullptr, "buffers are not in huge pages"},
    {"error_dump", nullptr, reported},
    {"exit_what", nullptr, "no job ends others"},
    {"clocksource", nullptr, clocks},
    {"gtod_reduce", nullptr, clocks},
    {"gtod_cpu", nullptr, clocks},
    {"disable_lat", nullptr, clocks},
    {"disable_clat", nullptr, clocks},
    {"disable_slat", nullptr, clocks},
    {"disable_bw_measurement", "disable_bw", clocks},
    {"clat_percentiles", nullptr, reported},
    {"lat_percentiles", nullptr, reported},
    {"slat_percentiles", nullptr, reported},
    {"percentile_list", nullptr, reported},
    {"significant_figures", nullptr, reported},
    {"unified_rw_reporting", nullptr, reported},
    {"block_error_percentiles", nullptr, reported},
    {"disk_util", nullptr, "the device's counters are always reported"},
    {"stats", nullptr, reported},
    {"unit_base", nullptr, reported},
    {"bwavgtime", nullptr, reported},
    {"iopsavgtime", nullptr, reported},
    {"per_job_logs", nullptr, logs},
    {"write_bw_log", nullptr, logs},
    {"write_lat_log", nullptr, logs},
    {"write_iops_log", nullptr, logs},
    {"write_hist_log", nullptr, logs},
    {"log_avg_msec", nullptr, logs},
    {"log_hist_msec", nullptr, logs},
    {"log_hist_coarseness", nullptr, logs},
    {"log_max_value", nullptr, logs},
    {"log_offset", nullptr, logs},
    {"log_prio", nullptr, logs},
    {"log_entries", nullptr, logs},
    {"log_compression", nullptr, logs},
    {"log_compression_cpus", nullptr, logs},
    {"log_store_compressed", nullptr, logs},
    {"log_unix_epoch", nullptr, logs},
    {"log_alternate_epoch", nullptr, logs},
    {"log_alternate_epoch_clock_id", nullptr, logs},
    {"output", nullptr, result},
    {"output-format", nullptr, result},
    {"terse-version", nullptr, result},
    {"eta", nullptr, screen},
    {"eta-newline", nullptr, screen},
    {"eta-interval", nullptr, screen},
    {"status-interval", nullptr, screen},
    {"debug", nullptr, screen},
    {"idle-prof", nullptr, reported},
    {"alloc-size", nullptr, "there is no pool to size"},
    {"max-jobs", nullptr, "there is no table of jobs to size"},
    {"aux-path", nullptr, "no state files are written"},
});

/// Accepted as flags, with a note.
constexpr auto ignored_flags = std::to_array<Other>({
    {"new_group", nullptr, reported},
    {"minimal", nullptr, result},
    {"append-terse", nullptr, result},
    {"bandwidth-log", nullptr, logs},
    {"warnings-fatal", nullptr, "what cannot be done is always an error"},
});

/// Refused; they take a value.
constexpr auto refused_values = std::to_array<Other>({
    {"wait_for", nullptr, "jobs all start together"},
    {"lockfile", nullptr, "files are not locked per operation"},
    {"filename_format", nullptr, "give --filename"},
    {"opendir", nullptr, "give --filename"},
    {"ba", "blockalign", "offsets are multiples of the block size"},
    {"bsrange", "blocksize_range", "one block size a job"},
    {"bssplit", nullptr, "one block size a job"},
    {"ignore_error", nullptr, "an error ends the job"},
    {"number_ios", nullptr, "give --io_size"},
    {"filesize", nullptr, "give --size"},
    {"sync_file_range", nullptr, "only fsync and fdatasync are there"},
    {"verify_async", nullptr, verifying},
    {"verify_backlog", nullptr, verifying},
    {"verify_backlog_batch", nullptr, verifying},
    {"verify_interval", nullptr, verifying},
    {"verify_offset", nullptr, verifying},
    {"verify_pattern", nullptr, verifying},
    {"verify_state_load", nullptr, verifying},
    {"experimental_verify", nullptr, verifying},
    {"trim_backlog", nullptr, "nothing is trimmed while the load runs"},
    {"trim_backlog_batch", nullptr, "nothing is trimmed while the load runs"},
    {"write_iolog", nullptr, "no log of operations is written"},
    {"read_iolog", nullptr, "nothing is replayed"},
    {"read_iolog_chunked", nullptr, "nothing is replayed"},
    {"replay_no_stall", nullptr, "nothing is replayed"},
    {"replay_redirect", nullptr, "nothing is replayed"},
    {"replay_scale", nullptr, "nothing is replayed"},
    {"replay_align", nullptr, "nothing is replayed"},
    {"replay_time_scale", nullptr, "nothing is replayed"},
    {"replay_skip", nullptr, "nothing is replayed"},
    {"merge_blktrace_file", nullptr, "nothing is replayed"},
    {"merge_blktrace_scalars", nullptr, "nothing is replayed"},
    {"merge_blktrace_iters", nullptr, "nothing is replayed"},
    {"exec_prerun", nullptr, "no commands are run"},
    {"exec_postrun", nullptr, "no commands are run"},
    {"ioscheduler", nullptr, "the device's settings are not touched"},
    {"zonesize", nullptr, "zones are not implemented"},
    {"zonecapacity", nullptr, "zones are not implemented"},
    {"zonerange", nullptr, "zones are not implemented"},
    {"zoneskip", nullptr, "zones are not implemented"},
    {"read_beyond_wp", nullptr, "zones are not implemented"},
    {"max_open_zones", nullptr, "zones are not implemented"},
    {"job_max_open_zones", nullptr, "zones are not implemented"},
    {"ignore_zone_limits", nullptr, "zones are not implemented"},
    {"zone_reset_threshold", nullptr, "zones are not implemented"},
    {"zone_reset_frequency", nullptr, "zones are not implemented"},
    {"prio", nullptr, "I/O priorities are not set"},
    {"prioclass", nullptr, "I/O priorities are not set"},
    {"cmdprio", nullptr, "I/O priorities are not set"},
    {"cmdprio_class", nullptr, "I/O priorities are not set"},
    {"cmdprio_percentage", nullptr, "I/O priorities are not set"},
    {"cmdprio_bssplit", nullptr, "I/O priorities are not set"},
    {"rate_min", "ratemin", "no least rate is enforced"},
    {"rate_iops_min", nullptr, "no least rate is enforced"},
    {"rate_ignore_thinktime", nullptr, "thinking counts against the rate"},
    {"max_latency", nullptr, "no latency ends the job"},
    {"latency_target", nullptr, "the depth is fixed"},
    {"latency_window", nullptr, "the depth is fixed"},
    {"latency_percentile", nullptr, "the depth is fixed"},
    {"latency_run", nullptr, "the depth is fixed"},
    {"write_hint", nullptr, "no life-time hints are set"},
    {"cpumask", nullptr, "give --cpus_allowed"},
    {"numa_cpu_nodes", nullptr, "give --cpus_allowed, or a placement"},
    {"numa_mem_policy", nullptr, "memory is placed by the kernel"},
    {"cgroup", nullptr, "the suite places trials into cgroups"},
    {"cgroup_weight", nullptr, "the suite places trials into cgroups"},
    {"cgroup_nodelete", nullptr, "the suite places trials into cgroups"},
    {"uid", nullptr, "the user is not changed"},
    {"gid", nullptr, "the user is not changed"},
    {"flow_id", nullptr, "jobs do not wait for each other"},
    {"flow_sleep", nullptr, "jobs do not wait for each other"},
    {"steadystate", "ss", "the time is fixed"},
    {"steadystate_duration", "ss_dur", "the time is fixed"},
    {"steadystate_ramp_time", "ss_ramp", "the time is fixed"},
    {"profile", nullptr, "fio's built-in profiles"},
    {"hipri_percentage", nullptr, "polled completions are not implemented"},
    {"section", nullptr, "all jobs of a job file run"},
    {"client", nullptr, "one host only"},
    {"daemonize", nullptr, "it runs in the foreground"},
    {"remote-config", nullptr, "one host only"},
    {"inflate-log", nullptr, "no logs"},
    {"trigger-file", nullptr, "no triggers"},
    {"trigger-timeout", nullptr, "no triggers"},
    {"trigger", nullptr, "no triggers"},
    {"trigger-remote", nullptr, "no triggers"},
});

/// Refused flags.
constexpr auto refused_flags = std::to_array<Other>({
    {"stonewall", "wait_for_previous", "jobs all start together"},
    {"exitall", nullptr, "no job ends others"},
    {"exitall_on_error", nullptr, "no job ends others"},
    {"bs_unaligned", "blocksize_unaligned", "offsets are multiples of the block size"},
    {"verify_only", nullptr, verifying},
    {"hipri", nullptr, "polled completions are not implemented"},
    {"showcmd", nullptr, "a job file runs as it is"},
    {"parse-only", nullptr, "it would not run anything"},
    {"merge-blktrace-only", nullptr, "nothing is replayed"},
    {"cpuclock-test", nullptr, "it would not run anything"},
});

/// Accepted with one meaning only: what happens here anyhow.
struct Single {
  const char* name;
  const char* alias;
  const char* value;       ///< fio's default
  const char* other_name;  ///< Another spelling of it; nullptr: none.
  const char* help;
};
constexpr auto single_values = std::to_array<Single>({
    {"verify", nullptr, "0", "none", "nothing is verified"},
    {"nrfiles", "nr_files", "1", nullptr, "a job has one file"},
    {"percentage_random", nullptr, "100", nullptr, "all offsets are random, or none"},
    {"random_generator", nullptr, "tausworthe", "tausworthe64", "which block is next"},
    {"zonemode", nullptr, "none", nullptr, "zones"},
    {"rw_sequencer", nullptr, "sequential", nullptr, "only matters for rw=NAME:COUNT"},
    {"continue_on_error", nullptr, "none", nullptr, "an error ends the job"},
    {"io_submit_mode", nullptr, "inline", nullptr, "the job itself submits"},
    {"mem", "iomem", "malloc", nullptr, "buffers are ordinary memory"},
    {"iomem_align", "mem_align", "0", nullptr, "buffers start on a page"},
    {"file_append", nullptr, "0", nullptr, "files are not appended to"},
    {"fill_device", "fill_fs", "0", nullptr, "a full device is an error"},
    {"offset_increment", nullptr, "0", nullptr, "jobs share their range"},
    {"offset_align", nullptr, "0", nullptr, "the offset is taken as it is"},
    {"allow_file_create", nullptr, "1", nullptr, "missing files are made"},
    {"allow_mounted_write", nullptr, "0", nullptr, "a device in use is never written"},
    {"atomic", nullptr, "0", nullptr, "atomic writes"},
    {"create_only", nullptr, "0", nullptr, "laying out files only"},
    {"pre_read", nullptr, "0", nullptr, "reading files first"},
    {"serialize_overlap", nullptr, "0", nullptr, "overlapping writes may be in flight"},
    {"flow", nullptr, "0", nullptr, "jobs do not wait for each other"},
    {"trim_percentage", nullptr, "0", nullptr, "nothing is trimmed while the load runs"},
    {"write_barrier", nullptr, "0", nullptr, "give --fsync"},
    {"unlink_each_loop", nullptr, "0", nullptr, "files stay until the end"},
    {"lockmem", nullptr, "0", nullptr, "no memory is locked away"},
    {"uncached", nullptr, "0", nullptr, "RWF_UNCACHED"},
    {"nowait", nullptr, "0", nullptr, "RWF_NOWAIT"},
    {"dedupe_percentage", nullptr, "0", nullptr, "buffers are not deduplicated"},
    {"buffer_compress_percentage", nullptr, "0", nullptr, "buffers are not made compressible"},
    {"kb_base", nullptr, "1024", nullptr, "k is 1024 (docs: units)"},
    {"thinktime_iotime", nullptr, "0", nullptr, "thinking after so many operations only"},
    {"thinktime_blocks_type", nullptr, "complete", nullptr, "completed operations are counted"},
});

template <std::size_t size>
void append(std::vector<Option>& options, const std::array<Other, size>& others, OptionType type,
            Origin origin) {
  for (const Other& other : others) {
    Option option;
    option.name = other.name;
    if (other.alias != nullptr) option.aliases = {other.alias};
    option.type = type;
    option.origin = origin;
    option.optional_value = type == OptionType::flag;
    option.help = other.help;
    options.push_back(std::move(option));
  }
}

}  // namespace

std::vector<Option> other_fio_options() {
  std::vector<Option> options;
  for (const Single& single : single_values) {
    Option option;
    option.name = single.name;
    if (single.alias != nullptr) option.aliases = {single.alias};
    option.type = OptionType::text;
    option.default_text = single.value;
    option.help = fmt::format(
        "{}: {}{}{}", single.help, "only ", single.value,
        single.other_name == nullptr ? std::string() : fmt::format(" or {}", single.other_name));
    options.push_back(std::move(option));
  }
  append(options, ignored_values, OptionType::text, Origin::ignored);
  append(options, ignored_flags, OptionType::flag, Origin::ignored);
  append(options, refused_values, OptionType::text, Origin::refused);
  append(options, refused_flags, OptionType::flag, Origin::refused);
  return options;
}

void check_single_values(const Options& options) {
  for (const Single& single : single_values) {
    const std::string& value = options.text(single.name);
    if (value == single.value) continue;
    if (single.other_name != nullptr && value == single.other_name) continue;
    throw usage_error(fmt::format("{}={}: known, but only {} is implemented here ({})", single.name,
                                  value, single.value, single.help),
                      "another value would be another load, so it is not ignored");
  }
}

}  // namespace krepro::randwrite
