// The limits of this process and machine against what a load needs: see resource_limits.h. Where
// control groups limit tasks is cgroup_pids.cpp's.
#include "common/process/resource_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/process/cgroup_pids.h"

namespace krepro {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
/// Pids below this are not given out again once the numbers have wrapped.
constexpr std::uint64_t reserved_pids = 300;
/// The largest kernel.pid_max of a 64-bit kernel.
constexpr std::uint64_t largest_pid_max = 4'194'304;
constexpr int cap_sys_admin = 21;
constexpr int cap_sys_resource = 24;

std::uint64_t add(std::uint64_t left, std::uint64_t right) {
  return left > unlimited - right ? unlimited : left + right;
}

std::uint64_t number_or(std::optional<std::int64_t> number, std::uint64_t otherwise) {
  return number && *number >= 0 ? static_cast<std::uint64_t>(*number) : otherwise;
}

/// The text after "NAME:" in a file like /proc/self/status, without leading blanks; empty if
/// absent.
std::string field(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":")) {
      const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
      return value == std::string::npos ? std::string() : line.substr(value);
    }
  }
  return {};
}

std::size_t count_lines(const std::optional<std::string>& text) {
  return text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

/// A resource limit as /proc/self/limits has it, which a fixture can replace.
struct ResourceLimit {
  std::uint64_t soft = unlimited;
  std::uint64_t hard = unlimited;
};

ResourceLimit read_limit(const HostFiles& host, const std::string& name) {
  const std::string text = host.read("/proc/self/limits").value_or("");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) {
      std::istringstream values(line.substr(name.size()));
      std::string soft;
      std::string hard;
      values >> soft >> hard;
      const auto value = [](const std::string& word) {
        return word == "unlimited" ? unlimited : std::strtoull(word.c_str(), nullptr, 10);
      };
      return {value(soft), value(hard)};
    }
  }
  return {};
}

/// Who the process is, in the kernel's eyes.
class Identity {
 public:
  explicit Identity(const HostFiles& host) : text_(host.read("/proc/self/status").value_or("")) {
    // Root of a user namespace of its own (a rootless container) is an ordinary user for limits.
    std::istringstream map(host.read("/proc/self/uid_map").value_or("0 0 4294967295"));
    std::uint64_t inside = 1;
    std::uint64_t outside = 1;
    map >> inside >> outside;
    initial_namespace_ = inside == 0 && outside == 0;
  }

  [[nodiscard]] std::string user() const {
    const std::string uid = field(text_, "Uid");
    return uid.substr(0, uid.find_first_of(" \t"));
  }
  [[nodiscard]] bool has_capability(int capability) const {
    const std::uint64_t effective = std::strtoull(field(text_, "CapEff").c_str(), nullptr, 16);
    return initial_namespace_ && (effective >> capability & 1U) != 0;
  }
  [[nodiscard]] bool is_root() const { return initial_namespace_ && user() == "0"; }

 private:
  std::string text_;
  bool initial_namespace_ = true;
};

/// Threads of all processes of `user` (a number as text) that can be seen.
std::uint64_t tasks_of(const HostFiles& host, const std::string& user) {
  std::uint64_t tasks = 0;
  for (const std::string& name : host.list("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    const std::string status = host.read("/proc/" + name + "/status").value_or("");
    const std::string uid = field(status, "Uid");
    if (uid.substr(0, uid.find_first_of(" \t")) == user) {
      tasks += std::strtoull(field(status, "Threads").c_str(), nullptr, 10);
    }
  }
  return tasks;
}

/// Threads of the whole system: "0.00 0.01 0.05 1/234 5678" -> 234.
std::uint64_t tasks_of_system(const HostFiles& host) {
  const std::string text = host.read("/proc/loadavg").value_or("");
  const std::size_t slash = text.find('/');
  return slash == std::string::npos ? 0 : std::strtoull(text.c_str() + slash + 1, nullptr, 10);
}

/// Collects what falls short.
class Check {
 public:
  Check(const ResourceNeeds& needs, const HostFiles& host)
      : needs_(needs), host_(host), identity_(host) {}

  std::vector<LimitShortfall> run() {
    if (needs_.descriptors > 0) {
      check_descriptors();
    }
    if (needs_.tasks > 0) {
      check_user_tasks();
      check_system_tasks();
      check_cgroups();
    }
    if (needs_.mappings > 0) {
      check_mappings();
    }
    return std::move(shortfalls_);
  }

 private:
  void require(const std::string& purpose, const std::string& limit, std::uint64_t available,
               std::uint64_t needed, const std::string& remedy) {
    if (needed > available) {
      shortfalls_.push_back({limit, available, needed, remedy, purpose});
    }
  }

  void check_descriptors() {
    const std::string purpose = format_grouped(needs_.descriptors) + " file descriptors";
    const std::uint64_t needed = add(needs_.descriptors, host_.list("/proc/self/fd").size());
    std::string remedy = fmt::format("sudo prlimit --pid $$ --nofile={0}:{0}", needed);
    if (needed > number_or(host_.read_number("/proc/sys/fs/nr_open"), unlimited)) {
      remedy = fmt::format("sudo sysctl -w fs.nr_open={}; {}", needed, remedy);
    }
    // The hard limit: the soft one was raised already.
    require(purpose, "RLIMIT_NOFILE", read_limit(host_, "Max open files").hard, needed, remedy);
    if (!identity_.has_capability(cap_sys_admin)) {
      const std::uint64_t in_use = number_or(host_.read_number("/proc/sys/fs/file-nr"), 0);
      const std::uint64_t files = add(needs_.descriptors, in_use);
      require(purpose, "fs.file-max",
              number_or(host_.read_number("/proc/sys/fs/file-max"), unlimited), files,
              fmt::format("sudo sysctl -w fs.file-max={}", files));
    }
  }

  [[nodiscard]] std::string tasks_purpose() const {
    return format_grouped(needs_.tasks) + " tasks";
  }

  void check_user_tasks() {
    const ResourceLimit limit = read_limit(host_, "Max processes");
    if (limit.soft == unlimited || identity_.is_root() ||
        identity_.has_capability(cap_sys_resource) || identity_.has_capability(cap_sys_admin)) {
      return;
    }
    const std::uint64_t needed = add(needs_.tasks, tasks_of(host_, identity_.user()));
    require(tasks_purpose(), "RLIMIT_NPROC", limit.soft, needed,
            needed <= limit.hard ? fmt::format("ulimit -u {}", needed)
                                 : fmt::format("sudo prlimit --pid $$ --nproc={0}:{0}", needed));
  }

  void check_system_tasks() {
    const std::uint64_t tasks = add(needs_.tasks, tasks_of_system(host_));
    const std::uint64_t pids = add(tasks, reserved_pids);
    require(tasks_purpose(), "kernel.pid_max",
            number_or(host_.read_number("/proc/sys/kernel/pid_max"), unlimited), pids,
            pids <= largest_pid_max
                ? fmt::format("sudo sysctl -w kernel.pid_max={}", pids)
                : fmt::format("use fewer tasks: kernel.pid_max cannot be above {}",
                              format_grouped(largest_pid_max)));
    require(tasks_purpose(), "kernel.threads-max",
            number_or(host_.read_number("/proc/sys/kernel/threads-max"), unlimited), tasks,
            fmt::format("sudo sysctl -w kernel.threads-max={}", tasks));
  }

  void check_cgroups() {
    for (const CgroupPids& group : cgroup_pids_limits(host_)) {
      const std::uint64_t needed = add(needs_.tasks, group.current);
      require(tasks_purpose(), fmt::format("cgroup pids.max ({})", group.path), group.max, needed,
              group.unit.empty()
                  ? fmt::format("echo {} | sudo tee {}", needed, group.file)
                  : fmt::format("sudo systemctl set-property --runtime {} TasksMax={}", group.unit,
                                needed));
    }
  }

  void check_mappings() {
    const std::uint64_t needed = add(needs_.mappings, count_lines(host_.read("/proc/self/maps")));
    require(format_grouped(needs_.mappings) + " memory mappings", "vm.max_map_count",
            number_or(host_.read_number("/proc/sys/vm/max_map_count"), unlimited), needed,
            fmt::format("sudo sysctl -w vm.max_map_count={}", needed));
  }

  const ResourceNeeds& needs_;
  const HostFiles& host_;
  Identity identity_;
  std::vector<LimitShortfall> shortfalls_;
};

void raise_descriptor_limit(std::uint64_t needed) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed) {
    limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

std::vector<LimitShortfall> find_shortfalls(const ResourceNeeds& needs, const HostFiles& host) {
  if (needs.descriptors > 0) {
    raise_descriptor_limit(add(needs.descriptors, host.list("/proc/self/fd").size()));
  }
  return Check(needs, host).run();
}

void require_resources(const ResourceNeeds& needs, const HostFiles& host) {
  const std::vector<LimitShortfall> shortfalls = find_shortfalls(needs, host);
  if (shortfalls.empty()) {
    return;
  }
  std::string message;
  std::string remedy;
  std::string purpose;
  for (const LimitShortfall& shortfall : shortfalls) {
    message += message.empty() ? "" : shortfall.purpose == purpose ? ", " : "; ";
    if (shortfall.purpose != purpose) {
      purpose = shortfall.purpose;
      message += purpose + " need ";
    }
    message += fmt::format("{} of at least {} (now {})", shortfall.limit,
                           format_grouped(shortfall.needed), format_grouped(shortfall.available));
    remedy += (remedy.empty() ? "" : "; ") + shortfall.remedy;
  }
  throw not_possible(message, remedy);
}

}  // namespace krepro
