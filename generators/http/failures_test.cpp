// What cannot work is one clear line and the right exit status, before any load.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/process/program.h"
#include "generators/http/server.h"
#include "generators/http/server_folder.h"
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

TEST(Localhost, IsTriedAtEachOfItsAddresses) {
  const ServerFolder folder;
  const std::string hosts = folder.path() / "hosts";
  std::ofstream(hosts) << "::1 localhost\n127.0.0.1 localhost\n";
  // In mounts of its own, so that no one else sees these addresses.
  const std::vector<std::string> with_hosts{
      "unshare", "--mount", "sh", "-c", R"(mount --bind "$0" /etc/hosts && exec "$@")", hosts};
  SpawnRequest resolve;
  resolve.argv = with_hosts;
  resolve.argv.insert(resolve.argv.end(), {"getent", "ahosts", "localhost"});
  resolve.pipe_stdin = false;
  const std::string addresses = run_command(resolve, 10'000'000'000).out;
  if (!addresses.starts_with("::1")) GTEST_SKIP() << "localhost cannot be made ::1 here";

  const RunningServer server({{"server", "embedded"}, {"server_workers", 1}});
  std::string url = server.url();
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  const HttpRun run = run_http({"-c64", "-t4", "-d500ms", url}, with_hosts);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_TRUE(run.sample.is_object());
  EXPECT_THAT(run.sample.at("extra").at("address").get<std::string>(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(run.errors(), 0U) << run.sample.at("errors");
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
