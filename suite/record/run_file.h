// The run file: JSON lines, one file per run, appended and flushed to disk (fdatasync) after every
// trial, so that a crash, a reboot or a full disk costs one trial at most. docs/run-file.md
// explains the lines, docs/schema/run-file.schema.json is the published schema.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "suite/plan/plan.h"

namespace krepro {

inline constexpr int run_file_schema_version = 1;

/// Where run files go unless --out says otherwise.
inline constexpr const char* default_results_directory = "krepro-results";

/// Appends lines to a run file. The file is created exclusively (never overwritten) and locked
/// (flock) against a second writer. A file that never got a whole line is removed again.
class RunFileWriter {
 public:
  /// Creates it, with its directory where that is the default place. Throws usage_error before any
  /// load ("read-only directory", "exists").
  [[nodiscard]] static RunFileWriter create(const std::filesystem::path& path);
  /// Creates DIRECTORY/LABEL-YYYYMMDD-HHMM.jsonl (local time), or the first of ...-2, ...-3 that is
  /// free. `label` is made fit for a file name. The directory is made where it is the default one.
  [[nodiscard]] static RunFileWriter create_named(const std::filesystem::path& directory,
                                                  const std::string& label);
  /// Opens it to go on (--resume): a torn last line is cut off (see cut_text()); everything else
  /// stays. Throws usage_error where it is absent, not writable, or in use by another run.
  [[nodiscard]] static RunFileWriter resume(const std::filesystem::path& path);
  RunFileWriter(RunFileWriter&& other) noexcept;
  RunFileWriter& operator=(RunFileWriter&& other) noexcept;
  ~RunFileWriter();

  /// Writes the line whole and flushes it to disk. On ENOSPC, EFBIG or EIO cuts the file back to
  /// the last whole line and throws an Error (failed).
  void append(const nlohmann::json& line);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
  /// The torn last line that resume() cut off; empty: there was none.
  [[nodiscard]] const std::string& cut_text() const { return cut_text_; }

 private:
  RunFileWriter() = default;
  void close();
  void cut_back();
  int descriptor_ = -1;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;  ///< Of whole lines.
  std::string cut_text_;
  bool created_ = false;
};

/// When a load was released and gave its answer; CLOCK_MONOTONIC, 0: not reached. Not in the line.
struct TrialWindow {
  std::int64_t go_ns = 0;
  std::int64_t sample_ns = 0;
};

/// One `sample` line.
struct RecordedTrial {
  std::string benchmark;
  std::int64_t repetition = 0;
  bool warmup = false;
  std::size_t order = 0;    ///< Trial::index
  std::string boot_id;      ///< Boot in which it ran.
  std::string started;      ///< Wall clock, UTC, for logs only: "2026-11-30T12:46:03Z".
  bool simulated = false;   ///< Of a simulated boot: never evidence about a kernel.
  std::string label;        ///< Where it is not the run's: trials of several labels in one file.
  std::string status;       ///< "valid", "failed", "truncated", "skipped"
  std::string reason;       ///< Why it is not valid; one line.
  nlohmann::json sample;    ///< The generator's sample; null where there is none.
  nlohmann::json server;    ///< The sample of the role `serve`; null where there is none.
  nlohmann::json counters;  ///< Deltas around the trial.
  nlohmann::json settings;  ///< In force, as read back; null where the plan asks for none.
  nlohmann::json harness;   ///< The harness's own cost, in ns (docs/run-file.md).
  TrialWindow window;
  std::string log;  ///< End of what the generator wrote to stderr, where it was not valid.

  [[nodiscard]] bool valid() const { return status == "valid"; }
};

[[nodiscard]] nlohmann::json to_json(const RecordedTrial& trial);
/// Reads a `sample` line. Throws usage_error naming the field that is missing or wrong.
[[nodiscard]] RecordedTrial recorded_trial_from_json(const nlohmann::json& line);

/// A run file read whole.
struct RunFile {
  std::filesystem::path path;
  nlohmann::json run;  ///< the `run` line
  Plan plan;
  std::string label;
  bool simulated = false;
  std::vector<nlohmann::json> boots;  ///< `boot` lines
  std::vector<RecordedTrial> trials;
  std::vector<nlohmann::json> notes;         ///< `note` lines
  std::vector<nlohmann::json> observations;  ///< `observation` lines: trials that a tool watched.
  bool torn = false;                         ///< The last line was torn and left out.

  /// The trials that count, in the order they ran: of one that was run again after an interruption
  /// only the last record.
  [[nodiscard]] std::vector<const RecordedTrial*> final_trials() const;
};

/// Reads a run file. Throws usage_error "FILE:LINE: ..." for a line that is not JSON (other than a
/// torn last one), of another schema version, or not a run file at all.
[[nodiscard]] RunFile read_run_file(const std::filesystem::path& path);
/// The same from text; for tests and fuzzing.
[[nodiscard]] RunFile parse_run_file(const std::string& text, const std::filesystem::path& path);

/// Throws usage_error where the last line is torn: of a run that was cut short in the middle of a
/// line a trial is lost, and only its owner can say that the rest will do.
void require_whole(const RunFile& file);

}  // namespace krepro
