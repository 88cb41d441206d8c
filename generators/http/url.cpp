// Taking URLs apart; see url.h.
#include "generators/http/url.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"

namespace krepro::http {

namespace {

constexpr const char* expected = "expected for instance http://127.0.0.1:8080/index.html";

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw usage_error(fmt::format("\"{}\" is not a URL that can be loaded: {}", text, why), expected);
}

void check_port(std::string_view text, const std::string& port) {
  const bool digits =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  const int number = digits ? std::stoi(port) : 0;
  if (number < 1 || number > 65535) refuse(text, fmt::format("port \"{}\"", port));
}

/// "host", "host:port", "[::1]:port".
void read_authority(std::string_view text, std::string authority, Url& url) {
  if (authority.find('@') != std::string::npos) refuse(text, "a user name is not supported");
  url.host_header = authority;
  std::size_t host_end = 0;
  if (authority.starts_with('[')) {
    host_end = authority.find(']');
    if (host_end == std::string::npos) refuse(text, "\"[\" without \"]\"");
    url.host = authority.substr(1, host_end - 1);
    ++host_end;
  } else {
    host_end = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, host_end);
  }
  if (url.host.empty()) refuse(text, "no host");
  url.port = url.tls ? "443" : "80";
  if (host_end == authority.size()) return;
  if (authority[host_end] != ':') refuse(text, "what follows \"]\" is not a port");
  url.port = authority.substr(host_end + 1);
  check_port(text, url.port);
}

}  // namespace

Url parse_url(std::string_view text) {
  Url url;
  std::string_view rest = text;
  const auto is_bad = [](char c) { return c <= ' ' || c == 127; };
  if (std::any_of(text.begin(), text.end(), is_bad)) refuse(text, "a blank or control character");
  if (rest.starts_with("https://")) {
    url.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    refuse(text, "it begins neither with http:// nor with https://");
  }
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    url.fragment = rest.substr(hash + 1);
    rest = rest.substr(0, hash);
  }
  if (rest.starts_with("unix:")) {
    rest.remove_prefix(5);
    const std::size_t end = std::min(rest.find(':'), rest.size());
    url.unix_path = rest.substr(0, end);
    if (!url.unix_path.starts_with('/')) refuse(text, "unix: needs an absolute path");
    if (end < rest.size()) url.path = rest.substr(end + 1);
    url.host = url.host_header = "localhost";
  } else {
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    read_authority(text, std::string(rest.substr(0, end)), url);
    if (end < rest.size()) url.path = rest.substr(end);
  }
  if (!url.path.starts_with('/')) url.path = std::string("/").append(url.path);
  return url;
}

}  // namespace krepro::http
