// A plan as a run file has it.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "suite/plan/plan.h"

namespace krepro {

namespace {

nlohmann::json benchmark_json(const Benchmark& benchmark) {
  nlohmann::json json = {{"name", benchmark.name},
                         {"family", benchmark.family},
                         {"generator", benchmark.generator},
                         {"upstream", benchmark.upstream},
                         {"options", benchmark.options}};
  for (const auto& [key, by_role] : {std::pair{"placement", &benchmark.placement},
                                     {"cpus", &benchmark.cpus},
                                     {"pinning", &benchmark.pinning},
                                     {"worker_cpus", &benchmark.worker_cpus},
                                     {"memory", &benchmark.memory},
                                     {"memory_policy", &benchmark.memory_policy},
                                     {"scheduling", &benchmark.scheduling}}) {
    if (!by_role->empty()) json[key] = *by_role;
  }
  if (!benchmark.scaled.empty()) json["scaled"] = benchmark.scaled;
  if (benchmark.expected_seconds > 0) json["expected_seconds"] = benchmark.expected_seconds;
  return json;
}

/// An array, for the order of settings matters: they are applied one after the other.
nlohmann::json settings_json(const std::vector<Setting>& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Setting& each : settings) list.push_back({{"name", each.name}, {"value", each.value}});
  return list;
}

/// Run files are mailed around: what they would have written is checked again.
std::vector<Setting> read_settings(const nlohmann::json& list) {
  std::vector<Setting> settings;
  for (const nlohmann::json& each : list) {
    settings.push_back({each.at("name").get<std::string>(), each.at("value").get<std::string>()});
    check_setting(settings.back());
  }
  return settings;
}

nlohmann::json trial_json(const Trial& trial) {
  nlohmann::json json = {{"benchmark", trial.benchmark}, {"repetition", trial.repetition}};
  if (trial.warmup) json["warmup"] = true;
  if (trial.variant > 0) json["variant"] = trial.variant;
  if (trial.settling) json["settling"] = true;
  return json;
}

nlohmann::json object_at(const nlohmann::json& json, const char* key) {
  nlohmann::json found = json.value(key, nlohmann::json::object());
  if (!found.is_object()) throw usage_error(fmt::format("plan: {} is not an object", key));
  return found;
}

Benchmark read_benchmark(const nlohmann::json& json) {
  Benchmark benchmark;
  benchmark.name = json.at("name").get<std::string>();
  benchmark.family = json.value("family", "");
  benchmark.generator = json.at("generator").get<std::string>();
  benchmark.upstream = json.value("upstream", false);
  benchmark.options = object_at(json, "options");
  benchmark.placement = object_at(json, "placement");
  benchmark.cpus = object_at(json, "cpus");
  benchmark.pinning = object_at(json, "pinning");
  benchmark.worker_cpus = object_at(json, "worker_cpus");
  benchmark.memory = object_at(json, "memory");
  benchmark.memory_policy = object_at(json, "memory_policy");
  benchmark.scheduling = object_at(json, "scheduling");
  benchmark.scaled = json.value("scaled", "");
  benchmark.expected_seconds = json.value("expected_seconds", 0.0);
  return benchmark;
}

/// A count; the library would turn -1 into a large one.
std::uint64_t read_count(const nlohmann::json& json, const char* key) {
  const nlohmann::json& found = json.at(key);
  if (!found.is_number_unsigned()) {
    throw usage_error(fmt::format("plan: {} is {}; expected a count", key, found.dump()));
  }
  return found.get<std::uint64_t>();
}

Trial read_trial(const nlohmann::json& json, std::size_t index, std::size_t benchmarks,
                 std::size_t variants) {
  Trial trial;
  trial.settling = json.value("settling", false);
  if (json.contains("variant")) trial.variant = read_count(json, "variant");
  if (trial.variant >= std::max<std::size_t>(1, variants)) {
    throw usage_error(
        fmt::format("plan: trial {} has settings {} of {}", index, trial.variant, variants));
  }
  trial.index = index;
  trial.benchmark = read_count(json, "benchmark");
  trial.repetition = static_cast<std::int64_t>(read_count(json, "repetition") & 0x7fffffffU);
  trial.warmup = json.value("warmup", false);
  if (trial.benchmark >= benchmarks) {
    throw usage_error(fmt::format("plan: trial {} is of benchmark {}, but there are {}", index,
                                  trial.benchmark, benchmarks));
  }
  return trial;
}

}  // namespace

nlohmann::json to_json(const Plan& plan) {
  nlohmann::json json = {{"title", plan.title},
                         {"profile", plan.profile_name},
                         {"report", plan.report},
                         {"order", to_string(plan.order)},
                         {"seed", plan.seed},
                         {"fitted", plan.fitted},
                         {"benchmarks", nlohmann::json::array()},
                         {"trials", nlohmann::json::array()},
                         {"warnings", plan.warnings},
                         {"skipped", nlohmann::json::array()}};
  for (const Benchmark& each : plan.benchmarks) json["benchmarks"].push_back(benchmark_json(each));
  for (const Trial& each : plan.trials) json["trials"].push_back(trial_json(each));
  if (!plan.settings.empty()) json["settings"] = settings_json(plan.settings);
  for (const Variant& each : plan.variants) {
    json["variants"].push_back(
        {{"suffix", each.suffix}, {"settings", settings_json(each.settings)}});
  }
  for (const SkippedBenchmark& each : plan.skipped) {
    json["skipped"].push_back({{"name", each.name}, {"reason", each.reason}});
  }
  return json;
}

Plan plan_from_json(const nlohmann::json& json) {
  Plan plan;
  try {
    plan.title = json.value("title", "");
    plan.profile_name = json.at("profile").get<std::string>();
    plan.report = json.value("report", "");
    plan.order = parse_order(json.at("order").get<std::string>());
    plan.seed = read_count(json, "seed");
    plan.fitted = json.value("fitted", false);
    for (const nlohmann::json& each : json.at("benchmarks")) {
      plan.benchmarks.push_back(read_benchmark(each));
    }
    plan.settings = read_settings(json.value("settings", nlohmann::json::array()));
    for (const nlohmann::json& each : json.value("variants", nlohmann::json::array())) {
      plan.variants.push_back(
          {each.at("suffix").get<std::string>(), read_settings(each.at("settings"))});
    }
    for (const nlohmann::json& each : json.at("trials")) {
      plan.trials.push_back(
          read_trial(each, plan.trials.size(), plan.benchmarks.size(), plan.variants.size()));
    }
    plan.warnings = json.value("warnings", std::vector<std::string>());
    for (const nlohmann::json& each : json.value("skipped", nlohmann::json::array())) {
      plan.skipped.push_back(
          {each.at("name").get<std::string>(), each.at("reason").get<std::string>()});
    }
  } catch (const nlohmann::json::exception& error) {
    throw usage_error(fmt::format("not a plan: {}", error.what()));
  }
  return plan;
}

}  // namespace krepro
