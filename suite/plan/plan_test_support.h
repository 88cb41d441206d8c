// A catalog, machines and shorthand for the tests of plans. Not for anything else.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "suite/catalog/catalog.h"
#include "suite/plan/plan.h"

namespace krepro::test {

inline constexpr const char* hackbench_description = R"json({
    "name": "hackbench", "summary": "s", "roles": ["load"],
    "metrics": [{"name": "seconds", "unit": "s", "better": "lower", "primary": true}],
    "original": {"program": "krepro-no-such-program", "package": "rt-tests",
                 "figures": [{"metric": "seconds", "pattern": "Time: ([0-9.]+)"}]},
    "options": [
      {"name": "groups", "aliases": ["g"], "type": "integer", "default": "10",
       "min": 1, "max": 1e6},
      {"name": "loops", "aliases": ["l"], "type": "integer", "default": "100",
       "min": 1, "max": 1e9},
      {"name": "datasize", "type": "bytes", "default": "100", "min": 1, "max": 1e9},
      {"name": "pipe", "type": "flag"}, {"name": "threads", "type": "flag"},
      {"name": "process", "type": "flag"},
      {"name": "ours", "type": "integer", "default": "0", "origin": "ours"}]})json";

inline constexpr const char* randwrite_description = R"json({
    "name": "randwrite", "summary": "s", "roles": ["load", "serve"], "positional": "filename",
    "metrics": [{"name": "iops", "unit": "1/s", "better": "higher", "primary": true}],
    "options": [
      {"name": "filename", "type": "text"}, {"name": "bs", "type": "bytes", "default": "4k"},
      {"name": "io-depth", "aliases": ["iodepth"], "type": "integer", "default": "1",
       "min": 1, "max": 65536},
      {"name": "ioengine", "type": "choice", "choices": ["psync", "io_uring"],
       "default": "psync"},
      {"name": "direct", "type": "flag", "optional_value": true},
      {"name": "runtime", "type": "duration", "default": "10s", "means": "runtime",
       "plain_unit_ns": 1000000000},
      {"name": "numjobs", "type": "integer", "default": "1", "min": 1, "max": 4096,
       "means": "threads"},
      {"name": "tag", "type": "list"},
      {"name": "thinktime", "type": "duration", "origin": "refused", "help": "pauses"},
      {"name": "group_reporting", "type": "flag", "origin": "ignored",
       "help": "a report's form"}]})json";

/// Two generators as they might describe themselves, one without and one with a server, one that
/// cannot be used, and one that is not built.
inline Catalog catalog() {
  Catalog result;
  result.known_names = {"hackbench", "http", "randwrite"};
  result.generators.push_back(parse_description("hackbench", hackbench_description));
  result.generators.push_back(parse_description("randwrite", randwrite_description));
  result.broken.push_back({"torn", "/x/krepro-torn", "does not print JSON on --describe"});
  return result;
}

inline Machine machine(int cpus = 4) {
  std::vector<int> numbers;
  for (int cpu = 0; cpu < cpus; ++cpu) numbers.push_back(cpu);
  Machine result;
  result.online = CpuSet(numbers);
  result.allowed = result.online;
  for (const int cpu : numbers) result.cores.emplace_back(std::vector<int>{cpu});
  result.llcs = {result.online};
  result.nodes = {{0, result.online}};
  result.packages = {{0, result.online}};
  result.architecture = "x86_64";
  return result;
}

inline Plan plan(const std::string& profile, const PlanSettings& settings = {},
                 const Machine& on = machine()) {
  return make_plan(parse_profile(profile, "mine.toml"), settings, catalog(), on);
}

inline std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> result;
  for (const Benchmark& benchmark : plan.benchmarks) result.push_back(benchmark.name);
  return result;
}

/// The lines of the error that planning ends with; empty where it does not.
inline std::vector<std::string> errors(const std::string& profile,
                                       const PlanSettings& settings = {},
                                       const Machine& on = machine()) {
  try {
    (void)plan(profile, settings, on);
  } catch (const Error& error) {
    std::string text = error.what();
    if (!error.remedy().empty()) text += "; " + error.remedy();
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  return {};
}

}  // namespace krepro::test
