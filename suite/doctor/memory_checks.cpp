// Checks of memory: huge pages, swap, fragmentation, write-back.
#include <fmt/format.h>

#include "common/base/units.h"
#include "suite/doctor/checks.h"

namespace krepro {

namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

CheckResult huge_pages_check(const Patient& patient) {
  const nlohmann::json thp = item(patient, "memory.thp");
  if (thp.is_null()) return unseen(patient, "memory.thp");
  const Weight weight = thp == "always" ? Weight::warning : Weight::note;
  return {weight, fmt::format("transparent huge pages: {}", shown_value(thp)),
          thp == "always"
              ? "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, or the same "
                "on both sides"
              : ""};
}

CheckResult swap_check(const Patient& patient) {
  const nlohmann::json total = item(patient, "memory.swap_total_bytes");
  const nlohmann::json used = item(patient, "memory.swap_used_bytes");
  if (!total.is_number() || !used.is_number()) return unseen(patient, "memory.swap_total_bytes");
  if (total == 0) return fine("none");
  if (used.get<double>() > mebibyte) {
    return {Weight::warning, fmt::format("{} of swap are in use", format_bytes(used.get<double>())),
            "swapoff -a && swapon -a, or end what needs the memory"};
  }
  return {Weight::note, fmt::format("swap of {} is on", format_bytes(total.get<double>())),
          "swapoff -a"};
}

CheckResult free_memory_check(const Patient& patient) {
  const nlohmann::json total = item(patient, "memory.total_bytes");
  const nlohmann::json available = item(patient, "memory.available_bytes");
  if (!total.is_number() || !available.is_number()) {
    return unseen(patient, "memory.available_bytes");
  }
  const double share = available.get<double>() / total.get<double>();
  const std::string text =
      fmt::format("{} of {} are available", format_bytes(available.get<double>()),
                  format_bytes(total.get<double>()));
  if (share < 0.1) return {Weight::warning, text, "end what needs the memory"};
  return fine(text);
}

/// The share of free memory that lies in blocks of 2 MiB and more (order 9), over all zones.
std::optional<double> large_share(const nlohmann::json& zones) {
  constexpr std::size_t huge_order = 9;
  double all = 0;
  double large = 0;
  for (const auto& [zone, counts] : zones.items()) {
    if (!counts.is_array()) continue;
    for (std::size_t order = 0; order < counts.size(); ++order) {
      if (!counts[order].is_number()) continue;
      const double pages = counts[order].get<double>() * static_cast<double>(1U << order);
      all += pages;
      if (order >= huge_order) large += pages;
    }
  }
  if (all <= 0) return std::nullopt;
  return large / all;
}

CheckResult fragmentation_check(const Patient& patient) {
  const nlohmann::json zones = item(patient, "memory.fragmentation");
  if (!zones.is_object()) return unseen(patient, "memory.fragmentation");
  const std::optional<double> share = large_share(zones);
  if (!share) return {Weight::unseen, "no free block is told of (/proc/buddyinfo)", ""};
  const std::string text =
      fmt::format("{:.0f} % of free memory lies in blocks of 2 MiB and more", 100 * *share);
  if (*share < 0.25) {
    return {Weight::warning, text,
            "echo 1 > /proc/sys/vm/compact_memory, or reboot before both sides"};
  }
  return fine(text);
}

CheckResult dirty_check(const Patient& patient) {
  const nlohmann::json dirty = item(patient, "memory.dirty_bytes");
  if (!dirty.is_number()) return unseen(patient, "memory.dirty_bytes");
  const std::string text = fmt::format("{} wait to be written", format_bytes(dirty.get<double>()));
  if (dirty.get<double>() > 256 * mebibyte) return {Weight::warning, text, "sync"};
  return fine(text);
}

}  // namespace

std::vector<Check> memory_checks() {
  return {
      {"thp", "whether memory comes in huge pages depends on its state when the program asks",
       "published: huge pages decided whether a preemption model halved pgbench or left it alone",
       huge_pages_check},
      {"swap", "a page that has to be read back stalls its task for a disk's time",
       "by construction: a stall of milliseconds against operations of microseconds", swap_check},
      {"memory", "reclaim runs in the load's own allocations", "not measured by us",
       free_memory_check},
      {"fragmentation", "huge pages and large slabs may be refused late in a machine's life",
       "not measured by us; it makes runs after a long uptime differ from those after a boot",
       fragmentation_check},
      {"write-back", "what others wrote is written during the load",
       "measured on a 2-CPU virtual machine: fio psync rows drifted by 8 % over a series",
       dirty_check},
  };
}

}  // namespace krepro
