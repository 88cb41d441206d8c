// Reading of /proc and of file systems for the check-up.
#include "suite/doctor/host_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "common/process/program.h"
#include "common/timing/clock.h"
#include "suite/counters/host_counters.h"

namespace krepro {

namespace {

constexpr std::size_t busiest_shown = 3;
constexpr std::size_t most_watched_processes = 4096;

std::int64_t option_number(const Benchmark& benchmark, const char* name) {
  const auto found = benchmark.options.find(name);
  if (found == benchmark.options.end()) return 0;
  if (found->is_number_integer()) return found->get<std::int64_t>();
  if (!found->is_string()) return 0;
  const std::string text = found->get<std::string>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// Of the largest row: what the generators check in full when they are set up.
ResourceNeeds needs_of_plan(const Plan& plan) {
  constexpr std::int64_t tasks_of_a_group = 40;
  constexpr std::int64_t descriptors_besides = 64;
  ResourceNeeds needs;
  for (const Benchmark& benchmark : plan.benchmarks) {
    std::int64_t tasks =
        std::max({option_number(benchmark, "threads"), option_number(benchmark, "numjobs"),
                  option_number(benchmark, "workers")});
    tasks = std::max(tasks, option_number(benchmark, "groups") * tasks_of_a_group);
    const std::int64_t open =
        std::max(option_number(benchmark, "connections"), option_number(benchmark, "clients"));
    needs.tasks =
        std::max(needs.tasks, static_cast<std::uint64_t>(std::max<std::int64_t>(tasks, 0)));
    if (open > 0) {
      needs.descriptors =
          std::max(needs.descriptors, static_cast<std::uint64_t>(open + descriptors_besides));
    }
  }
  return needs;
}

std::set<std::string> folders_of(const Plan* plan) {
  std::set<std::string> folders = {std::filesystem::current_path().string()};
  if (plan == nullptr) return folders;
  for (const Benchmark& benchmark : plan->benchmarks) {
    const auto text = [&](const char* name) {
      const auto found = benchmark.options.find(name);
      return found != benchmark.options.end() && found->is_string() ? found->get<std::string>()
                                                                    : std::string();
    };
    if (!text("directory").empty()) folders.insert(text("directory"));
    const std::string file = text("filename");
    if (!file.empty() && !file.starts_with("/dev/")) {
      folders.insert(std::filesystem::absolute(file).parent_path().string());
    }
  }
  return folders;
}

void add_disks(Patient& patient) {
  for (const std::string& folder : folders_of(patient.plan)) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    if (error) continue;
    const std::uint64_t used = space.capacity - space.free;
    patient.disks.push_back({folder, used + space.available, space.available});
  }
}

void add_ports(Patient& patient, const HostFiles& host) {
  std::set<int> named;
  for (const Benchmark& benchmark : patient.plan->benchmarks) {
    const std::int64_t port = option_number(benchmark, "port");
    if (port > 0) named.insert(static_cast<int>(port));
  }
  if (named.empty()) return;
  for (const int port : listening_ports(host)) {
    if (named.contains(port)) patient.taken_ports.push_back(port);
  }
}

void add_tools(Patient& patient, const Catalog& catalog) {
  for (const BrokenGenerator& broken : catalog.broken) {
    patient.missing_tools.push_back(fmt::format("generator {} ({})", broken.name, broken.reason));
  }
  for (const GeneratorInfo& generator : catalog.generators) {
    if (!generator.original.is_object()) continue;
    const std::string program = generator.original.value("program", "");
    if (program.empty() || find_program(program)) continue;
    patient.missing_tools.push_back(fmt::format("{} (package {}; for krepro fidelity {})", program,
                                                generator.original.value("package", "unknown"),
                                                generator.name));
  }
  for (const auto& [program, use] : {std::pair{"perf", "to look at what a kernel does"},
                                     {"nginx", "http rows use krepro's own server without it"}}) {
    const bool there =
        find_program(program, default_search_path() + ":/usr/sbin:/sbin").has_value();
    if (!there) patient.missing_tools.push_back(fmt::format("{} ({})", program, use));
  }
}

/// Of all CPUs together.
CpuTicks cpu_ticks(const HostFiles& host) {
  CpuTicks sum;
  for (const auto& [cpu, ticks] : read_host_counters(host).cpus) {
    sum.busy += ticks.busy;
    sum.total += ticks.total;
  }
  return sum;
}

/// User and system ticks of a process, by pid; the name of each is kept.
std::map<std::string, std::pair<std::string, double>> process_ticks(const HostFiles& host) {
  std::map<std::string, std::pair<std::string, double>> ticks;
  for (const std::string& pid : host.list("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ticks.size() == most_watched_processes) break;
    const std::string text = host.read("/proc/" + pid + "/stat").value_or("");
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    std::istringstream rest(text.substr(close + 1));
    std::string word;
    double user = 0;
    double system = 0;
    for (int field = 0; field < 11 && rest >> word; ++field) {
    }
    if (rest >> user >> system) {
      ticks[pid] = {text.substr(open + 1, close - open - 1), user + system};
    }
  }
  return ticks;
}

}  // namespace

std::vector<int> listening_ports(const HostFiles& host) {
  std::set<int> ports;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(host.read(file).value_or(""));
    std::string line;
    std::getline(lines, line);  // the heading
    while (std::getline(lines, line)) {
      // "0: 0100007F:1F90 00000000:0000 0A ...": local address, remote address, state.
      std::istringstream words(line);
      std::string number;
      std::string local;
      std::string remote;
      std::string state;
      if (!(words >> number >> local >> remote >> state) || state != "0A") continue;
      const std::string digits = local.substr(local.rfind(':') + 1);
      int port = 0;
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), port, 16);
      if (error == std::errc()) ports.insert(port);
    }
  }
  return {ports.begin(), ports.end()};
}

void add_host_facts(Patient& patient, const Catalog& catalog, const HostFiles& host) {
  add_disks(patient);
  add_tools(patient, catalog);
  if (patient.plan == nullptr) return;
  add_ports(patient, host);
  patient.shortfalls = find_shortfalls(needs_of_plan(*patient.plan), host);
}

void add_busy_cpus(Patient& patient, std::int64_t duration_ns, const HostFiles& host) {
  const CpuTicks before = cpu_ticks(host);
  const auto processes_before = process_ticks(host);
  const std::int64_t start_ns = now_ns();
  sleep_until_ns(start_ns + duration_ns);
  const CpuTicks after = cpu_ticks(host);
  if (after.total <= before.total || after.busy < before.busy) return;
  const double share = static_cast<double>(after.busy - before.busy) /
                       static_cast<double>(after.total - before.total);
  patient.busy_cpus = share * static_cast<double>(patient.machine->online.size());
  std::vector<std::pair<double, std::string>> busiest;
  for (const auto& [pid, now] : process_ticks(host)) {
    const auto then = processes_before.find(pid);
    const double used = now.second - (then == processes_before.end() ? 0 : then->second.second);
    if (used > 0 && pid != std::to_string(getpid())) busiest.emplace_back(used, now.first);
  }
  std::sort(busiest.rbegin(), busiest.rend());
  const double tick_seconds = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  for (std::size_t i = 0; i < std::min(busiest_shown, busiest.size()); ++i) {
    const double cpus =
        busiest[i].first * tick_seconds / (static_cast<double>(now_ns() - start_ns) / 1e9);
    patient.busy_programs.push_back(fmt::format("{} {:.2f}", busiest[i].second, cpus));
  }
}

}  // namespace krepro
