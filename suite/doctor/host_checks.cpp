// Checks of what lies around the kernel: virtualisation, control groups, interrupts, limits, disks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/units.h"
#include "suite/doctor/checks.h"

namespace krepro {

namespace {

CheckResult virtualisation_check(const Patient& patient) {
  const nlohmann::json kind = item(patient, "virtualisation.kind");
  if (kind.is_null()) return unseen(patient, "virtualisation.kind");
  if (kind == "none seen") return fine("no hypervisor shows itself");
  return {Weight::note,
          fmt::format("{}: wake-ups across CPUs are slow; rows with few tasks may have two modes",
                      shown_value(kind)),
          "measure on hardware (a .metal instance) where the row is about wake-ups"};
}

CheckResult steal_check(const Patient& patient) {
  constexpr double spoils = 0.01;
  const nlohmann::json share = item(patient, "virtualisation.steal_share");
  if (!share.is_number()) return unseen(patient, "virtualisation.steal_share");
  const double percent = 100 * share.get<double>();
  if (share.get<double>() > spoils) {
    return {Weight::problem,
            fmt::format("{:.1f} % of this virtual machine's CPU time since its boot was stolen by "
                        "its host",
                        percent),
            "use an instance with CPUs of its own; trials with more than 1 % steal are marked"};
  }
  if (item(patient, "virtualisation.kind") != "none seen") {
    return fine(fmt::format("{:.2f} % since boot (a host that hides steal shows none)", percent));
  }
  return fine(fmt::format("{:.2f} % since boot", percent));
}

CheckResult quota_check(const Patient& patient) {
  const nlohmann::json quota = item(patient, "cgroup.cpu_quota");
  if (quota.is_null()) return unseen(patient, "cgroup.cpu_quota");
  if (!quota.is_number()) return fine("no quota");
  const nlohmann::json throttled = item(patient, "cgroup.cpu_throttled");
  const std::string text =
      fmt::format("the control group may use {:.3g} CPUs' time, and {} CPUs are allowed{}",
                  quota.get<double>(), patient.machine->allowed.size(),
                  throttled.is_number() && throttled != 0
                      ? fmt::format("; it was throttled {} times", throttled.dump())
                      : "");
  const auto cpus = static_cast<double>(patient.machine->allowed.size());
  if (quota.get<double>() >= cpus) return fine(text);
  return {Weight::problem, text,
          "run outside of the group (systemd-run --scope -p CPUQuota=), or raise cpu.max"};
}

CheckResult interrupts_check(const Patient& patient) {
  const nlohmann::json daemons = item(patient, "load.daemons");
  if (!daemons.is_array()) return unseen(patient, "load.daemons");
  if (daemons.empty()) return fine("none of the programs that tune machines runs");
  return {Weight::warning,
          fmt::format("running: {}", fmt::join(daemons.get<std::vector<std::string>>(), ", ")),
          "systemctl stop NAME for the run; set interrupts by hand: /proc/irq/*/smp_affinity_list"};
}

CheckResult limits_check(const Patient& patient) {
  if (patient.shortfalls.empty()) {
    return fine(patient.plan == nullptr ? "no profile was named" : "enough for this profile");
  }
  const LimitShortfall& first = patient.shortfalls.front();
  std::string text = fmt::format("{} is {}, and {} need {}", first.limit, first.available,
                                 first.purpose, first.needed);
  if (patient.shortfalls.size() > 1) {
    text += fmt::format("; and {} more limits", patient.shortfalls.size() - 1);
  }
  return {Weight::problem, text, first.remedy};
}

CheckResult seccomp_check(const Patient& patient) {
  const nlohmann::json mode = item(patient, "limits.seccomp");
  if (mode.is_null()) return unseen(patient, "limits.seccomp");
  if (mode == 0) return fine("no filter");
  return {Weight::warning,
          "a seccomp filter is in force: it runs on every system call, and may refuse some",
          "run outside of the container, or with --security-opt seccomp=unconfined"};
}

CheckResult io_uring_check(const Patient& patient) {
  const nlohmann::json disabled = item(patient, "limits.io_uring_disabled");
  if (disabled.is_null()) return unseen(patient, "limits.io_uring_disabled");
  if (disabled == 0) return fine("allowed");
  return {Weight::note, "io_uring is disabled: rows that use it are skipped",
          "sysctl kernel.io_uring_disabled=0"};
}

/// The mount that a path lies on: the longest mount point that begins it.
std::string mount_of(const nlohmann::json& mounts, const std::string& path) {
  std::string best;
  for (const auto& [point, mount] : mounts.items()) {
    const bool below = point == "/" || path == point || path.starts_with(point + "/");
    if (below && point.size() > best.size()) best = point;
  }
  return best;
}

CheckResult file_system_check(const Patient& patient) {
  const nlohmann::json mounts = item(patient, "storage.mounts");
  if (!mounts.is_object()) return unseen(patient, "storage.mounts");
  std::vector<std::string> texts;
  std::vector<std::string> discarding;
  for (const DiskSpace& disk : patient.disks) {
    const std::string point = mount_of(mounts, disk.path);
    if (point.empty()) continue;
    const nlohmann::json& mount = mounts.at(point);
    const std::string text = fmt::format("{} on {}", disk.path, mount.value("type", "?"));
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    const std::string options = "," + mount.value("options", "") + ",";
    if (options.find(",discard") != std::string::npos) discarding.push_back(point);
  }
  if (texts.empty()) return {Weight::unseen, "no mount is told of for the loads' folders", ""};
  if (discarding.empty()) return {Weight::note, fmt::format("{}", fmt::join(texts, ", ")), ""};
  return {Weight::warning,
          fmt::format("{} is mounted with discard: blocks are trimmed while files are removed",
                      discarding.front()),
          fmt::format("mount -o remount,nodiscard {}", discarding.front())};
}

CheckResult disk_fill_check(const Patient& patient) {
  constexpr double nearly_full = 0.9;
  if (patient.disks.empty()) return {Weight::unseen, "no folder could be looked at", ""};
  std::string text;
  for (const DiskSpace& disk : patient.disks) {
    if (disk.capacity_bytes == 0) continue;
    const double used =
        1 - static_cast<double>(disk.free_bytes) / static_cast<double>(disk.capacity_bytes);
    text = fmt::format("{} is {:.0f} % full, {} are free", disk.path, 100 * used,
                       format_bytes(static_cast<double>(disk.free_bytes)));
    if (used > nearly_full) {
      return {Weight::warning, text, "make room: a flash disk that is nearly full writes slower"};
    }
  }
  return fine(text);
}

/// Whether a disk's blocks were trimmed lately cannot be asked; whether they can be is known.
CheckResult discard_check(const Patient& patient) {
  const nlohmann::json devices = item(patient, "storage.devices");
  if (!devices.is_object()) return unseen(patient, "storage.devices");
  std::vector<std::string> trimmable;
  for (const auto& [name, device] : devices.items()) {
    const nlohmann::json most = device.value("discard_max_bytes", nlohmann::json(0));
    if (most.is_number() && most.get<double>() > 0 && !name.starts_with("loop")) {
      trimmable.push_back(name);
    }
  }
  if (trimmable.empty()) return fine("no disk takes discards");
  return {Weight::note,
          fmt::format("{} can be trimmed; whether that was done lately cannot be seen",
                      fmt::join(trimmable, ", ")),
          "fstrim -a before the runs of both sides (blkdiscard DEVICE for a raw, spare one)"};
}

CheckResult root_check(const Patient& patient) {
  const nlohmann::json user = item(patient, "limits.user");
  if (user.is_null()) return unseen(patient, "limits.user");
  if (user == "root") return fine("root");
  return {Weight::note, "not root: scheduler settings in debugfs and some counters stay unseen",
          "run as root where the counters matter"};
}

}  // namespace

std::vector<Check> host_checks() {
  return {
      {"quota", "the load is stopped for the rest of each period once its quota is spent",
       "by construction: with half a CPU, at most half a CPU's work, in bursts of a period",
       quota_check},
      {"steal", "the host runs somebody else on this CPU, in the middle of a trial",
       "more than 1 % spoils a trial; trials are marked", steal_check},
      {"virtualisation", "an interrupt to another CPU, which a wake-up needs, leaves the guest",
       "measured on a 2-CPU virtual machine: 20 us each way across CPUs, 2 us on one; pgbench with "
       "one client had two modes, 15k and 31k TPS",
       virtualisation_check},
      {"daemons", "they move interrupts, clocks or pages while a trial runs", "not measured by us",
       interrupts_check},
      {"limits", "a load that cannot be set up is no result",
       "by construction; the generator refuses the row and names the limit", limits_check},
      {"seccomp", "every system call is filtered, and some may fail",
       "not measured by us; the load makes one to five system calls per operation", seccomp_check},
      {"io-uring", "rows that use it cannot run", "by construction", io_uring_check},
      {"file-system", "fsync and removal cost what the file system makes of them",
       "measured on ext4 with discard: removing a fragmented file of 256 MiB took up to a minute",
       file_system_check},
      {"disk-fill", "a flash disk that is nearly full collects garbage while it is written",
       "not measured by us", disk_fill_check},
      {"discard", "a flash disk that was not trimmed has fewer free blocks to write to",
       "not measured by us; the first run after a trim may be faster than the following",
       discard_check},
      {"privileges", "what is not readable cannot explain a difference", "nothing by itself",
       root_check},
  };
}

}  // namespace krepro
