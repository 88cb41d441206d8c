// The load against real servers: krepro's own and nginx, plain and TLS, over TCP and unix sockets;
// many connections, and an open loop that a stopped server does not slow down.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "common/process/descriptor.h"
#include "generators/http/process_accounts.h"
#include "generators/http/server.h"
#include "generators/http/server_folder.h"
#include "generators/http/test_support/running_http.h"

namespace krepro::http {
namespace {

using testing::HasSubstr;

constexpr const char* half_second = "--duration=500ms";

/// Both servers, as far as they are installed.
class EachServer : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("nginx") && find_nginx().empty()) {
      GTEST_SKIP() << "nginx is not installed";
    }
  }
  [[nodiscard]] static nlohmann::json options(
      const nlohmann::json& more = nlohmann::json::object()) {
    nlohmann::json made = {{"server", GetParam()}, {"server_workers", 2}};
    made.update(more);
    return made;
  }
};

void expect_good(const HttpRun& run) {
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
  EXPECT_GT(run.sample.at("operations").get<int>(), 10);
}

TEST_P(EachServer, AnswersGetHeadAndPost) {
  const RunningServer server(options());
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  for (const char* method : {"GET", "HEAD", "POST"}) {
    std::vector<std::string> arguments{half_second, "-c4", std::string("--method=") + method,
                                       server.url()};
    // More than nginx takes by default.
    if (method == std::string("POST")) arguments.emplace_back("--body-size=1100k");
    const HttpRun run = run_http(arguments);
    expect_good(run);
    EXPECT_EQ(run.sample.at("extra").at("statuses").size(), 1U) << method;
  }
}

TEST_P(EachServer, ServesFilesOfEverySize) {
  const RunningServer server(options({{"file_size", {"0", "612", "100k", "3m"}}}));
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  const std::pair<const char*, double> files[] = {
      {"/0.html", 0}, {"/612.html", 612}, {"/102400.html", 102400}, {"/3145728.html", 3145728}};
  for (const auto& [path, bytes] : files) {
    for (const char* pattern : {"wrk", "lean"}) {
      const HttpRun run = run_http(
          {half_second, "-c2", "-t1", std::string("--pattern=") + pattern, server.url(path)});
      expect_good(run);
      const double per_request =
          run.sample.at("metrics").at("bytes/s").at("value").get<double>() /
          run.sample.at("metrics").at("requests/s").at("value").get<double>();
      EXPECT_GT(per_request, bytes);
      // Headers, and parts of the responses in flight at the end.
      EXPECT_LT(per_request, bytes * 1.5 + 400);
    }
  }
}

TEST_P(EachServer, AnswersPipelinedRequests) {
  const RunningServer server(options());
  for (const char* pattern : {"wrk", "lean"}) {
    expect_good(run_http(
        {half_second, "-c4", "--pipeline=8", std::string("--pattern=") + pattern, server.url()}));
  }
}

TEST_P(EachServer, ListensOnAUnixSocketAndOnIpv6) {
  for (const char* where : {"unix", "::1"}) {
    const RunningServer server(options({{"listen", where}}));
    if (server.endpoint().empty() && where == std::string("::1")) continue;  // No IPv6 here.
    ASSERT_FALSE(server.endpoint().empty()) << server.problem();
    expect_good(run_http({half_second, "-c4", server.url()}));
  }
}

TEST_P(EachServer, ClosesConnectionsAfterSoManyRequestsAndIsNotBlamed) {
  const RunningServer server(options({{"keepalive_requests", 10}}));
  for (const char* pattern : {"wrk", "lean"}) {
    const HttpRun run =
        run_http({half_second, "-c4", std::string("--pattern=") + pattern, server.url()});
    expect_good(run);
    const double reopened = run.sample.at("extra").at("connections").at("reopened").get<double>();
    EXPECT_NEAR(reopened, run.sample.at("operations").get<double>() / 10, 6);
  }
}

TEST_P(EachServer, WritesItsAccessLog) {
  const RunningServer server(options({{"access_log", true}, {"listen", "unix"}}));
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  // Its folder is that of its socket.
  const std::size_t path = server.endpoint().find("unix:") + 5;
  const std::size_t path_end = server.endpoint().find("/socket", path);
  const std::string file = server.endpoint().substr(path, path_end - path) + "/access.log";
  const auto lines = [&file] {
    std::ifstream log(file);
    int count = 0;
    for (std::string line; std::getline(log, line);) {
      count += line.find("\"GET /test.html HTTP/1.1\" 200 612 ") != std::string::npos ? 1 : 0;
    }
    return count;
  };
  const int before = lines();
  const HttpRun run = run_http({half_second, "-c4", server.url()});
  expect_good(run);
  const int requests = run.sample.at("operations").get<int>();
  EXPECT_GE(lines() - before, requests);
  EXPECT_LE(lines() - before, requests + 4) << "with those in flight at the end";
}

TEST_P(EachServer, SharesConnectionsOutByTheKernel) {
  const RunningServer server(options({{"accept", "reuseport"}}));
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  const auto switches = [&] {
    std::vector<std::uint64_t> counts;
    for (const pid_t worker : server.workers()) {
      counts.push_back(read_accounts(worker, HostFiles("/"))->voluntary_switches);
    }
    return counts;
  };
  const std::vector<std::uint64_t> before = switches();
  ASSERT_EQ(before.size(), 2U);
  // The kernel chooses by a hash: that all 64 get the same worker does not happen.
  expect_good(run_http({half_second, "-c64", "-R400", server.url()}));
  const std::vector<std::uint64_t> after = switches();
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_GT(after[i], before[i] + 5) << "worker " << i;
}

TEST_P(EachServer, AnswersOnTheSamePortAgain) {
  const int port = unused_port();
  for (int turn = 0; turn < 2; ++turn) {
    // It closes first, so that the connections of the first turn wait on its side.
    const RunningServer server(options({{"port", port}, {"keepalive_requests", 5}}));
    ASSERT_FALSE(server.endpoint().empty()) << server.problem();
    expect_good(run_http({half_second, "-c4", server.url()}));
  }
}

/// Loads a server that stands still for `stopped_us`, while all want to open their connections
/// again: more than its queue takes.
HttpRun run_with_a_full_queue(const RunningServer& server, const char* pattern, const char* timeout,
                              unsigned stopped_us) {
  Child load = start_http({"-d1500ms", "-c800", "-t1", std::string("--timeout=") + timeout,
                           std::string("--pattern=") + pattern, server.url()});
  usleep(500'000);
  for (const pid_t worker : server.workers()) kill(worker, SIGSTOP);
  usleep(stopped_us);
  for (const pid_t worker : server.workers()) kill(worker, SIGCONT);
  HttpRun run = finish_http(load);
  EXPECT_GT(run.sample.at("extra").at("connections").at("retried").get<int>(), 0);
  EXPECT_THAT(run.sample.at("notes").dump(), HasSubstr("unix socket was full"));
  return run;
}

TEST_P(EachServer, MayHaveAFullQueueOnItsUnixSocket) {
  const RunningServer server(
      options({{"listen", "unix"}, {"keepalive_requests", 1}, {"server_workers", 1}}));
  for (const char* pattern : {"wrk", "lean"}) {
    SCOPED_TRACE(pattern);
    expect_good(run_with_a_full_queue(server, pattern, "20s", 300'000));
  }
}

TEST_P(EachServer, IsBlamedForAQueueThatStaysFull) {
  const RunningServer server(
      options({{"listen", "unix"}, {"keepalive_requests", 1}, {"server_workers", 1}}));
  for (const char* pattern : {"wrk", "lean"}) {
    SCOPED_TRACE(pattern);
    const HttpRun run = run_with_a_full_queue(server, pattern, "200ms", 700'000);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_GT(run.errors("connect"), 0U) << run.sample.at("errors");
    EXPECT_LT(run.errors("connect"), 800U * 15) << "no more than one each a tick";
    const auto& requests = run.sample.at("extra").at("requests");
    EXPECT_EQ(requests.at("started").get<int>(),
              requests.at("done").get<int>() + requests.at("dropped").get<int>() +
                  requests.at("in_flight_at_the_end").get<int>());
  }
}

TEST_P(EachServer, IsLookedAtWhereItsProcessIsNamed) {
  const RunningServer server(options());
  const HttpRun run = run_http(
      {half_second, "-c4", server.url(), "--server-pid=" + std::to_string(server.master())});
  expect_good(run);
  EXPECT_EQ(run.sample.at("extra").at("server_processes").at("processes"), 3);
  EXPECT_FALSE(run_http({half_second, "-c4", server.url()})
                   .sample.at("metrics")
                   .contains("server_switches/request"));
}

TEST_P(EachServer, TellsWhatARequestCostsIt) {
  const HttpRun run =
      run_http({half_second, "-c4", std::string("--server=") + GetParam(), "--server-workers=1"});
  expect_good(run);
  EXPECT_GT(run.sample.at("metrics").at("server_switches/request").at("value").get<double>(), 0);
  EXPECT_GT(run.sample.at("extra").at("server_processes").at("run_time_ns").get<double>(), 0);
  EXPECT_EQ(run.sample.at("extra").at("server").at("extra").at("server"), GetParam());
}

TEST_P(EachServer, SpeaksTls) {
  const RunningServer server(options({{"tls", true}, {"keepalive_requests", 20}}));
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  for (const char* version : {"1.2", "1.3"}) {
    for (const char* pattern : {"wrk", "lean"}) {
      for (const char* sessions : {"reuse", "off"}) {
        const HttpRun run =
            run_http({"--duration=1s", "-c4", "-t1", std::string("--tls-version=") + version,
                      std::string("--tls-sessions=") + sessions,
                      std::string("--pattern=") + pattern, server.url()});
        SCOPED_TRACE(testing::Message() << version << pattern << sessions);
        expect_good(run);
        const auto& connections = run.sample.at("extra").at("connections");
        EXPECT_GE(run.sample.at("latency").at("tls_handshake").at("count").get<int>(), 4);
        EXPECT_GT(connections.at("reopened").get<int>(), 0);
        if (sessions == std::string("reuse")) {
          EXPECT_GT(connections.at("tls_sessions_resumed").get<int>(), 0);
        } else {
          EXPECT_EQ(connections.at("tls_sessions_resumed"), 0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, EachServer, testing::Values("embedded", "nginx"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(Nginx, ServesBelowAFolderThatIsClosedToOthers) {
  if (find_nginx().empty()) GTEST_SKIP() << "nginx is not installed";
  const ServerFolder closed;
  std::filesystem::permissions(closed.path(), std::filesystem::perms::owner_all);
  setenv("TMPDIR", closed.path().c_str(), 1);
  RunningServer server({{"server", "nginx"}, {"server_workers", 1}});
  unsetenv("TMPDIR");
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  expect_good(run_http({half_second, "-c4", server.url()}));
  const nlohmann::json sample = server.stop();
  if (geteuid() == 0) {
    EXPECT_THAT(sample.at("notes").dump(), HasSubstr("workers ran as root"));
  } else {
    EXPECT_TRUE(sample.at("notes").empty()) << sample.at("notes");
  }
}

TEST(Nginx, ServesWhateverTheUmaskIs) {
  if (find_nginx().empty()) GTEST_SKIP() << "nginx is not installed";
  const mode_t before = umask(077);
  const RunningServer server({{"server", "nginx"}, {"server_workers", 1}});
  umask(before);
  ASSERT_FALSE(server.endpoint().empty()) << server.problem();
  expect_good(run_http({half_second, "-c4", server.url()}));
}

TEST(Nginx, MayBeReloadedUnderTheLoad) {
  if (find_nginx().empty()) GTEST_SKIP() << "nginx is not installed";
  for (const char* pattern : {"wrk", "lean"}) {
    SCOPED_TRACE(pattern);
    const RunningServer server({{"server", "nginx"}, {"server_workers", 2}});
    ASSERT_FALSE(server.endpoint().empty()) << server.problem();
    const std::vector<pid_t> before = server.workers();
    Child load = start_http({"-c16", "-t2", "-d3s", std::string("--pattern=") + pattern,
                             "--server=" + server.endpoint()});
    for (int reload = 0; reload < 3; ++reload) {
      usleep(700'000);
      kill(server.master(), SIGHUP);
    }
    const HttpRun run = finish_http(load);
    expect_good(run);
    EXPECT_GE(run.sample.at("extra").at("connections").at("reopened").get<int>(), 16);
    EXPECT_THAT(server.workers(), testing::Each(testing::Not(testing::AnyOfArray(before))));
    EXPECT_FALSE(run.sample.at("metrics").contains("server_switches/request"))
        << "the workers it began with took theirs along";
  }
}

TEST(Embedded, RequestsThePageThatTheUrlNames) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  // A fragment that names no process is the user's, and not the mark of a server of our own.
  const HttpRun run = run_http({half_second, "-c2", server.url("/missing.html#top")});
  EXPECT_EQ(run.errors("status"), run.sample.at("operations").get<std::uint64_t>());
}

TEST(Embedded, IsAskedForEachPathByItsWeight) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  for (const char* pattern : {"wrk", "lean"}) {
    const HttpRun run = run_http({half_second, "-c4", "-t2", std::string("--pattern=") + pattern,
                                  "--path=3:/test.html", "--path=1:/missing.html", server.url()});
    EXPECT_EQ(run.exit_code, 1) << "a page that is not there is an error";
    ASSERT_TRUE(run.sample.is_object());
    const double requests = run.sample.at("operations").get<double>();
    ASSERT_GT(requests, 100);
    // Five standard deviations of as many draws.
    EXPECT_NEAR(static_cast<double>(run.errors("status")) / requests, 0.25,
                5 * std::sqrt(0.25 * 0.75 / requests));
  }
}

TEST(Embedded, HasAProcessForEachWorker) {
  RunningServer server({{"server", "embedded"}, {"server_workers", 3}});
  EXPECT_EQ(server.workers().size(), 3U);
  expect_good(run_http({half_second, "-c16", "-t2", server.url()}));
  const nlohmann::json sample = server.stop();
  ASSERT_TRUE(sample.is_object());
  EXPECT_EQ(sample.at("extra").at("requests_of_workers").size(), 3U);
  EXPECT_EQ(sample.at("threads").at(0).at("count"), 3);
}

TEST(OpenLoop, AServerThatIsStoppedShowsInTheResponseTimes) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  Child load = start_http({"-R1000", "-c16", "-t2", "-d4s", "--timeout=20s", server.url()});
  usleep(1'500'000);
  for (const pid_t worker : server.workers()) kill(worker, SIGSTOP);
  usleep(1'000'000);
  for (const pid_t worker : server.workers()) kill(worker, SIGCONT);
  const HttpRun run = finish_http(load);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_EQ(run.sample.at("operations"), 4000) << "the schedule's, whatever the server does";
  EXPECT_TRUE(run.sample.at("achieved").at("rate_met").get<bool>());
  const auto& response = run.sample.at("latency").at("response");
  EXPECT_GT(response.at("max").get<double>(), 0.9e9);
  // A thousand were due meanwhile, with latencies spread evenly up to a second.
  EXPECT_GT(response.at("p95").get<double>(), 0.6e9);
  EXPECT_GT(response.at("p90").get<double>(), 0.4e9);
  const auto& service = run.sample.at("latency").at("service");
  EXPECT_LT(service.at("p95").get<double>(), 0.5e9) << "only what was on its way saw it";
}

TEST(OpenLoop, MoreThreadsThanRequestsASecondEndInTime) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  const HttpRun run = run_http({"-R4", "-c8", "-t8", "-d2s", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.sample.at("operations"), 8);
  EXPECT_LT(run.elapsed_s, 15);
}

TEST(OpenLoop, ARateThatCannotBeMetIsTold) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  const HttpRun run = run_http({"-R10M", "-c4", "-t1", "-d1s", "--timeout=500ms", server.url()});
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_FALSE(run.sample.at("achieved").at("rate_met").get<bool>());
  EXPECT_GT(run.sample.at("extra").at("unsent").get<std::uint64_t>(), 0U);
  const double seconds = run.sample.at("duration_ns").get<double>() / 1e9;
  EXPECT_NEAR(run.sample.at("metrics").at("requests/s").at("value").get<double>() * seconds,
              run.sample.at("operations").get<double>(), 4)
      << "but for what the connections wait for when the last request is sent";
}

TEST(ManyConnections, TenThousandTakeLessThanTenKilobytesEach) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's memory would be counted too";
#endif
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < 11'000) GTEST_SKIP() << "too few file descriptors: " << files.rlim_max;
  const RunningServer server(
      {{"server", "embedded"}, {"server_workers", 2}, {"connections", 10'000}});
  const auto memory_with = [&server](const char* connections) {
    const HttpRun run = run_http({"-d1s", "-t2", "--timeout=20s", connections, server.url()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (!run.sample.is_object()) return 0.0;
    EXPECT_EQ(run.sample.at("achieved").at("connections"),
              run.sample.at("asked").at("connections"));
    return run.sample.at("extra").at("peak_memory_bytes").get<double>();
  };
  const double few = memory_with("-c10");
  const double many = memory_with("-c10000");
  EXPECT_LT((many - few) / 9990, 10'000);
}

/// A network of this thread's own, in which 100 ports are free for connections; the former one is
/// back at the end.
class NetworkOfFewPorts {
 public:
  NetworkOfFewPorts() : former_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
    if (unshare(CLONE_NEWNET) != 0) return;
    entered_ = true;
    const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq loopback{{"lo"}, {}};
    loopback.ifr_flags = IFF_UP;
    std::ofstream range("/proc/sys/net/ipv4/ip_local_port_range");
    range << "40000 40099" << std::flush;
    made_ = ioctl(socket.get(), SIOCSIFFLAGS, &loopback) == 0 && range.good();
  }
  ~NetworkOfFewPorts() {
    if (!entered_) return;
    EXPECT_EQ(setns(former_.get(), CLONE_NEWNET), 0);
  }
  NetworkOfFewPorts(const NetworkOfFewPorts&) = delete;
  NetworkOfFewPorts& operator=(const NetworkOfFewPorts&) = delete;
  [[nodiscard]] bool made() const { return made_; }

 private:
  Descriptor former_;
  bool entered_ = false;
  bool made_ = false;
};

TEST(ManyConnections, WherePortsRunOutTheyComeFromSeveralAddresses) {
  const NetworkOfFewPorts network;
  if (!network.made()) GTEST_SKIP() << "a network namespace of its own may not be made here";
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  ASSERT_EQ(server.problem(), "");
  const HttpRun run = run_http({"-d300ms", "-t2", "-c350", server.url()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.sample.at("achieved").at("connections"), 350);
  EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
  EXPECT_GT(run.sample.at("operations"), 350);
}

}  // namespace
}  // namespace krepro::http
