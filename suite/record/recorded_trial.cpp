// A `sample` line to and from JSON.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "suite/record/run_file.h"

namespace krepro {
namespace {

constexpr std::array<std::string_view, 4> statuses = {"valid", "failed", "truncated", "skipped"};

std::string text_field(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_string()) {
    throw usage_error(fmt::format("\"{}\" of a sample line is missing or not a string", name));
  }
  return found->get<std::string>();
}

std::string optional_text(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t count_field(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  // A line that was parsed has its counts as unsigned numbers; one made by the program has not.
  if (found == line.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0) {
    throw usage_error(fmt::format("\"{}\" of a sample line is missing or not a count", name));
  }
  return found->get<std::int64_t>();
}

bool optional_flag(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_boolean() && found->get<bool>();
}

nlohmann::json optional_object(const nlohmann::json& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_object() ? *found : nlohmann::json();
}

}  // namespace

nlohmann::json to_json(const RecordedTrial& trial) {
  nlohmann::json line = {{"type", "sample"},
                         {"benchmark", trial.benchmark},
                         {"repetition", trial.repetition},
                         {"warmup", trial.warmup},
                         {"order", trial.order},
                         {"boot_id", trial.boot_id},
                         {"started", trial.started},
                         {"status", trial.status},
                         {"sample", trial.sample},
                         {"counters", trial.counters},
                         {"harness", trial.harness}};
  if (!trial.reason.empty()) line["reason"] = trial.reason;
  if (!trial.log.empty()) line["log"] = trial.log;
  if (!trial.server.is_null()) line["server"] = trial.server;
  if (!trial.settings.is_null()) line["settings"] = trial.settings;
  if (trial.simulated) line["simulated"] = true;
  if (!trial.label.empty()) line["label"] = trial.label;
  return line;
}

RecordedTrial recorded_trial_from_json(const nlohmann::json& line) {
  RecordedTrial trial;
  trial.benchmark = text_field(line, "benchmark");
  trial.repetition = count_field(line, "repetition");
  trial.warmup = optional_flag(line, "warmup");
  trial.order = static_cast<std::size_t>(count_field(line, "order"));
  trial.boot_id = text_field(line, "boot_id");
  trial.started = optional_text(line, "started");
  trial.simulated = optional_flag(line, "simulated");
  trial.label = optional_text(line, "label");
  trial.status = text_field(line, "status");
  if (std::find(statuses.begin(), statuses.end(), trial.status) == statuses.end()) {
    throw usage_error(fmt::format("\"{}\" is not a status of a trial", trial.status));
  }
  trial.reason = optional_text(line, "reason");
  trial.log = optional_text(line, "log");
  trial.sample = optional_object(line, "sample");
  trial.server = optional_object(line, "server");
  trial.counters = optional_object(line, "counters");
  trial.settings = optional_object(line, "settings");
  trial.harness = optional_object(line, "harness");
  if (trial.valid() && trial.sample.is_null()) {
    throw usage_error("a valid trial without a sample");
  }
  return trial;
}

std::vector<const RecordedTrial*> RunFile::final_trials() const {
  // Simulated boots run the whole plan each; a run that went on after a reboot runs every trial
  // once, in whatever boot.
  using Key = std::pair<std::string, std::size_t>;
  std::map<Key, std::size_t> last;
  const auto key_of = [this](const RecordedTrial& trial) {
    return Key(simulated ? trial.boot_id : std::string(), trial.order);
  };
  for (std::size_t i = 0; i < trials.size(); ++i) last[key_of(trials[i])] = i;
  std::vector<const RecordedTrial*> result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (last.at(key_of(trials[i])) == i) result.push_back(&trials[i]);
  }
  return result;
}

}  // namespace krepro
