// The run file: JSON lines, one file per run, appended and flushed to disk (fdatasync) after every
// trial, so that a crash, a reboot or a full disk costs one trial at most. docs/run-file.md
// explains the lines, docs/schema/run-file.schema.json is the published schema.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "suite/plan/plan.h"

namespace krepro {

inline constexpr int run_file_schema_version = 1;

/// Appends lines to a run file. The file is created exclusively (never overwritten) and locked
/// (flock) against a second writer.
class RunFileWriter {
 public:
  /// Creates it, with its directory where that is the default place. Throws usage_error before any
  /// load ("read-only directory", "exists").
  [[nodiscard]] static RunFileWriter create(const std::filesystem::path& path);
  /// Opens it to go on (--resume): a torn last line is cut off (and said); everything else stays.
  [[nodiscard]] static RunFileWriter resume(const std::filesystem::path& path);
  RunFileWriter(RunFileWriter&& other) noexcept;
  RunFileWriter& operator=(RunFileWriter&& other) noexcept;
  ~RunFileWriter();

  /// Writes the line whole and flushes it to disk. On ENOSPC or EIO cuts the file back to the last
  /// whole line and throws an Error (failed).
  void append(const nlohmann::json& line);
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  RunFileWriter() = default;
  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// One `sample` line.
struct RecordedTrial {
  std::string benchmark;
  std::int64_t repetition = 0;
  bool warmup = false;
  std::size_t order = 0;    ///< Trial::index
  std::string boot_id;      ///< Boot in which it ran.
  std::string status;       ///< "valid", "failed", "truncated", "skipped"
  std::string reason;       ///< Why it is not valid; one line.
  nlohmann::json sample;    ///< The generator's sample; null where there is none.
  nlohmann::json counters;  ///< Deltas around the trial.
  nlohmann::json harness;   ///< The harness's own cost: start-up, counters, flush, in ns.
};

/// A run file read whole.
struct RunFile {
  std::filesystem::path path;
  nlohmann::json run;  ///< the `run` line
  Plan plan;
  std::string label;
  bool simulated = false;
  std::vector<nlohmann::json> boots;  ///< `boot` lines
  std::vector<RecordedTrial> trials;
  std::vector<nlohmann::json> notes;  ///< `note` lines
  bool torn = false;                  ///< The last line was torn and left out.
};

/// Reads a run file. Throws usage_error "FILE:LINE: ..." for a line that is not JSON (other than a
/// torn last one), of another schema version, or not a run file at all.
[[nodiscard]] RunFile read_run_file(const std::filesystem::path& path);
/// The same from text; for tests and fuzzing.
[[nodiscard]] RunFile parse_run_file(const std::string& text, const std::filesystem::path& path);

}  // namespace krepro
