#include "suite/imports/foreign_results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/base/error.h"

namespace krepro {
namespace {

using nlohmann::json;

/// More is no output of one run.
constexpr std::uintmax_t largest_file_bytes = 64U << 20U;

/// Text between `before` and the end of its line; every occurrence at the start of a line (white
/// space before it is skipped).
std::vector<std::string> lines_after(const std::string& text, const std::string& before) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line.compare(start, before.size(), before) != 0) continue;
    std::string rest = line.substr(start + before.size());
    while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.back())) != 0) {
      rest.pop_back();
    }
    found.push_back(rest);
  }
  return found;
}

/// The one line that starts with `before`.
std::string one_line_after(const std::string& text, const std::string& before,
                           const std::string& name) {
  const std::vector<std::string> found = lines_after(text, before);
  if (found.size() == 1) return found.front();
  if (found.empty()) throw usage_error(fmt::format("{}: no line \"{}...\"", name, before));
  throw usage_error(
      fmt::format("{}: {} runs in one file; one file per run is expected", name, found.size()));
}

/// The number at the start of `text`.
double leading_number(const std::string& text, const std::string& what, const std::string& name) {
  const char* start = text.c_str();
  char* end = nullptr;
  const double value = std::strtod(start, &end);
  if (end == start || !std::isfinite(value)) {
    throw usage_error(
        fmt::format("{}: {} is not a number: \"{}\"", name, what, text.substr(0, 40)));
  }
  return value;
}

/// The part of `text` between two marks; empty where either is absent.
std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t start = text.find(from);
  if (start == std::string::npos) return {};
  const std::size_t end = text.find(to, start + from.size());
  if (end == std::string::npos) return {};
  return text.substr(start + from.size(), end - start - from.size());
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

ForeignResult parse_hackbench(const std::string& text, const std::string& name) {
  const bool threads = contains(text, "in threaded mode");
  ForeignResult result{"hackbench", "", "seconds", "s", false, 0, ""};
  result.row = fmt::format(
      "{} g={} fds={} loops={} size={}", threads ? "thread" : "process",
      between(text, "mode with ", " groups"), between(text, "groups using ", " file descriptors"),
      between(text, "will pass ", " messages"), between(text, "messages of ", " bytes"));
  result.value = leading_number(one_line_after(text, "Time:", name), "Time", name);
  return result;
}

ForeignResult parse_perf_bench(const std::string& text, const std::string& name) {
  ForeignResult result{"perf bench", "", "seconds", "s", false, 0, ""};
  const std::string title = between(text, "# Running '", "'");
  const std::string groups = between(text, "per group\n# ", " groups");
  const bool threads = contains(text, "receiver threads");
  result.row = title.empty() ? "sched messaging" : title;
  if (!groups.empty()) {
    result.row += fmt::format(" {} g={}", threads ? "thread" : "process", groups);
  }
  result.value = leading_number(one_line_after(text, "Total time:", name), "Total time", name);
  // Benchmarks that count operations: the time has three digits only, the time per operation six.
  const std::size_t per_operation = text.find(" usecs/op");
  if (per_operation == std::string::npos) return result;
  const std::size_t start = text.rfind('\n', per_operation) + 1;
  result.metric = "time per operation";
  result.unit = "us";
  result.value = leading_number(text.substr(start, per_operation - start), "usecs/op", name);
  if (const std::string count = between(text, "# Executed ", " "); !count.empty()) {
    result.row += " n=" + count;
  }
  return result;
}

ForeignResult parse_pgbench(const std::string& text, const std::string& name) {
  const auto setting = [&](const char* before) {
    const std::vector<std::string> found = lines_after(text, before);
    return found.empty() ? std::string("?") : found.front();
  };
  ForeignResult result{"pgbench", "", "tps", "1/s", true, 0, ""};
  std::string type = setting("transaction type: ");
  if (const std::string builtin = between(type, "<builtin: ", ">"); !builtin.empty()) {
    type = builtin;
  }
  result.row = fmt::format("{} scale={} c={} j={} {}", type, setting("scaling factor: "),
                           setting("number of clients: "), setting("number of threads: "),
                           setting("query mode: "));
  // Before version 14 there is a second line, "including connections establishing".
  std::vector<std::string> rates = lines_after(text, "tps = ");
  if (rates.size() == 2) {
    std::erase_if(rates, [](const std::string& rate) { return contains(rate, "including"); });
  }
  if (rates.empty()) throw usage_error(fmt::format("{}: no line \"tps = ...\"", name));
  if (rates.size() > 1) {
    throw usage_error(
        fmt::format("{}: {} runs in one file; one file per run is expected", name, rates.size()));
  }
  result.value = leading_number(rates.front(), "tps", name);
  const std::vector<std::string> failed = lines_after(text, "number of failed transactions: ");
  if (!failed.empty() && leading_number(failed.front(), "failed transactions", name) > 0) {
    result.failure = "failed transactions: " + failed.front();
  }
  return result;
}

ForeignResult parse_wrk(const std::string& text, const std::string& name) {
  ForeignResult result{"wrk", "", "requests", "1/s", true, 0, ""};
  std::string url = between(text, "test @ ", "\n");
  // The path and the scheme are the load; the address is the lab's.
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  result.row =
      fmt::format("{} {} t={} c={}", url.substr(0, std::min(host, url.size())),
                  path == std::string::npos ? "/" : url.substr(path),
                  between(text, "\n  ", " threads"), between(text, "threads and ", " connections"));
  result.value = leading_number(one_line_after(text, "Requests/sec:", name), "Requests/sec", name);
  const std::vector<std::string> socket_errors = lines_after(text, "Socket errors: ");
  const std::vector<std::string> refused = lines_after(text, "Non-2xx or 3xx responses: ");
  if (!socket_errors.empty()) result.failure = "socket errors: " + socket_errors.front();
  if (!refused.empty()) result.failure = "responses that are not 2xx or 3xx: " + refused.front();
  return result;
}

std::vector<ForeignResult> parse_fio(const std::string& text, const std::string& name) {
  // Notes may stand before the JSON.
  const json root = json::parse(text.substr(text.find('{')), nullptr, false);
  if (root.is_discarded() || !root.is_object()) {
    throw usage_error(fmt::format("{}: looks like fio's JSON, but is not whole", name));
  }
  const auto jobs = root.find("jobs");
  if (jobs == root.end() || !jobs->is_array() || jobs->empty()) {
    throw usage_error(fmt::format("{}: fio's JSON without jobs", name));
  }
  std::vector<ForeignResult> results;
  for (const json& job : *jobs) {
    if (!job.is_object()) throw usage_error(fmt::format("{}: a job is not an object", name));
    const std::string job_name =
        job.contains("jobname") && job["jobname"].is_string() ? job["jobname"] : json("job");
    for (const char* direction : {"read", "write", "trim"}) {
      const auto part = job.find(direction);
      if (part == job.end() || !part->is_object()) continue;
      const auto operations = part->find("total_ios");
      if (operations == part->end() || !operations->is_number() || *operations == 0) continue;
      const auto rate = part->find("iops");
      if (rate == part->end() || !rate->is_number()) {
        throw usage_error(fmt::format("{}: iops of {} is not a number", name, direction));
      }
      ForeignResult result{"fio", job_name + " " + direction, "iops", "1/s",
                           true,  rate->get<double>(),        ""};
      const auto error = job.find("error");
      if (error != job.end() && error->is_number() && *error != 0) {
        result.failure = fmt::format("fio reports error {}", error->dump());
      }
      results.push_back(result);
    }
  }
  if (results.empty()) throw usage_error(fmt::format("{}: fio did no operation", name));
  return results;
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error && size > largest_file_bytes) {
    throw usage_error(
        fmt::format("{}: {} bytes: too large for the output of one run", path.string(), size));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw system_error(fmt::format("cannot read {}", path.string()), errno);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Grows a RunFacts file by file.
class Importer {
 public:
  explicit Importer(const std::string& label) { facts_.label = label; }

  void add_file(const std::filesystem::path& file, const std::string& boot) {
    for (const ForeignResult& result : parse_foreign(read_text(file), file.string())) {
      add(result, boot, file);
    }
  }

  void add_boot(const std::string& boot) { facts_.boots.push_back({boot, "", "", false, {}}); }

  RunFacts finish() { return std::move(facts_); }

 private:
  void add(const ForeignResult& result, const std::string& boot,
           const std::filesystem::path& file) {
    facts_.foreign = result.tool;
    TrialFacts trial;
    trial.benchmark = benchmark_of(result, file);
    trial.order = facts_.trials.size();
    trial.repetition = repetitions_[{boot, trial.benchmark}]++;
    trial.boot_id = boot;
    trial.value = result.value;
    trial.counts = result.failure.empty();
    trial.reason = result.failure;
    facts_.trials.push_back(trial);
  }

  std::size_t benchmark_of(const ForeignResult& result, const std::filesystem::path& file) {
    const std::string name = result.tool + " " + result.row;
    for (std::size_t i = 0; i < facts_.benchmarks.size(); ++i) {
      if (facts_.benchmarks[i].name != name) continue;
      if (facts_.benchmarks[i].unit != result.unit) {
        throw usage_error(fmt::format("mixed units: \"{}\" is in {} in {}, and in {} before", name,
                                      result.unit, file.string(), facts_.benchmarks[i].unit));
      }
      return i;
    }
    BenchmarkFacts benchmark;
    benchmark.name = name;
    benchmark.generator = result.tool;
    benchmark.family = fmt::format("{}, {} ({} is better)", result.tool, result.metric,
                                   result.higher_is_better ? "higher" : "lower");
    benchmark.metric = result.metric;
    benchmark.unit = result.unit;
    benchmark.higher_is_better = result.higher_is_better;
    facts_.benchmarks.push_back(benchmark);
    facts_.details.emplace_back();
    return facts_.benchmarks.size() - 1;
  }

  RunFacts facts_;
  std::map<std::pair<std::string, std::size_t>, std::int64_t> repetitions_;
};

std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!entry.path().filename().string().starts_with(".")) entries.push_back(entry.path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

std::vector<ForeignResult> parse_foreign(const std::string& text, const std::string& name) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw usage_error(fmt::format("{}: is empty", name));
  }
  if (contains(text, "\"fio version\"") && contains(text, "{")) return parse_fio(text, name);
  if (contains(text, "tps = ") || contains(text, "transaction type:")) {
    return {parse_pgbench(text, name)};
  }
  if (contains(text, "test @ ") && contains(text, "threads and ")) return {parse_wrk(text, name)};
  if (contains(text, "Running in ") && contains(text, "file descriptors each")) {
    return {parse_hackbench(text, name)};
  }
  if (contains(text, "Total time:") && contains(text, "# ")) {
    return {parse_perf_bench(text, name)};
  }
  throw usage_error(
      fmt::format("{}: neither a run file of krepro (*.jsonl) nor output of fio "
                  "(--output-format=json), hackbench, perf bench, pgbench or wrk",
                  name));
}

RunFacts import_directory(const std::filesystem::path& directory, const std::string& label) {
  Importer importer(label);
  bool any_file = false;
  for (const std::filesystem::path& entry : sorted_entries(directory)) {
    const bool is_boot = std::filesystem::is_directory(entry);
    const std::string boot = is_boot ? label + "/" + entry.filename().string() : label;
    importer.add_boot(boot);
    if (!is_boot) {
      importer.add_file(entry, boot);
      any_file = true;
      continue;
    }
    for (const std::filesystem::path& file : sorted_entries(entry)) {
      if (!std::filesystem::is_regular_file(file)) continue;
      importer.add_file(file, boot);
      any_file = true;
    }
  }
  if (!any_file) {
    throw usage_error(fmt::format("{}: no results in this directory", directory.string()),
                      "run files end in .jsonl; foreign results lie one file per run in a "
                      "directory per label (docs/comparing.md)");
  }
  RunFacts facts = importer.finish();
  facts.path = directory;
  return facts;
}

}  // namespace krepro
