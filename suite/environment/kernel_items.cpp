// Items about the running kernel: which one it is, how it was built and started.
#include <fmt/core.h>

#include <array>
#include <cerrno>
#include <map>
#include <sstream>

#include "common/base/error.h"
#include "suite/bundle/archive.h"
#include "suite/environment/findings.h"

namespace krepro {
namespace {

Finding build_id_item(const HostFiles& host) {
  const std::string path = "/sys/kernel/notes";
  int error_number = 0;
  if (!host.read(path, &error_number)) return not_found(reason_text(error_number), path);
  const std::string id = kernel_build_id(host);
  if (id.empty()) return not_found("no build id among the notes", path);
  return found(id, path);
}

/// Of the preemption model the kernel tells in debugfs; without that the version text says what it
/// was built with.
Finding preemption_item(const HostFiles& host) {
  Finding debug = chosen_of(host, "/sys/kernel/debug/sched/preempt");
  if (!debug.value.is_null()) return debug;
  const std::string version = host.read_line("/proc/sys/kernel/version").value_or("");
  for (const char* word : {"PREEMPT_RT", "PREEMPT_DYNAMIC", "PREEMPT_LAZY", "PREEMPT"}) {
    if (version.find(word) != std::string::npos) {
      return found(word, "/proc/sys/kernel/version (" + debug.source + ": " + debug.reason + ")");
    }
  }
  if (!version.empty()) return found("none or voluntary", "/proc/sys/kernel/version");
  return debug;
}

/// The build options that shape the loads most; all of them would be too many lines here.
constexpr std::array shaping_options = {"CONFIG_HZ",
                                        "CONFIG_PREEMPT_NONE",
                                        "CONFIG_PREEMPT_VOLUNTARY",
                                        "CONFIG_PREEMPT",
                                        "CONFIG_PREEMPT_LAZY",
                                        "CONFIG_PREEMPT_RT",
                                        "CONFIG_PREEMPT_DYNAMIC",
                                        "CONFIG_NO_HZ_IDLE",
                                        "CONFIG_NO_HZ_FULL",
                                        "CONFIG_SCHEDSTATS",
                                        "CONFIG_SCHED_AUTOGROUP",
                                        "CONFIG_SCHED_CORE",
                                        "CONFIG_SCHED_CLUSTER",
                                        "CONFIG_SCHED_MC",
                                        "CONFIG_SCHED_SMT",
                                        "CONFIG_SCHED_CLASS_EXT",
                                        "CONFIG_SCHED_CACHE",
                                        "CONFIG_FAIR_GROUP_SCHED",
                                        "CONFIG_RT_GROUP_SCHED",
                                        "CONFIG_CFS_BANDWIDTH",
                                        "CONFIG_UCLAMP_TASK",
                                        "CONFIG_NUMA",
                                        "CONFIG_NUMA_BALANCING",
                                        "CONFIG_NUMA_BALANCING_DEFAULT_ENABLED",
                                        "CONFIG_PSI",
                                        "CONFIG_PSI_DEFAULT_DISABLED",
                                        "CONFIG_IRQ_TIME_ACCOUNTING",
                                        "CONFIG_VIRT_CPU_ACCOUNTING_GEN",
                                        "CONFIG_PARAVIRT_SPINLOCKS",
                                        "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS",
                                        "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE",
                                        "CONFIG_SLAB_FREELIST_RANDOM",
                                        "CONFIG_SLAB_FREELIST_HARDENED",
                                        "CONFIG_RANDOM_KMALLOC_CACHES",
                                        "CONFIG_SHUFFLE_PAGE_ALLOCATOR",
                                        "CONFIG_INIT_ON_ALLOC_DEFAULT_ON",
                                        "CONFIG_INIT_ON_FREE_DEFAULT_ON",
                                        "CONFIG_RANDOMIZE_BASE",
                                        "CONFIG_RANDOMIZE_KSTACK_OFFSET",
                                        "CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT",
                                        "CONFIG_RANDSTRUCT_NONE",
                                        "CONFIG_RANDSTRUCT_FULL",
                                        "CONFIG_RANDSTRUCT_PERFORMANCE",
                                        "CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B",
                                        "CONFIG_CC_OPTIMIZE_FOR_SIZE",
                                        "CONFIG_LTO_CLANG",
                                        "CONFIG_CFI_CLANG",
                                        "CONFIG_STACKPROTECTOR_STRONG",
                                        "CONFIG_FORTIFY_SOURCE",
                                        "CONFIG_HARDENED_USERCOPY",
                                        "CONFIG_MITIGATION_RETPOLINE",
                                        "CONFIG_BLK_WBT",
                                        "CONFIG_BLK_WBT_MQ",
                                        "CONFIG_BLK_CGROUP",
                                        "CONFIG_MEMCG",
                                        "CONFIG_CPU_IDLE_GOV_HALTPOLL",
                                        "CONFIG_INTEL_IDLE",
                                        "CONFIG_FTRACE",
                                        "CONFIG_FUNCTION_TRACER",
                                        "CONFIG_DEBUG_PREEMPT",
                                        "CONFIG_DEBUG_LIST",
                                        "CONFIG_DEBUG_VM",
                                        "CONFIG_DEBUG_PAGEALLOC",
                                        "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
                                        "CONFIG_DEBUG_OBJECTS",
                                        "CONFIG_DEBUG_ATOMIC_SLEEP",
                                        "CONFIG_DEBUG_SPINLOCK",
                                        "CONFIG_DEBUG_MUTEXES",
                                        "CONFIG_DEBUG_LOCK_ALLOC",
                                        "CONFIG_SLUB_DEBUG_ON",
                                        "CONFIG_LOCKDEP",
                                        "CONFIG_PROVE_LOCKING",
                                        "CONFIG_LOCK_STAT",
                                        "CONFIG_KASAN",
                                        "CONFIG_KCSAN",
                                        "CONFIG_KMSAN",
                                        "CONFIG_UBSAN",
                                        "CONFIG_KMEMLEAK",
                                        "CONFIG_KFENCE",
                                        "CONFIG_GCOV_KERNEL",
                                        "CONFIG_CC_VERSION_TEXT"};

/// The kernel's configuration, from the kernel itself or as a distribution lays it down.
std::optional<std::string> read_config(const HostFiles& host, std::string& source,
                                       std::string& reason) {
  const std::string own = "/proc/config.gz";
  const std::string laid_down = "/boot/config-" + kernel_release(host);
  int error_number = 0;
  if (const auto packed = host.read(own, &error_number)) {
    source = own;
    try {
      return gunzip(*packed, own);
    } catch (const Error& error) {
      reason = error.what();
      return std::nullopt;
    }
  }
  source = own + ", " + laid_down;
  reason = reason_text(error_number);
  std::optional<std::string> text = host.read(laid_down, &error_number);
  if (text) {
    source = laid_down;
  } else if (error_number == EACCES) {
    reason = reason_text(error_number);
  }
  return text;
}

/// FNV-1a, 64 bits: tells two configurations apart, not more.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
  }
  return fmt::format("{:016x}", hash);
}

/// The shaping options, and a hash over all lines that set one.
Finding config_item(const HostFiles& host) {
  std::string source;
  std::string reason;
  const std::optional<std::string> text = read_config(host, source, reason);
  if (!text) return not_found(reason, source);
  std::map<std::string, std::string> set;
  std::string all;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (!line.starts_with("CONFIG_") || equals == std::string::npos) continue;
    set[line.substr(0, equals)] = line.substr(equals + 1);
    all += line + "\n";
  }
  if (set.empty()) return not_found("not in the known form", source);
  nlohmann::json values = nlohmann::json::object();
  for (const char* name : shaping_options) {
    const auto option = set.find(name);
    values[name] = option == set.end() ? "n" : option->second;
  }
  values["options_set"] = set.size();
  values["hash"] = hash_of(all);
  return found(std::move(values), source);
}

/// "Linux version 6.1 (builder@host) (gcc 12.2, GNU ld 2.40) #1 SMP ...": what stands in the second
/// parentheses.
Finding compiler_item(const HostFiles& host) {
  const std::string path = "/proc/version";
  const Finding version = line_of(host, path);
  if (!version.value.is_string()) return version;
  const std::string text = version.value.get<std::string>();
  const std::size_t start = text.find(") (");
  const std::size_t end = text.rfind(") #");
  if (start == std::string::npos || end == std::string::npos || end < start) {
    return not_found("not in the known form", path);
  }
  return found(text.substr(start + 3, end - start - 3), path);
}

/// How far the kernel was moved at this boot: the vmcoreinfo note in the head of /proc/kcore, which
/// needs root and a kernel that is not locked down.
Finding kaslr_item(const HostFiles& host) {
  constexpr std::size_t head_bytes = 65536;
  const std::string path = "/proc/kcore";
  const Finding cmdline = line_of(host, "/proc/cmdline");
  if (cmdline.value.is_string() && has_word(cmdline.value.get<std::string>(), "nokaslr")) {
    return found("off", "/proc/cmdline");
  }
  int error_number = 0;
  const auto head = host.read_start(path, head_bytes, &error_number);
  if (!head) return not_found(reason_text(error_number), path);
  const std::string key = "KERNELOFFSET=";
  const std::size_t at = head->find(key);
  if (at == std::string::npos) return not_found("no such line in its notes", path);
  const std::size_t end = head->find('\n', at);
  return found(head->substr(at + key.size(), end - at - key.size()), path);
}

Finding kstack_item(const HostFiles& host) {
  const std::string path = "/proc/cmdline";
  const Finding line = line_of(host, path);
  if (!line.value.is_string()) return line;
  std::istringstream words(line.value.get<std::string>());
  const std::string key = "randomize_kstack_offset=";
  for (std::string word; words >> word;) {
    if (word.starts_with(key)) return found(word.substr(key.size()), path);
  }
  return found("as built (CONFIG_RANDOMIZE_KSTACK_OFFSET_DEFAULT)", path);
}

Finding vulnerabilities_item(const HostFiles& host) {
  const std::string directory = "/sys/devices/system/cpu/vulnerabilities";
  nlohmann::json values = nlohmann::json::object();
  for (const std::string& name : host.list(directory)) {
    const std::string path = directory + "/" + name;
    if (const std::optional<std::string> text = host.read_line(path)) values[name] = *text;
  }
  if (values.empty()) return not_found("absent", directory);
  return found(std::move(values), directory);
}

}  // namespace

std::vector<EnvironmentItem> kernel_items() {
  using Host = const HostFiles&;
  return {
      {"kernel.release", [](Host host) { return line_of(host, "/proc/sys/kernel/osrelease"); }},
      {"kernel.version", [](Host host) { return line_of(host, "/proc/version"); }},
      {"kernel.build_id", build_id_item},
      {"kernel.cmdline", [](Host host) { return line_of(host, "/proc/cmdline"); }},
      {"kernel.config", config_item},
      {"kernel.compiler", compiler_item},
      {"kernel.kaslr_offset", kaslr_item, true},
      {"kernel.kstack_randomisation", kstack_item},
      {"kernel.lockdown",
       [](Host host) { return chosen_of(host, "/sys/kernel/security/lockdown"); }},
      {"kernel.tainted", [](Host host) { return number_of(host, "/proc/sys/kernel/tainted"); }},
      {"kernel.preemption", preemption_item},
      {"kernel.mitigations", vulnerabilities_item},
      {"kernel.clock_source",
       [](Host host) {
         return line_of(host, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
       }},
      {"kernel.boot_id",
       [](Host host) { return line_of(host, "/proc/sys/kernel/random/boot_id"); }},
      {"kernel.randomize_va_space",
       [](Host host) { return number_of(host, "/proc/sys/kernel/randomize_va_space"); }},
      {"kernel.clock_sources",
       [](Host host) {
         return line_of(host, "/sys/devices/system/clocksource/clocksource0/available_clocksource");
       }},
      {"kernel.nmi_watchdog",
       [](Host host) { return number_of(host, "/proc/sys/kernel/nmi_watchdog"); }},
      {"kernel.timer_migration",
       [](Host host) { return number_of(host, "/proc/sys/kernel/timer_migration"); }},
      {"kernel.workqueue_cpumask",
       [](Host host) { return line_of(host, "/sys/devices/virtual/workqueue/cpumask"); }},
      {"kernel.tracing_on",
       [](Host host) { return number_of(host, "/sys/kernel/tracing/tracing_on"); }},
      {"kernel.tracer",
       [](Host host) { return line_of(host, "/sys/kernel/tracing/current_tracer"); }},
      {"kernel.watchdog", [](Host host) { return number_of(host, "/proc/sys/kernel/watchdog"); }},
  };
}

}  // namespace krepro
