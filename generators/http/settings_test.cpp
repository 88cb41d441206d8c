// Options to settings, and requests as they go over the wire.
#include "generators/http/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"
#include "generators/http/http_options.h"
#include "generators/http/load_plan.h"

namespace krepro::http {
namespace {

using testing::HasSubstr;
using Texts = std::vector<std::pair<std::string, std::string>>;

Options options_with(const Texts& given) {
  Options options(description().options);
  for (const auto& [name, value] : given) options.set(name, value);
  return options;
}

LoadSettings load_with(const Texts& given) { return load_settings(options_with(given)); }

std::string message_of(const Texts& given) {
  try {
    static_cast<void>(load_with(given));
    static_cast<void>(server_settings(options_with(given)));
    if (options_with(given).has("url")) refuse_server_options(options_with(given));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Settings, HaveTheDefaultsOfWrk) {
  const LoadSettings load = load_with({});
  EXPECT_EQ(load.threads, 2U);
  EXPECT_EQ(load.connections, 10U);
  EXPECT_EQ(load.duration_ns, 10'000'000'000);
  EXPECT_EQ(load.timeout_ns, 2'000'000'000);
  EXPECT_EQ(load.pattern, Pattern::wrk);
  EXPECT_FALSE(load.open_loop());
}

TEST(Settings, TakeTheShortNamesOfWrk) {
  const LoadSettings load =
      load_with({{"t", "4"}, {"c", "1k"}, {"d", "90"}, {"T", "3s"}, {"H", "A: b"}, {"L", ""}});
  EXPECT_EQ(load.threads, 4U);
  EXPECT_EQ(load.connections, 1000U);
  EXPECT_EQ(load.duration_ns, 90'000'000'000);
  EXPECT_EQ(load.timeout_ns, 3'000'000'000);
  EXPECT_EQ(load.headers, std::vector<std::string>{"A: b"});
  EXPECT_TRUE(load.show_latency);
}

TEST(Settings, OpenAsManyConnectionsAsAskedUnlessWrksRoundingIsWanted) {
  EXPECT_EQ(load_with({{"t", "64"}, {"c", "200"}}).connections, 200U);
  EXPECT_EQ(load_with({{"t", "64"}, {"c", "200"}, {"wrk-rounding", ""}}).connections, 192U);
  EXPECT_EQ(load_with({{"t", "64"}, {"c", "1000"}, {"wrk-rounding", ""}}).connections, 960U);
}

TEST(Settings, HaveNoMoreThreadsThanConnections) {
  const LoadSettings load = load_with({{"t", "8"}, {"c", "1"}});
  EXPECT_EQ(load.threads, 1U);
  EXPECT_EQ(load.asked_threads, 8U);
}

TEST(Settings, ARateIsAnOpenLoopInTheLeanPattern) {
  const LoadSettings load = load_with({{"R", "20k"}});
  EXPECT_TRUE(load.open_loop());
  EXPECT_EQ(load.rate, 20000);
  EXPECT_EQ(load.pattern, Pattern::lean);
  EXPECT_THAT(message_of({{"R", "1"}, {"pattern", "wrk"}}), HasSubstr("closed loop"));
  EXPECT_THAT(message_of({{"R", "1"}, {"pipeline", "2"}}), HasSubstr("pipeline"));
  EXPECT_THAT(message_of({{"arrivals", "poisson"}}), HasSubstr("only with a rate"));
}

TEST(Settings, RefuseWhatContradictsItself) {
  EXPECT_THAT(message_of({{"body-size", "5"}}), HasSubstr("only POST"));
  EXPECT_THAT(message_of({{"H", "nonsense"}}), HasSubstr("Name: value"));
  EXPECT_THAT(message_of({{"path", "3/a"}}), HasSubstr("WEIGHT:/PATH"));
  EXPECT_THAT(message_of({{"path", "0:/a"}}), HasSubstr("weight"));
  EXPECT_THAT(message_of({{"path", "/a b"}}), HasSubstr("escaped"));
  EXPECT_THAT(message_of({{"server", "apache"}}), HasSubstr("apache"));
  EXPECT_THAT(message_of({{"listen", "unix"}, {"port", "80"}}), HasSubstr("unix socket"));
  EXPECT_THAT(message_of({{"listen", "unix"}, {"accept", "reuseport"}}), HasSubstr("unix socket"));
  EXPECT_THAT(message_of({{"url", "http://a/"}, {"file-size", "4k"}}), HasSubstr("file-size"));
  EXPECT_THAT(message_of({{"url", "http://a/"}, {"server", "nginx"}}), HasSubstr("url and server"));
  EXPECT_THAT(message_of({{"file-size", "4k"}, {"file-size", "4096"}}), HasSubstr("twice"));
  EXPECT_THAT(message_of({{"script", "x.lua"}}), HasSubstr("script"));
}

TEST(Request, IsWrks) {
  const Url url = parse_url("http://127.0.0.1:8080/test.html");
  EXPECT_EQ(request_text(load_with({}), url, "/test.html"),
            "GET /test.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
}

TEST(Request, HasItsHeadersAndItsBody) {
  const Url url = parse_url("http://a/");
  EXPECT_EQ(
      request_text(load_with({{"method", "POST"}, {"body-size", "3"}, {"H", "hOST: b"}}), url, "/"),
      "POST / HTTP/1.1\r\nhOST: b\r\nContent-Length: 3\r\n\r\nxxx");
  EXPECT_THAT(request_text(load_with({{"method", "HEAD"}}), url, "/"),
              HasSubstr("HEAD / HTTP/1.1"));
}

TEST(Request, PathsAreThoseOfTheOptionsThenTheUrlThenTheServer) {
  const Url url = parse_url("http://a/x");
  const ServerSettings one = server_settings(options_with({}));
  const ServerSettings two =
      server_settings(options_with({{"file-size", "612"}, {"file-size", "4k"}}));
  EXPECT_EQ(requested_paths(load_with({}), url, false, one).at(0).path, "/x");
  EXPECT_EQ(requested_paths(load_with({}), url, true, one).at(0).path, "/test.html");
  EXPECT_EQ(requested_paths(load_with({}), url, true, two).at(1).path, "/4096.html");
  EXPECT_EQ(requested_paths(load_with({{"path", "/y"}}), url, true, two).at(0).path, "/y");
}

TEST(RequestMix, ChoosesByWeightAndSeed) {
  const LoadSettings load = load_with({});
  const RequestMix mix(load, parse_url("http://a/"), {{"/a", 3}, {"/b", 1}});
  RandomStream random(7, 0);
  RandomStream again(7, 0);
  int first = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint32_t picked = mix.pick(random);
    EXPECT_EQ(picked, mix.pick(again));
    first += picked == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, 7500, 200);
}

TEST(LoadPlan, GivesEachThreadItsShareOfTheConnections) {
  LoadPlan plan;
  plan.settings.threads = 3;
  plan.settings.connections = 10;
  EXPECT_EQ(plan.connections_of(0), 4U);
  EXPECT_EQ(plan.connections_of(1), 3U);
  EXPECT_EQ(plan.connections_of(2), 3U);
}

}  // namespace
}  // namespace krepro::http
