// The system calls of hackbench-load against those of the installed original, one by one, for each
// kind of task in each mode: what makes the two the same load. Needs rt-tests and strace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "common/process/child.h"
#include "common/process/program.h"

namespace krepro::hackbench {
namespace {

using Calls = std::vector<std::string>;

constexpr std::int64_t patience_ns = 60'000'000'000;

/// What the allocator and the thread library do depends on the order in which threads run.
bool depends_on_timing(const std::string& name) {
  static const std::set<std::string> names{"mmap", "munmap", "mprotect", "madvise",
                                           "brk",  "futex",  "getrandom"};
  return names.contains(name);
}

/// The calls that hackbench-load's parent makes beyond the original's; hackbench's documentation
/// lists them.
bool is_documented_extra(const std::string& line) {
  for (const char* start :
       {"fcntl(", "getsockopt(", "getrusage(", "read(0,", "write(1,", "rt_sigaction(SIGCHLD,"}) {
    if (line.starts_with(start)) {
      return true;
    }
  }
  return false;
}

bool opens_a_channel(const std::string& name) {
  return name == "pipe2" || name == "pipe" || name == "socketpair" || name == "socket";
}

Calls calls_of(const std::filesystem::path& trace) {
  Calls calls;
  std::ifstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_end = line.find('(');
    if (name_end == std::string::npos || line.starts_with("---") || line.starts_with("+++")) {
      continue;
    }
    const std::string name = line.substr(0, name_end);
    if (!depends_on_timing(name) && !is_documented_extra(line)) {
      calls.push_back(name);
    }
  }
  return calls;
}

/// The calls of each task of one run.
struct Traced {
  Calls parent;  ///< From the first channel on.
  std::multiset<Calls> senders;
  std::multiset<Calls> receivers;
};

bool sends(const Calls& worker) {
  const auto poll = std::find(worker.begin(), worker.end(), "poll");
  return poll != worker.end() && poll + 1 != worker.end() && *(poll + 1) == "write";
}

/// Runs a shell command, in which "TRACE" stands for strace with its options.
Traced trace(std::string command) {
  std::string name = (std::filesystem::temp_directory_path() / "krepro-calls-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return {};
  }
  const std::filesystem::path directory = name;
  command.replace(command.find("TRACE"), 5, "strace -ff -o " + (directory / "task").string());
  SpawnRequest request;
  request.argv = {"sh", "-c", command};
  request.pipe_stdin = false;
  const CommandOutput output = run_command(request, patience_ns);
  Traced traced;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    Calls calls = calls_of(file.path());
    if (!calls.empty() && calls.front() == "execve") {
      calls.erase(calls.begin(), std::find_if(calls.begin(), calls.end(), opens_a_channel));
      traced.parent = std::move(calls);
    } else {
      (sends(calls) ? traced.senders : traced.receivers).insert(std::move(calls));
    }
  }
  std::filesystem::remove_all(directory);
  return traced;
}

struct Mode {
  const char* name;
  const char* original_flags;
  const char* load_arguments;
};

class CallByCall : public testing::TestWithParam<Mode> {};

TEST_P(CallByCall, IsTheOriginal) {
  if (!find_program("strace") || !find_program("hackbench")) {
    GTEST_SKIP() << "needs strace and rt-tests";
  }
  const Traced original =
      trace(std::string("TRACE hackbench -g 2 -f 3 -l 4 -s 100 ") + GetParam().original_flags);
  if (original.senders.empty()) {
    GTEST_SKIP() << "strace cannot trace here";
  }
  std::string arguments = GetParam().load_arguments;
  arguments.replace(arguments.find("COUNTS"), 6, "2 3 4 100");
  const Traced ours =
      trace(std::string("printf g | TRACE ") + KREPRO_HACKBENCH_LOAD + " " + arguments);
  EXPECT_EQ(original.senders.size(), 6U);
  EXPECT_EQ(ours.senders, original.senders);
  EXPECT_EQ(ours.receivers, original.receivers);
  EXPECT_EQ(ours.parent, original.parent);
}

INSTANTIATE_TEST_SUITE_P(Modes, CallByCall,
                         testing::Values(Mode{"process_pipe", "-p", "process pipe COUNTS -"},
                                         Mode{"process_socket", "", "process socket COUNTS -"},
                                         Mode{"process_inet", "-i", "process inet COUNTS -"},
                                         Mode{"thread_pipe", "-T -p", "threads pipe COUNTS -"},
                                         Mode{"thread_socket", "-T", "threads socket COUNTS -"},
                                         Mode{"thread_inet", "-T -i", "threads inet COUNTS -"},
                                         Mode{"process_pipe_fifo", "-p -F",
                                              "process pipe COUNTS fifo"}),
                         [](const auto& mode) { return std::string(mode.param.name); });

}  // namespace
}  // namespace krepro::hackbench
