// What several tests of this folder need: a frame without a trial, a temporary directory, and the
// program itself as its users run it. Not part of the generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/generator/generator.h"
#include "common/generator/options.h"
#include "common/process/child.h"
#include "generators/randwrite/randwrite_options.h"

namespace krepro::randwrite {

class TestFrame : public Frame {
 public:
  [[nodiscard]] Role role() const override { return Role::load; }
  [[nodiscard]] std::uint64_t seed() const override { return 1; }
  [[nodiscard]] const std::string& server() const override { return empty_; }
  [[nodiscard]] bool all_threads() const override { return false; }
  void check_interrupted() override {}
  void note(const std::string& text) override { notes.push_back(text); }
  [[nodiscard]] const std::string& program_directory() const override { return empty_; }
  std::vector<std::string> notes;

 private:
  std::string empty_;
};

/// Removed with all that is in it.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(
      const std::filesystem::path& below = std::filesystem::temp_directory_path()) {
    std::string name = (below / "krepro-randwrite-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// The message and remedy of the Error that `action` throws; "" where it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.remedy();
  }
  return {};
}

/// The generator's own table, for Options, which refer to it.
inline const OptionTable& own_table() {
  static const Description description = make_description();
  return description.options;
}

inline Options options_of(const std::vector<std::pair<std::string, std::string>>& given) {
  Options options(own_table());
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

/// Without the line breaks and indents by which messages fit the screen.
inline std::string one_line(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    const char next = c == '\n' ? ' ' : c;
    if (next != ' ' || joined.empty() || joined.back() != ' ') joined.push_back(next);
  }
  return joined;
}

struct ProgramRun {
  int status = -1;
  std::string out;
  std::string err;        ///< On one line.
  nlohmann::json sample;  ///< Null where there is none.
};

/// Runs a program to its end, at most a minute.
inline CommandOutput run_program(const std::vector<std::string>& argv,
                                 const std::filesystem::path& working_directory = {},
                                 const std::vector<std::string>& environment = {}) {
  SpawnRequest request;
  request.argv = argv;
  request.working_directory = working_directory;
  request.environment = environment;
  request.pipe_stdin = false;
  return run_command(request, 60'000'000'000);
}

/// krepro-randwrite with these arguments; the sample is taken from --json.
inline ProgramRun run_randwrite(const std::vector<std::string>& arguments,
                                const std::filesystem::path& working_directory = {},
                                const std::vector<std::string>& environment = {}) {
  const TemporaryDirectory directory;
  std::vector<std::string> argv{KREPRO_RANDWRITE_PROGRAM, "--settle=0",
                                "--json=" + (directory / "sample.json")};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandOutput output = run_program(argv, working_directory, environment);
  ProgramRun run;
  run.status = output.end.exited() ? output.end.exit_code() : -output.end.signal();
  run.out = output.out;
  run.err = one_line(output.err);
  std::ifstream in(directory / "sample.json");
  if (in) run.sample = nlohmann::json::parse(in, nullptr, false);
  return run;
}

}  // namespace krepro::randwrite
