// Checks of the CPUs: clocks, idle states, siblings, heat, and who else is using them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "suite/doctor/checks.h"

namespace krepro {

namespace {

CheckResult governor_check(const Patient& patient) {
  const nlohmann::json governor = item(patient, "cpu.governor");
  if (governor.is_null()) return unseen(patient, "cpu.governor");
  if (!differs_from(governor, "performance")) return fine("performance");
  return {Weight::warning, fmt::format("CPU frequency governor is {}", shown_value(governor)),
          "cpupower frequency-set -g performance"};
}

CheckResult turbo_check(const Patient& patient) {
  const nlohmann::json boost = item(patient, "cpu.boost");
  if (boost.is_null()) return unseen(patient, "cpu.boost");
  if (boost == 0) return fine("off");
  return {Weight::warning,
          "turbo (boost) is on: clocks depend on heat and on how many CPUs are busy",
          "echo 0 > /sys/devices/system/cpu/cpufreq/boost   (intel_pstate: echo 1 > "
          "/sys/devices/system/cpu/intel_pstate/no_turbo)"};
}

CheckResult clocks_check(const Patient& patient) {
  const nlohmann::json low = item(patient, "cpu.frequency_min_khz");
  const nlohmann::json high = item(patient, "cpu.frequency_max_khz");
  if (high.is_null()) return unseen(patient, "cpu.frequency_max_khz");
  if (high.is_object()) {
    return {Weight::note, fmt::format("CPUs have different highest clocks: {}", shown_value(high)),
            "place both sides on CPUs of one kind: krepro topology"};
  }
  return fine(fmt::format("{} to {} kHz", shown_value(low), shown_value(high)));
}

CheckResult siblings_check(const Patient& patient) {
  const nlohmann::json active = item(patient, "cpu.smt_active");
  if (active.is_null() && !patient.machine->has_topology())
    return unseen(patient, "cpu.smt_active");
  const bool smt = active.is_boolean() ? active.get<bool>() : patient.machine->smt();
  if (!smt) return fine("no SMT, or it is off");
  return {Weight::note, "SMT is on: two CPUs of a core share its units",
          "placement = \"one-per-core\", or echo off > /sys/devices/system/cpu/smt/control"};
}

CheckResult idle_states_check(const Patient& patient) {
  constexpr std::int64_t deep_us = 50;
  const nlohmann::json states = item(patient, "cpu.idle_states");
  const nlohmann::json request = item(patient, "cpu.latency_request_us");
  if (!states.is_array()) {
    const nlohmann::json driver = item(patient, "cpu.idle_driver");
    if (driver == "none") return fine("no idle driver: CPUs halt only");
    CheckResult verdict = unseen(patient, "cpu.idle_states");
    if (driver.is_string()) {
      verdict.text += fmt::format("; the driver is {}", driver.get<std::string>());
    }
    return verdict;
  }
  std::int64_t deepest_us = 0;
  std::string deepest;
  for (const nlohmann::json& state : states) {
    const auto latency_us = state.value("latency_us", std::int64_t{0});
    if (state.value("disabled", 0) != 0 || latency_us <= deepest_us) continue;
    deepest_us = latency_us;
    deepest = state.value("name", "");
  }
  if (request.is_number_integer()) deepest_us = std::min(deepest_us, request.get<std::int64_t>());
  if (deepest_us < deep_us) return fine(fmt::format("leaving the deepest takes {} us", deepest_us));
  return {Weight::warning, fmt::format("idle state {} takes {} us to leave", deepest, deepest_us),
          "cpupower idle-set -D 50, or hold /dev/cpu_dma_latency open with 0"};
}

CheckResult haltpoll_check(const Patient& patient) {
  const nlohmann::json governor = item(patient, "cpu.idle_governor");
  if (governor.is_null()) return unseen(patient, "cpu.idle_governor");
  if (governor != "haltpoll") return fine(shown_value(governor));
  return {Weight::note,
          "idle governor haltpoll: CPUs that have nothing to do poll for a while before they halt",
          "echo menu > /sys/devices/system/cpu/cpuidle/current_governor"};
}

CheckResult throttling_check(const Patient& patient) {
  const nlohmann::json count = item(patient, "cpu.throttle_count");
  if (!count.is_number()) return unseen(patient, "cpu.throttle_count");
  if (count == 0) return fine("never since boot");
  return {Weight::warning,
          fmt::format("CPUs were throttled for heat {} times since boot", shown_value(count)),
          "let it cool down, mend the cooling, or cap the clocks: cpupower frequency-set -u FREQ"};
}

CheckResult busy_check(const Patient& patient) {
  const double cpus = static_cast<double>(patient.machine->allowed.size());
  const std::string who =
      patient.busy_programs.empty()
          ? ""
          : fmt::format(", the busiest: {}", fmt::join(patient.busy_programs, ", "));
  if (patient.busy_cpus) {
    const std::string text =
        fmt::format("other work takes {:.2f} of {} CPUs just now{}", *patient.busy_cpus, cpus, who);
    if (*patient.busy_cpus > 0.1 * cpus) {
      return {Weight::problem, text, "end it, or wait: top -1"};
    }
    if (*patient.busy_cpus > 0.02 * cpus) return {Weight::warning, text, "top -1 shows it"};
    return fine(text);
  }
  const nlohmann::json load = item(patient, "load.average_1min");
  if (!load.is_number()) return unseen(patient, "load.average_1min");
  if (load.get<double>() <= 0.25 * cpus) return fine(fmt::format("load average {}", load.dump()));
  return {
      Weight::warning,
      fmt::format("load average is {} on {} CPU{} at the start: something else is running here, "
                  "or was a minute ago",
                  load.dump(), cpus, cpus == 1 ? "" : "s"),
      "end it, or wait: top -1"};
}

CheckResult offline_check(const Patient& patient) {
  const Machine& machine = *patient.machine;
  if (machine.offline.empty()) return fine("none is offline");
  return {
      Weight::warning,
      (machine.offline.size() == 1 ? "CPU " : "CPUs ") + machine.offline.to_string() +
          (machine.offline.size() == 1 ? " is offline" : " are offline"),
      fmt::format("echo 1 > /sys/devices/system/cpu/cpu{}/online", machine.offline.cpus().front())};
}

CheckResult allowed_check(const Patient& patient) {
  const Machine& machine = *patient.machine;
  if (machine.allowed == machine.online) return fine("all online CPUs may be used");
  return {Weight::warning,
          fmt::format("only CPUs {} of {} may be used (taskset or cpuset)",
                      machine.allowed.to_string(), machine.online.to_string()),
          "start krepro without taskset, or widen the cpuset"};
}

CheckResult isolation_check(const Patient& patient) {
  const nlohmann::json isolated = item(patient, "cpu.isolated");
  if (isolated.is_string()) {
    return {Weight::warning,
            fmt::format("CPUs {} are isolated: the scheduler does not balance onto them",
                        isolated.get<std::string>()),
            "leave them out of placements, or boot without isolcpus"};
  }
  // The file is always there, and empty where none is.
  const nlohmann::json entry = patient.environment.value("cpu.isolated", nlohmann::json::object());
  return entry.value("reason", "") == "empty" ? fine("no CPU is isolated")
                                              : unseen(patient, "cpu.isolated");
}

}  // namespace

std::vector<Check> cpu_checks() {
  return {
      {"busy", "other work takes CPU time, caches and wake-ups from the load",
       "by construction: a share of the CPUs as large as the other work, and more in rows that "
       "wait "
       "for their slowest task",
       busy_check},
      {"allowed", "a load that may not use all CPUs is another load",
       "by construction: the published rows used all CPUs", allowed_check},
      {"offline", "the scheduler's domains are built of online CPUs only",
       "by construction: fewer CPUs, other domains", offline_check},
      {"governor", "clocks follow the load, so that a kernel which idles more runs at lower clocks",
       "not measured by us; at partial load up to the ratio of the highest to the lowest clock",
       governor_check},
      {"turbo", "clocks depend on heat and on how many CPUs are busy, and drift within a run",
       "not measured by us; up to the ratio of turbo to base clock", turbo_check},
      {"clocks", "equal work takes unequal time on unequal CPUs",
       "by construction: the ratio of the clocks", clocks_check},
      {"smt", "where the scheduler puts two tasks, on one core or on two, decides their speed",
       "part of the result's identity: compare only runs with the same setting", siblings_check},
      {"idle-states", "a CPU that has to wake up adds its exit latency to each wake-up",
       "up to the exit latency per wake-up; low rates look slower than high ones for it",
       idle_states_check},
      {"haltpoll", "a polling CPU answers a wake-up at once, a halted one does not",
       "measured on a 2-CPU virtual machine: a wake-up across CPUs took 20 us each way, and rows "
       "with few tasks had two modes",
       haltpoll_check},
      {"throttling", "a CPU that is too hot is slowed down, and others are not",
       "not measured by us; as much as the clock falls", throttling_check},
      {"isolation", "the load runs on fewer CPUs than it seems", "by construction",
       isolation_check},
  };
}

}  // namespace krepro
