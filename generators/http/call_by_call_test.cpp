// The system calls of the load against those of the installed wrk, one by one, from the first
// request on and over reopened connections: what makes the two the same load. Needs wrk and strace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/process/program.h"
#include "generators/http/test_support/running_http.h"

namespace krepro::http {
namespace {

using Calls = std::vector<std::string>;

constexpr std::size_t compared = 120;
constexpr std::int64_t trace_limit_ns = 60'000'000'000;

/// Of one thread: from its first request on, the calls that make the load.
Calls calls_of(const std::filesystem::path& trace) {
  static const std::set<std::string> load{"read",    "write", "epoll_ctl",  "epoll_wait", "socket",
                                          "connect", "fcntl", "setsockopt", "close",      "ioctl"};
  Calls calls;
  bool requests = false;
  std::ifstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('('));
    if (name == "write" && line.find("GET /") != std::string::npos) requests = true;
    // A wait that ends with its time says only how fast the machine is.
    const bool timed_out = name == "epoll_wait" && line.ends_with("= 0");
    if (requests && load.contains(name) && !timed_out) calls.push_back(name);
  }
  return calls;
}

/// The busiest thread of a traced command.
Calls traced(const std::vector<std::string>& command) {
  std::string name = (std::filesystem::temp_directory_path() / "krepro-calls-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return {};
  const std::filesystem::path directory = name;
  SpawnRequest request;
  request.argv = {"strace", "-ff", "-o", (directory / "task").string()};
  request.argv.insert(request.argv.end(), command.begin(), command.end());
  request.pipe_stdin = false;
  static_cast<void>(run_command(request, trace_limit_ns));
  Calls busiest;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    Calls calls = calls_of(file.path());
    if (calls.size() > busiest.size()) busiest = std::move(calls);
  }
  std::filesystem::remove_all(directory);
  busiest.resize(std::min(busiest.size(), compared));
  return busiest;
}

class CallByCall : public testing::TestWithParam<const char*> {};

TEST_P(CallByCall, IsWrk) {
  if (!find_program("strace") || !find_program("wrk")) GTEST_SKIP() << "needs strace and wrk";
  // Every fifth request closes its connection.
  const RunningServer server({{"server", "embedded"},
                              {"server_workers", 1},
                              {"keepalive_requests", 5},
                              {"file_size", {GetParam()}}});
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  const std::vector<std::string> arguments{"-t1", "-c1", "-d1", server.url()};
  std::vector<std::string> wrk{"wrk"};
  std::vector<std::string> ours{KREPRO_HTTP};
  wrk.insert(wrk.end(), arguments.begin(), arguments.end());
  ours.insert(ours.end(), arguments.begin(), arguments.end());
  const Calls original = traced(wrk);
  if (original.size() < compared) GTEST_SKIP() << "strace cannot trace here";
  EXPECT_EQ(traced(ours), original);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CallByCall, testing::Values("612", "4096"),
                         [](const auto& size) { return std::string(size.param); });

}  // namespace
}  // namespace krepro::http
