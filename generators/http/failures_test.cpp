// What cannot work is one clear line and the right exit status, before any load.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/process/program.h"
#include "generators/http/server.h"
#include "generators/http/test_support/running_http.h"

namespace krepro::http {
namespace {

using testing::HasSubstr;

TEST(Failures, ARefusedPort) {
  const HttpRun run = run_http({"-c4", fmt::format("http://127.0.0.1:{}/", unused_port())});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("Connection refused"));
  EXPECT_THAT(run.err, HasSubstr("127.0.0.1"));
}

TEST(Failures, ARefusedPortOfAName) {
  const HttpRun run = run_http({"-c4", fmt::format("http://localhost:{}/", unused_port())});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("Connection refused"));
}

TEST(Failures, ANameThatDoesNotResolve) {
  const HttpRun run = run_http({"-c4", "http://no-such-host.invalid/"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no-such-host.invalid"));
  EXPECT_THAT(run.err, HasSubstr("does not resolve"));
}

TEST(Failures, AUnixSocketThatIsNotThere) {
  const HttpRun run = run_http({"-c4", "http://unix:/no/such/socket:/"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/no/such/socket"));
}

TEST(Failures, TooFewDescriptors) {
  const HttpRun run = run_http({"-c200", "http://127.0.0.1:1/"},
                               {"/bin/sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("RLIMIT_NOFILE"));
  EXPECT_THAT(run.err, HasSubstr("64"));
}

TEST(Failures, AServerThatDoesNotSpeakTls) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  const HttpRun run = run_http({"-c4", "https" + server.url().substr(4)});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("TLS"));
}

TEST(Failures, APortThatIsTaken) {
  const RunningServer first({{"server", "embedded"}, {"server_workers", 1}});
  const std::string endpoint = first.url("");
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  for (const char* kind : {"embedded", "nginx"}) {
    if (kind == std::string("nginx") && find_nginx().empty()) continue;
    const RunningServer second({{"server", kind}, {"port", port}});
    EXPECT_EQ(second.endpoint(), "");
    EXPECT_THAT(second.problem(), HasSubstr("Address already in use")) << kind;
  }
}

TEST(Localhost, MayAlsoBeIpv6) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  std::string url = server.url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  const HttpRun run = run_http({"-c64", "-t4", "-d500ms", url});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.sample.at("extra").at("address").get<std::string>(), HasSubstr("127.0.0.1:"));
}

TEST(MoreThreadsThanConnections, AreReducedWithANote) {
  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  const HttpRun run = run_http({"-c1", "-t8", "-d300ms", server.url()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.sample.at("achieved").at("threads"), 1);
  EXPECT_EQ(run.sample.at("asked").at("threads"), 8);
  EXPECT_FALSE(run.sample.at("notes").empty());
}

}  // namespace
}  // namespace krepro::http
