// Checks of the kernel: scheduler settings, debug options, clocks, tracing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "suite/doctor/checks.h"

namespace krepro {

namespace {

CheckResult autogroup_check(const Patient& patient) {
  const nlohmann::json enabled = item(patient, "scheduler.autogroup");
  if (enabled.is_null()) {
    CheckResult verdict = unseen(patient, "scheduler.autogroup");
    const nlohmann::json config = item(patient, "kernel.config");
    if (config.is_object() && config.value("CONFIG_SCHED_AUTOGROUP", "n") == "n") {
      return fine("not built in");
    }
    return verdict;
  }
  if (enabled == 0) return fine("off");
  return {Weight::note,
          "autogroup is on: each session is a scheduling group of its own, so that a run from "
          "another session or from a service schedules otherwise",
          "sysctl kernel.sched_autogroup_enabled=0"};
}

CheckResult numa_balancing_check(const Patient& patient) {
  const nlohmann::json enabled = item(patient, "scheduler.numa_balancing");
  if (enabled.is_null()) return unseen(patient, "scheduler.numa_balancing");
  if (enabled == 0) return fine("off");
  if (patient.machine->nodes.size() < 2) return fine("on, without effect: one node");
  return {Weight::warning,
          "automatic NUMA balancing is on: tasks and pages move between nodes during trials",
          "sysctl kernel.numa_balancing=0"};
}

CheckResult extension_check(const Patient& patient) {
  const nlohmann::json extension = item(patient, "scheduler.extension");
  if (extension.is_null()) {
    const nlohmann::json config = item(patient, "kernel.config");
    if (config.is_object() && config.value("CONFIG_SCHED_CLASS_EXT", "n") == "n") {
      return fine("sched_ext is not built in");
    }
    return unseen(patient, "scheduler.extension");
  }
  if (extension == "none") return fine("no sched_ext scheduler is loaded");
  return {Weight::problem,
          fmt::format("another scheduler is loaded: {} (sched_ext)", shown_value(extension)),
          "stop the service that loads it (systemctl list-units 'scx*'), or compare it on purpose"};
}

CheckResult debug_options_check(const Patient& patient) {
  const nlohmann::json config = item(patient, "kernel.config");
  if (!config.is_object()) return unseen(patient, "kernel.config");
  constexpr std::array heavy = {"CONFIG_LOCKDEP",       "CONFIG_PROVE_LOCKING",
                                "CONFIG_KASAN",         "CONFIG_KCSAN",
                                "CONFIG_KMSAN",         "CONFIG_DEBUG_LOCK_ALLOC",
                                "CONFIG_LOCK_STAT",     "CONFIG_KMEMLEAK",
                                "CONFIG_SLUB_DEBUG_ON", "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
                                "CONFIG_GCOV_KERNEL",   "CONFIG_DEBUG_OBJECTS"};
  constexpr std::array light = {"CONFIG_DEBUG_PREEMPT",      "CONFIG_DEBUG_VM",
                                "CONFIG_DEBUG_SPINLOCK",     "CONFIG_DEBUG_MUTEXES",
                                "CONFIG_DEBUG_ATOMIC_SLEEP", "CONFIG_UBSAN"};
  const auto set = [&](const auto& names) {
    std::vector<std::string> found;
    for (const char* name : names) {
      if (config.value(name, "n") == "y") found.emplace_back(name);
    }
    return found;
  };
  const std::string other_kernel = "boot a kernel without them";
  if (const auto found = set(heavy); !found.empty()) {
    return {Weight::problem, fmt::format("a debug kernel: {}", fmt::join(found, ", ")),
            other_kernel};
  }
  if (const auto found = set(light); !found.empty()) {
    return {Weight::note, fmt::format("checks are built in: {}", fmt::join(found, ", ")), ""};
  }
  return fine("none is built in");
}

CheckResult time_source_check(const Patient& patient) {
  const nlohmann::json source = item(patient, "kernel.clock_source");
  if (source.is_null()) return unseen(patient, "kernel.clock_source");
  for (const char* quick :
       {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}) {
    if (source == quick) return fine(shown_value(source));
  }
  return {Weight::warning,
          fmt::format("time source {}: reading the clock is a system call, or slow",
                      shown_value(source)),
          "boot with clocksource=tsc tsc=reliable where the hardware allows"};
}

CheckResult tracing_check(const Patient& patient) {
  const nlohmann::json tracer = item(patient, "kernel.tracer");
  if (tracer.is_null()) return unseen(patient, "kernel.tracer");
  if (tracer == "nop") return fine("no tracer");
  return {Weight::problem, fmt::format("tracer {} is active", shown_value(tracer)),
          "echo nop > /sys/kernel/tracing/current_tracer"};
}

CheckResult mitigations_check(const Patient& patient) {
  const nlohmann::json list = item(patient, "kernel.mitigations");
  if (!list.is_object()) return unseen(patient, "kernel.mitigations");
  std::size_t active = 0;
  for (const auto& [name, text] : list.items()) {
    if (text.is_string() && text.get<std::string>().starts_with("Mitigation")) ++active;
  }
  return {Weight::note,
          fmt::format("{} mitigations are active; they must be the same on both sides", active),
          ""};
}

CheckResult schedstats_check(const Patient& patient) {
  const nlohmann::json enabled = item(patient, "scheduler.schedstats");
  if (enabled.is_null()) return unseen(patient, "scheduler.schedstats");
  if (enabled == 0) return fine("off");
  return {Weight::note, "scheduler statistics are on (they cost a little on each wake-up)",
          "sysctl kernel.sched_schedstats=0, or the same on both sides"};
}

CheckResult features_check(const Patient& patient) {
  const nlohmann::json features = item(patient, "scheduler.features");
  if (features.is_null()) return unseen(patient, "scheduler.features");
  return fine("readable: they are in the run file");
}

CheckResult watchdog_check(const Patient& patient) {
  const nlohmann::json enabled = item(patient, "kernel.nmi_watchdog");
  if (enabled.is_null()) return unseen(patient, "kernel.nmi_watchdog");
  if (enabled == 0) return fine("off");
  return {Weight::note, "the NMI watchdog is on: it takes a hardware counter and interrupts CPUs",
          "sysctl kernel.nmi_watchdog=0"};
}

CheckResult preemption_check(const Patient& patient) {
  const nlohmann::json model = item(patient, "kernel.preemption");
  if (model.is_null()) return unseen(patient, "kernel.preemption");
  return {Weight::note, fmt::format("preemption model: {}", shown_value(model)), ""};
}

}  // namespace

std::vector<Check> kernel_checks() {
  return {
      {"scheduler", "it is not the scheduler that the result is about",
       "by construction: all of it", extension_check},
      {"debug-kernel", "locks, allocations and wake-ups cost a multiple",
       "not measured by us; known to be factors, not per cents", debug_options_check},
      {"tracing", "every traced function costs more", "by construction", tracing_check},
      {"time-source", "loads and servers read the clock once or twice per operation",
       "measured on a virtual machine: 20 ns a reading without a system call, 117 ns for the least "
       "system call, more for a slow device",
       time_source_check},
      {"autogroup", "group scheduling changes who is preempted by whom",
       "part of the result's identity: compare only runs with the same setting and from the same "
       "kind of session",
       autogroup_check},
      {"numa-balancing", "page faults and migrations come at times of their own",
       "not measured by us (one node)", numa_balancing_check},
      {"preemption", "it decides when a woken task runs",
       "published: PREEMPT_LAZY halved a pgbench row (98.6k to 50.8k TPS) without huge pages",
       preemption_check},
      {"mitigations", "they cost on every entry into the kernel and every switch",
       "part of the result's identity", mitigations_check},
      {"schedstats", "statistics are written on each wake-up and switch",
       "not measured by us; keep it equal", schedstats_check},
      {"features",
       "a scheduler feature that was thought to be on and was not has spoilt a published "
       "test",
       "published: a tester reported no gain and had to repeat the test", features_check},
      {"nmi-watchdog", "it interrupts each CPU and holds a counter", "small; keep it equal",
       watchdog_check},
  };
}

}  // namespace krepro
