// URLs as users, wrk and our own servers write them.
#include "generators/http/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/error.h"

namespace krepro::http {
namespace {

TEST(Url, HasHostPortAndPath) {
  const Url url = parse_url("http://www.example.org:8080/a/b?c=d#e");
  EXPECT_FALSE(url.tls);
  EXPECT_EQ(url.host, "www.example.org");
  EXPECT_EQ(url.port, "8080");
  EXPECT_EQ(url.path, "/a/b?c=d");
  EXPECT_EQ(url.fragment, "e");
  EXPECT_EQ(url.host_header, "www.example.org:8080");
}

TEST(Url, KnowsTheUsualPorts) {
  EXPECT_EQ(parse_url("http://a").port, "80");
  EXPECT_EQ(parse_url("http://a").host_header, "a");
  EXPECT_EQ(parse_url("https://a/").port, "443");
  EXPECT_TRUE(parse_url("https://a/").tls);
  EXPECT_EQ(parse_url("http://a").path, "/");
  EXPECT_EQ(parse_url("http://a?b").path, "/?b");
}

TEST(Url, KeepsTheBracketsOfAnIpv6AddressInTheHostHeader) {
  const Url url = parse_url("http://[::1]:8080/");
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.port, "8080");
  EXPECT_EQ(url.host_header, "[::1]:8080");
}

TEST(Url, NamesUnixSocketsAsNginxDoes) {
  const Url url = parse_url("http://unix:/run/web.socket:/index.html#process=1.2");
  EXPECT_EQ(url.unix_path, "/run/web.socket");
  EXPECT_EQ(url.path, "/index.html");
  EXPECT_EQ(url.host_header, "localhost");
  EXPECT_EQ(url.fragment, "process=1.2");
  EXPECT_EQ(parse_url("http://unix:/run/web.socket:").path, "/");
}

TEST(Url, RefusesWhatCannotBeLoaded) {
  for (const char* text : {"", "localhost:80", "ftp://a/", "http://", "http://:80/", "http://a:0/",
                           "http://a:65536/", "http://a:x/", "http://[::1/", "http://[::1]80/",
                           "http://user@a/", "http://a/b c", "http://unix:relative:/"}) {
    EXPECT_THROW(static_cast<void>(parse_url(text)), Error) << text;
  }
}

}  // namespace
}  // namespace krepro::http
