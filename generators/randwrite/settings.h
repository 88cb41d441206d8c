// What a job does, resolved from the options once: plain values that the loops read without looking
// at any text. No I/O here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/affinity/cpu_set.h"
#include "common/generator/generator.h"
#include "common/generator/options.h"

namespace krepro::randwrite {

enum class Engine : std::uint8_t { psync, sync, pvsync, io_uring };
enum class Direction : std::uint8_t { read, write };
enum class Distribution : std::uint8_t { uniform, zipf, pareto };
/// How a new file gets its space, in fio's words.
enum class Fallocate : std::uint8_t { none, native, posix, keep, truncate };
/// What is done to the target's range before the start.
enum class Precondition : std::uint8_t { none, discard, fill };
/// The advice on the access pattern that is given to the kernel with each open.
enum class AccessHint : std::uint8_t { none, random, sequential };

/// A size, or a share of the target's.
struct Amount {
  bool given = false;
  std::uint64_t bytes = 0;
  std::uint32_t percent = 0;  ///< Not 0: instead of bytes.
  /// Bytes of `whole`; 0 where not given.
  [[nodiscard]] std::uint64_t of(std::uint64_t whole) const;
};
/// "50G", "20%"; empty: not given. Throws usage_error naming the option.
[[nodiscard]] Amount parse_amount(const std::string& option, const std::string& text);

struct BufferSettings {
  bool zero = false;
  bool refill = false;    ///< New random contents for each write.
  bool scramble = true;   ///< A few words of each 512 bytes change with each write.
  std::string pattern{};  ///< Bytes to repeat; empty: random contents.
};
/// fio's forms: "0xdeadbeef" (bytes in the order written), "\"text\"", "123" (one little-endian
/// number). Throws usage_error.
[[nodiscard]] std::string parse_pattern(const std::string& text);

struct RingSettings {
  unsigned depth = 1;
  unsigned batch = 1;         ///< Requests submitted with one system call.
  unsigned complete_min = 1;  ///< Completions waited for; 0: only looked for.
  unsigned complete_max = 0;  ///< Completions taken at once; 0: as complete_min.
  unsigned low = 0;           ///< A full queue is emptied down to so many; 0: the depth.
  bool fixed_buffers = false;
  bool registered_file = false;
  bool polling_thread = false;
  int polling_cpu = -1;
  int non_vectored = -1;     ///< 1: READ/WRITE, 0: READV/WRITEV, -1: what the kernel knows.
  unsigned force_async = 0;  ///< Every so many requests go to a kernel worker; 0: none.
};

/// Read-only after resolve_jobs().
struct JobSettings {
  std::string name{};
  std::string filename{};
  std::string directory{};
  unsigned count = 1;  ///< numjobs
  bool threads = false;
  bool group_reporting = false;

  Engine engine = Engine::psync;
  bool reads = true;
  bool writes = false;
  bool random = false;
  unsigned read_percent = 100;  ///< Of the operations; 0 to 100.
  std::uint64_t block_bytes = 4096;
  Amount size{};
  Amount offset{};
  Amount io_size{};
  std::uint64_t loops = 1;

  bool direct = false;
  int sync_flag = 0;  ///< 0, O_SYNC or O_DSYNC
  std::uint64_t fsync_every = 0;
  std::uint64_t fdatasync_every = 0;
  bool end_fsync = false;  ///< end_fsync or fsync_on_close
  bool invalidate = true;
  AccessHint hint = AccessHint::sequential;

  bool time_based = false;
  std::int64_t runtime_ns = 0;  ///< 0: until the size is done.
  std::int64_t ramp_ns = 0;
  std::int64_t start_delay_ns = 0;
  double rate_per_second[2] = {0, 0};  ///< Operations of each direction; 0: as fast as possible.
  bool poisson = false;
  std::int64_t think_ns = 0;
  std::int64_t think_spin_ns = 0;  ///< Part of think_ns.
  std::uint64_t think_every = 1;

  bool random_map = true;
  Distribution distribution = Distribution::uniform;
  double skew = 0;     ///< zipf's theta, pareto's h
  bool repeat = true;  ///< randrepeat: each loop over the range has the same order.

  Fallocate fallocate = Fallocate::native;
  bool create_on_open = false;
  bool overwrite = false;
  bool create_fsync = true;
  bool keep_files = false;
  Precondition precondition = Precondition::none;
  BufferSettings buffers{};
  RingSettings ring{};

  CpuSet cpus{};
  bool split_cpus = false;
  int nice = 0;

  [[nodiscard]] bool mixed() const { return reads && writes; }
  [[nodiscard]] bool paced() const { return rate_per_second[0] > 0 || rate_per_second[1] > 0; }
};

/// What holds for the whole trial.
struct TrialSettings {
  std::vector<JobSettings> jobs;
  std::vector<std::string> allowed_devices;  ///< --allow-device-write
  bool destroy_signature = false;
  bool overwrite_existing = false;
  bool read_only = false;
  std::string device_model;  ///< The device's model must contain it; empty: any.
  std::int64_t settle_ns = 0;
  std::int64_t hang_timeout_ns = 0;
};

/// From the options and, where one is named, the job file. Notes go to the frame. Throws
/// usage_error where options contradict each other or need what is not implemented.
[[nodiscard]] TrialSettings resolve_settings(const Options& options, Frame& frame);

}  // namespace krepro::randwrite
