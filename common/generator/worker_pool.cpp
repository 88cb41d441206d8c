// Parking and release by futex words in shared memory, alike for threads and processes; the end is
// seen as the end of a pipe that every worker holds open, so that a worker that is killed counts as
// ended too.
#include "common/generator/worker_pool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "common/affinity/cpu_order.h"
#include "common/affinity/memory_policy.h"
#include "common/base/check.h"
#include "common/base/error.h"
#include "common/base/host_files.h"
#include "common/generator/signals.h"

namespace krepro {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);

/// The word that workers sleep on: 0 parked, 1 released, 2 give up.
struct WorkerPool::Shared {
  std::atomic<std::uint32_t> gate{0};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> running{0};
  std::int64_t start_ns = 0;
};

struct WorkerPool::Account {
  std::atomic<std::uint32_t> parked{0};  ///< 0 setting up, 1 parked, 2 failed
  std::array<char, 512> message{};       ///< Why the set-up failed.
  std::array<char, 512> remedy{};
  int code = 0;
  std::array<char, 128> policy{};
  std::array<char, 8192> cpus{};  ///< Every other CPU of 1,536 takes 3,500 characters.
  std::array<char, 128> memory{};
  pid_t tid = 0;
  /// Set last, when what follows is filled in; read while others run.
  std::atomic<bool> finished{false};
  double user_ns = 0;
  double system_ns = 0;
  double voluntary_switches = 0;
  double involuntary_switches = 0;
  double run_time_ns = 0;
  double wait_time_ns = 0;
};

namespace {

constexpr std::uint32_t gate_parked = 0;
constexpr std::uint32_t gate_released = 1;
constexpr std::uint32_t gate_give_up = 2;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_value) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, while_value, nullptr,
          nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr,
          0);
}

template <std::size_t size>
void copy_text(std::array<char, size>& to, const std::string& from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::memcpy(to.data(), from.data(), length);
  to[length] = '\0';
}

/// Run time and run-queue wait of the calling thread so far; zeros where the kernel does not tell.
std::pair<double, double> read_schedstat() {
  double run_ns = 0;
  double wait_ns = 0;
  const HostFiles own;
  if (const auto text = own.read("/proc/thread-self/schedstat")) {
    std::istringstream fields(*text);
    if (!(fields >> run_ns >> wait_ns)) return {0, 0};
  }
  return {run_ns, wait_ns};
}

double nanoseconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
}

/// Reaps a child that was sent SIGKILL. One that the kernel keeps asleep for good (a device that
/// does not answer) cannot be reaped: it is left to init, so that the result can still be told.
void reap_killed(pid_t pid) {
  constexpr int patience_ms = 5000;
  for (int waited_ms = 0; waited_ms < patience_ms; ++waited_ms) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return;
    usleep(1000);
  }
}

}  // namespace

WorkerPool::WorkerPool(WorkerPlan plan, std::function<void(std::size_t)> setup,
                       std::function<void(const WorkerContext&)> body)
    : plan_(std::move(plan)), setup_(std::move(setup)), body_(std::move(body)) {
  KREPRO_CHECK(plan_.cpus.size() <= 1 || plan_.cpus.size() == plan_.count);
  shared_ = std::make_unique<SharedArray<Shared>>(1);
  accounts_ = std::make_unique<SharedArray<Account>>(plan_.count);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe", errno);
  done_read_ = ends[0];
  done_write_ = ends[1];
}

WorkerPool::~WorkerPool() {
  end_all();
  close(done_read_);
  if (done_write_ >= 0) close(done_write_);
}

void WorkerPool::set_up_worker(std::size_t index) {
  Account& account = (*accounts_)[index];
  account.tid = static_cast<pid_t>(syscall(SYS_gettid));
  if (!plan_.cpus.empty()) plan_.cpus[plan_.cpus.size() == 1 ? 0 : index].apply();
  if (plan_.scheduling) apply_scheduling(*plan_.scheduling);
  if (setup_) setup_(index);
  copy_text(account.policy, to_string(read_scheduling()));
  copy_text(account.cpus, CpuSet::allowed().to_string());
  copy_text(account.memory, to_string(read_memory_policy()));
  std::tie(account.run_time_ns, account.wait_time_ns) = read_schedstat();
}

void WorkerPool::run_worker(std::size_t index) {
  Shared& shared = (*shared_)[0];
  Account& account = (*accounts_)[index];
  try {
    set_up_worker(index);
  } catch (const Error& error) {
    copy_text(account.message, error.what());
    copy_text(account.remedy, error.remedy());
    account.code = static_cast<int>(error.code());
  }
  account.parked.store(account.code == 0 ? 1 : 2, std::memory_order_release);
  futex_wake_all(account.parked);
  if (account.code != 0) return;
  while (shared.gate.load(std::memory_order_acquire) == gate_parked) {
    futex_wait(shared.gate, gate_parked);
  }
  if (shared.gate.load(std::memory_order_acquire) == gate_give_up) return;

  rusage before{};
  rusage after{};
  getrusage(RUSAGE_THREAD, &before);
  body_(WorkerContext{index, shared.start_ns, &shared.stop});
  getrusage(RUSAGE_THREAD, &after);
  account.user_ns = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime);
  account.system_ns = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime);
  account.voluntary_switches = static_cast<double>(after.ru_nvcsw - before.ru_nvcsw);
  account.involuntary_switches = static_cast<double>(after.ru_nivcsw - before.ru_nivcsw);
  const auto [run_ns, wait_ns] = read_schedstat();
  account.run_time_ns = run_ns - account.run_time_ns;
  account.wait_time_ns = wait_ns - account.wait_time_ns;
  account.finished = true;
}

void WorkerPool::create_processes() {
  const pid_t parent = getpid();
  for (std::size_t i = 0; i < plan_.count; ++i) {
    const pid_t pid = fork();
    if (pid < 0) {
      const int error_number = errno;
      end_all();
      throw system_error(fmt::format("fork worker {} of {}", i + 1, plan_.count), error_number,
                         ExitCode::not_possible);
    }
    if (pid == 0) {
      // Direct children that neither fork nor change user: here the parent-death signal holds.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      restore_end_signals();
      // Ctrl-C at a terminal reaches the whole group; the parent decides how the load ends.
      std::signal(SIGINT, SIG_IGN);
      run_worker(i);
      _exit(0);
    }
    processes_.push_back(pid);
  }
  close(done_write_);
  done_write_ = -1;
}

void WorkerPool::create_threads() {
  Shared& shared = (*shared_)[0];
  shared.running.store(static_cast<std::uint32_t>(plan_.count));
  for (std::size_t i = 0; i < plan_.count; ++i) {
    try {
      threads_.emplace_back([this, i, &shared] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        run_worker(i);
        if (shared.running.fetch_sub(1) == 1) close(done_write_);
      });
    } catch (const std::system_error& error) {
      shared.running.fetch_sub(static_cast<std::uint32_t>(plan_.count - i));
      end_all();
      throw not_possible(fmt::format("thread {} of {}: {}", i + 1, plan_.count, error.what()));
    }
  }
}

void WorkerPool::take_pinning(const std::vector<int>& order) {
  if (order.empty()) return;
  if (!plan_.cpus.empty()) {
    throw usage_error(fmt::format("--worker-cpus: each {} has CPUs of its own by an option of the "
                                  "load already",
                                  plan_.role),
                      "leave one of them out");
  }
  for (std::size_t i = 0; i < plan_.count; ++i) {
    plan_.cpus.emplace_back(std::vector<int>{cpu_of_worker(order, i)});
  }
}

void WorkerPool::park(Frame& frame) {
  take_pinning(frame.worker_cpus());
  plan_.kind == WorkerKind::processes ? create_processes() : create_threads();
  for (std::size_t i = 0; i < plan_.count; ++i) {
    Account& account = (*accounts_)[i];
    while (account.parked.load(std::memory_order_acquire) == 0) {
      timespec patience{0, 50'000'000};
      syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&account.parked), FUTEX_WAIT, 0,
              &patience, nullptr, 0);
      frame.check_interrupted();
      pollfd ended{done_read_, POLLIN, 0};
      if (account.parked.load() == 0 && poll(&ended, 1, 0) > 0) {
        throw usage_error(fmt::format("worker {} ended while it was set up", i));
      }
    }
    if (account.code != 0) {
      throw Error(static_cast<ExitCode>(account.code), account.message.data(),
                  account.remedy.data());
    }
  }
}

void WorkerPool::start(std::int64_t start_ns) {
  Shared& shared = (*shared_)[0];
  shared.start_ns = start_ns;
  shared.gate.store(gate_released, std::memory_order_release);
  futex_wake_all(shared.gate);
}

void WorkerPool::request_stop() { (*shared_)[0].stop.store(true); }

void WorkerPool::end_all() {
  Shared& shared = (*shared_)[0];
  shared.stop.store(true);
  std::uint32_t parked = gate_parked;
  shared.gate.compare_exchange_strong(parked, gate_give_up);
  futex_wake_all(shared.gate);
  for (const pid_t pid : processes_) kill(pid, SIGKILL);
  for (const pid_t pid : processes_) reap_killed(pid);
  processes_.clear();
  for (std::thread& thread : threads_) thread.join();
  if (!threads_.empty()) done_write_ = -1;  // The last thread closed it.
  threads_.clear();
}

std::string WorkerPool::join() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    int status = 0;
    waitpid(processes_[i], &status, 0);
    if (!failure_.empty()) continue;
    if (WIFSIGNALED(status)) {
      failure_ = fmt::format("{} {} was killed by signal {} ({})", plan_.role, i, WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
      failure_ = fmt::format("{} {} ended with exit status {}", plan_.role, i, WEXITSTATUS(status));
    }
  }
  processes_.clear();
  end_all();
  return failure_;
}

std::vector<ThreadGroup> WorkerPool::groups() const {
  using Kind = std::tuple<std::string, std::string, std::string>;
  std::map<Kind, std::vector<const Account*>> members;
  for (std::size_t i = 0; i < accounts_->size(); ++i) {
    const Account& account = (*accounts_)[i];
    if (!account.finished) continue;
    members[{account.policy.data(), account.cpus.data(), account.memory.data()}].push_back(
        &account);
  }
  std::vector<ThreadGroup> groups;
  for (const auto& [key, accounts] : members) {
    const auto spread = [&accounts = accounts](double Account::*field) {
      return spread_of(accounts, [field](const Account* account) { return account->*field; });
    };
    ThreadGroup group;
    group.role = plan_.role;
    std::tie(group.policy, group.cpus, group.memory) = key;
    group.count = accounts.size();
    group.voluntary_switches = spread(&Account::voluntary_switches);
    group.involuntary_switches = spread(&Account::involuntary_switches);
    group.run_time_ns = spread(&Account::run_time_ns);
    group.wait_time_ns = spread(&Account::wait_time_ns);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<WorkerPool::Unfinished> WorkerPool::unfinished() const {
  std::vector<Unfinished> list;
  for (std::size_t i = 0; i < accounts_->size(); ++i) {
    const Account& account = (*accounts_)[i];
    if (!account.finished) list.push_back({i, account.tid});
  }
  return list;
}

nlohmann::json WorkerPool::all_threads() const {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t i = 0; i < accounts_->size(); ++i) {
    const Account& account = (*accounts_)[i];
    list.push_back({{"role", plan_.role},
                    {"tid", account.tid},
                    {"policy", account.policy.data()},
                    {"cpus", account.cpus.data()},
                    {"memory", account.memory.data()},
                    {"voluntary_switches", account.voluntary_switches},
                    {"involuntary_switches", account.involuntary_switches},
                    {"run_time_ns", account.run_time_ns},
                    {"wait_time_ns", account.wait_time_ns}});
  }
  return list;
}

WorkerPool::Usage WorkerPool::usage() const {
  Usage usage;
  for (std::size_t i = 0; i < accounts_->size(); ++i) {
    const Account& account = (*accounts_)[i];
    usage.user_ns += account.user_ns;
    usage.system_ns += account.system_ns;
    usage.voluntary_switches += static_cast<std::uint64_t>(account.voluntary_switches);
    usage.involuntary_switches += static_cast<std::uint64_t>(account.involuntary_switches);
  }
  return usage;
}

}  // namespace krepro
