// Extra trials that a tool watches.
#include "suite/execute/observations.h"

#include <fmt/core.h>

#include <cctype>
#include <fstream>

#include "common/base/error.h"

namespace krepro {
namespace {

/// A tool may have gigabytes to write.
constexpr std::int64_t end_grace_ns = 600'000'000'000;
constexpr int most_directories_per_row = 1000;

std::string fit_for_directory(const std::string& row) {
  std::string name;
  for (const char letter : row) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                       std::string_view("._+=-").find(letter) != std::string_view::npos;
    name += plain ? letter : '-';
  }
  return name.empty() || name.front() == '.' ? "row" + name : name;
}

}  // namespace

std::filesystem::path observed_directory(const std::filesystem::path& run_file) {
  std::filesystem::path directory = std::filesystem::absolute(run_file);
  directory.replace_extension(".observed");
  return directory;
}

std::filesystem::path make_observation_directory(const std::filesystem::path& parent,
                                                 const std::string& row) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  for (int attempt = 1; attempt <= most_directories_per_row && !error; ++attempt) {
    const std::filesystem::path directory =
        parent / fmt::format("{}-{}", fit_for_directory(row), attempt);
    if (std::filesystem::create_directory(directory, error)) return directory;
  }
  throw system_error(fmt::format("--observe: cannot make a directory in {}", parent.string()),
                     error.value());
}

nlohmann::json observe_trial(TrialRequest request, const std::string& command,
                             const std::filesystem::path& directory, std::int64_t lead_ns,
                             const Interruption& interruption) {
  Observer observer(fill_observer_command(command, directory), directory, lead_ns);
  request.observer = &observer;
  RecordedTrial record = run_trial(request, interruption);
  const std::string problem = observer.finish(end_grace_ns);
  if (!problem.empty() && record.valid()) {
    record.status = "failed";
    record.reason = problem;
  }
  const nlohmann::json window = {{"clock", "CLOCK_MONOTONIC"},
                                 {"go_ns", record.window.go_ns},
                                 {"sample_ns", record.window.sample_ns},
                                 {"observer_started_ns", observer.life().started_ns},
                                 {"observer_stopped_ns", observer.life().stopped_ns},
                                 {"observer_ended_ns", observer.life().ended_ns}};
  std::ofstream(directory / "window.json") << window.dump(1) << "\n";
  nlohmann::json line = {{"type", "observation"},
                         {"benchmark", record.benchmark},
                         {"status", record.status},
                         {"command", command},
                         {"directory", directory.string()},
                         {"window", window},
                         {"metrics", nlohmann::json::object()}};
  if (!record.reason.empty()) line["reason"] = record.reason;
  // For how much watching cost: never for a mean.
  if (record.sample.is_object() && record.sample.contains("metrics")) {
    line["metrics"] = record.sample["metrics"];
  }
  return line;
}

}  // namespace krepro
