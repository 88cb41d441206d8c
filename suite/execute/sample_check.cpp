// Checks of a sample's shape and plausibility.
#include "suite/execute/sample_check.h"

#include <fmt/core.h>

#include <cmath>

#include "common/affinity/cpu_set.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace krepro {
namespace {

using nlohmann::json;

/// Both read the same clock, so only the few microseconds around it may differ.
constexpr std::int64_t clock_slack_ns = 10'000'000;

const json* field(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool is_count(const json* value) {
  return value != nullptr && value->is_number_integer() &&
         (value->is_number_unsigned() || value->get<std::int64_t>() >= 0);
}

/// The null generator can compute its figures instead of living through them, and says so.
bool has_virtual_time(const json& sample) {
  const json* extra = field(sample, "extra");
  const json* said =
      extra != nullptr && extra->is_object() ? field(*extra, "virtual_time") : nullptr;
  return said != nullptr && *said == true;
}

std::string check_metric(const std::string& name, const json& metric,
                         const GeneratorInfo& generator) {
  if (!metric.is_object()) return fmt::format("metric {} is not an object", name);
  const json* value = field(metric, "value");
  // Not-a-number and infinity arrive as null: JSON has no word for them.
  if (value == nullptr || !value->is_number() || !std::isfinite(value->get<double>())) {
    return fmt::format("metric {} is not a finite number", name);
  }
  for (const MetricInfo& known : generator.metrics) {
    if (known.name != name) continue;
    const json* unit = field(metric, "unit");
    if (unit == nullptr || *unit != known.unit) {
      return fmt::format("metric {} is not in {} as its generator's description says", name,
                         known.unit);
    }
    if (known.primary && value->get<double>() < 0) {
      return fmt::format("metric {} is negative", name);
    }
  }
  return {};
}

std::string check_metrics(const json& sample, const GeneratorInfo& generator) {
  const json* metrics = field(sample, "metrics");
  if (metrics == nullptr || !metrics->is_object()) return "it has no metrics";
  for (const auto& [name, metric] : metrics->items()) {
    if (std::string problem = check_metric(name, metric, generator); !problem.empty()) {
      return problem;
    }
  }
  const MetricInfo* primary = generator.primary_metric();
  if (primary != nullptr && !metrics->contains(primary->name)) {
    return fmt::format("its primary metric, {}, is missing", primary->name);
  }
  return {};
}

/// What the plan gives a role; "" where it gives nothing.
struct Wanted {
  std::string cpus;
  bool pinned = false;
  std::string memory;
};

std::string text_in(const json& object, const char* name) {
  const json* found = field(object, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

/// `group`: threads of one kind as the sample read them back.
std::string check_group(const json& group, const Wanted& wanted) {
  const std::string name = text_in(group, "role");
  CpuSet cpus;
  try {
    cpus = CpuSet::parse(text_in(group, "cpus"));
  } catch (const Error&) {
    return fmt::format("the CPUs of its {} threads are no list", name);
  }
  if (cpus.empty()) return {};
  if (!wanted.cpus.empty() && !(cpus - CpuSet::parse(wanted.cpus)).empty()) {
    return fmt::format("its {} threads were allowed on CPUs {} instead of {}", name,
                       cpus.to_string(), wanted.cpus);
  }
  // The process that starts the workers is none.
  if (wanted.pinned && name != "main" && cpus.size() != 1) {
    return fmt::format("its {} threads were allowed on CPUs {} instead of one each", name,
                       cpus.to_string());
  }
  const std::string memory = text_in(group, "memory");
  if (!wanted.memory.empty() && !memory.empty() && memory != wanted.memory) {
    return fmt::format("its {} threads had memory policy {} instead of {}", name, memory,
                       wanted.memory);
  }
  return {};
}

}  // namespace

std::string find_sample_problem(const json& sample, const GeneratorInfo& generator,
                                std::int64_t waited_ns) {
  if (!sample.is_object()) return "it is not an object";
  const json* name = field(sample, "generator");
  if (name == nullptr || *name != generator.name) return "it is not of this generator";
  const json* truncated = field(sample, "truncated");
  if (truncated != nullptr && !truncated->is_boolean()) return "\"truncated\" is not true or false";
  const json* errors = field(sample, "errors");
  if (errors != nullptr && !errors->is_object()) return "\"errors\" is not an object";
  if (!is_count(field(sample, "operations"))) return "\"operations\" is missing or not a count";
  const json* duration = field(sample, "duration_ns");
  if (!is_count(duration)) return "\"duration_ns\" is missing or not a count";
  if (!has_virtual_time(sample) && duration->get<std::int64_t>() > waited_ns + clock_slack_ns) {
    return fmt::format("it says that it ran for {}, but only {} went by",
                       format_duration(duration->get<double>()),
                       format_duration(static_cast<double>(waited_ns)));
  }
  // A trial that was stopped, or that failed by its own words, need not have results.
  if (truncated != nullptr && truncated->get<bool>()) return {};
  if (!find_declared_failure(sample).empty()) return {};
  return check_metrics(sample, generator);
}

std::string find_declared_failure(const json& sample) {
  const json* error = field(sample, "error");
  if (error != nullptr && error->is_string() && !error->get<std::string>().empty()) {
    return error->get<std::string>();
  }
  const json* errors = field(sample, "errors");
  std::string text;
  if (errors != nullptr && errors->is_object()) {
    for (const auto& [kind, count] : errors->items()) {
      if (count.is_number() && count == 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "errors: " : ", ", count.dump(), kind);
    }
  }
  const json* valid = field(sample, "valid");
  if (text.empty() && valid != nullptr && valid->is_boolean() && !valid->get<bool>()) {
    const json* truncated = field(sample, "truncated");
    if (truncated == nullptr || *truncated != true) return "it says that it is not valid";
  }
  return text;
}

std::string find_placement_problem(const json& sample, const Benchmark& benchmark,
                                   const std::string& role) {
  const json* threads = sample.is_object() ? field(sample, "threads") : nullptr;
  if (threads == nullptr || !threads->is_array()) return {};
  Wanted wanted;
  wanted.cpus = benchmark.cpus.value(role, "");
  wanted.pinned = benchmark.worker_cpus.contains(role);
  wanted.memory = benchmark.memory_policy.value(role, "");
  for (const json& group : *threads) {
    if (!group.is_object()) continue;
    if (std::string problem = check_group(group, wanted); !problem.empty()) {
      return fmt::format("{}: {}", role, problem);
    }
  }
  return {};
}

}  // namespace krepro
