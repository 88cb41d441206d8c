// Runs the built krepro command in a directory of the test's own, as a user would, and looks at
// what it printed and left behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "suite/record/run_file.h"

namespace krepro::test {

struct Outcome {
  int status = -1;  ///< Exit status; 128 + n where a signal ended it.
  std::string out;
  std::string err;
};

/// A command that was started and runs on.
class RunningCommand {
 public:
  RunningCommand(const std::filesystem::path& directory, const std::vector<std::string>& words,
                 bool closed_stdout);
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand();
  void signal(int number) const;
  /// Waits for its end, at most a minute; then it is killed and the test fails.
  Outcome wait();
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::filesystem::path directory_;
};

/// A directory with the test's profiles; removed at its end.
class Workplace {
 public:
  Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_ / name;
  }
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;

  /// Runs `krepro words...` here to its end.
  [[nodiscard]] Outcome krepro(const std::vector<std::string>& words) const;
  /// The run files in krepro-results/, sorted.
  [[nodiscard]] std::vector<std::filesystem::path> results() const;
  /// The only one of them.
  [[nodiscard]] RunFile only_result() const;
  /// Waits until `file` (relative) has `count` sample lines; false after ten seconds.
  [[nodiscard]] bool wait_for_samples(const std::string& file, std::size_t count) const;
  /// Processes whose command line names a generator of this build and which carry this workplace's
  /// mark in their environment: what a run left behind.
  [[nodiscard]] std::vector<pid_t> processes() const;
  /// Waits until there are none; false after ten seconds.
  [[nodiscard]] bool all_gone() const;

 private:
  std::filesystem::path directory_;
};

/// A profile of the null generator in virtual time: instant, and the same figures every time.
[[nodiscard]] std::string instant_profile(int benchmarks, int repetitions);
/// A profile with one row that behaves and one with the options `fault`.
[[nodiscard]] std::string faulty_profile(const std::string& fault);

}  // namespace krepro::test
