// Where responses end, for every way that HTTP/1.1 has to say it; each case arrives at once, byte
// by byte, and in two pieces parted anywhere.
#include "generators/http/response_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace krepro::http {
namespace {

using State = ResponseParser::State;

/// What became of a stream of responses.
struct Seen {
  std::vector<int> statuses;
  std::vector<bool> keep_alive;
  State last = State::more;
  Malformed malformed = Malformed::none;
  bool ends_with_connection = false;
  bool untouched = true;

  bool operator==(const Seen&) const = default;
};

/// Feeds the pieces, and goes on with the next response after each complete one.
Seen feed(const std::vector<std::string>& pieces, bool head = false,
          ResponseParser::Scan scan = ResponseParser::Scan::lines) {
  ResponseParser parser(head, scan);
  Seen seen;
  for (const std::string& piece : pieces) {
    std::size_t at = 0;
    while (at < piece.size() && seen.last != State::failed) {
      const ResponseParser::Step step = parser.feed(piece.data() + at, piece.size() - at);
      EXPECT_GT(step.consumed, 0U);
      at += step.consumed;
      seen.last = step.state;
      if (step.state != State::complete) continue;
      seen.statuses.push_back(parser.status());
      seen.keep_alive.push_back(parser.keep_alive());
      parser.next();
    }
  }
  seen.malformed = parser.malformed();
  seen.ends_with_connection = parser.ends_with_connection();
  seen.untouched = parser.untouched();
  return seen;
}

std::vector<std::string> byte_by_byte(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char letter : text) pieces.emplace_back(1, letter);
  return pieces;
}

/// The same in any pieces, and however the headers are gone through.
Seen feed_in_all_ways(const std::string& text, bool head = false) {
  const Seen whole = feed({text}, head);
  EXPECT_EQ(feed(byte_by_byte(text), head), whole) << text;
  constexpr auto every_byte = ResponseParser::Scan::every_byte;
  EXPECT_EQ(feed({text}, head, every_byte), whole) << text;
  EXPECT_EQ(feed(byte_by_byte(text), head, every_byte), whole) << text;
  for (std::size_t cut = 1; cut < text.size() && text.size() < 2000; ++cut) {
    EXPECT_EQ(feed({text.substr(0, cut), text.substr(cut)}, head), whole) << text << " at " << cut;
  }
  return whole;
}

void expect_complete(const std::string& text, const std::vector<int>& statuses, bool head = false) {
  const Seen seen = feed_in_all_ways(text, head);
  EXPECT_EQ(seen.statuses, statuses) << text;
  EXPECT_EQ(seen.last, State::complete) << text;
}

void expect_malformed(const std::string& text, Malformed why) {
  const Seen seen = feed_in_all_ways(text);
  EXPECT_EQ(seen.last, State::failed) << text;
  EXPECT_EQ(seen.malformed, why) << text;
}

TEST(ResponseParser, CountsABodyByItsLength) {
  expect_complete("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", {200});
  expect_complete("HTTP/1.1 200 OK\r\ncontent-LENGTH:5  \r\nX: y\r\n\r\nhello", {200});
  expect_complete("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", {200});
  expect_complete("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello",
                  {200});
}

TEST(ResponseParser, TakesLinesThatEndWithoutACarriageReturn) {
  expect_complete("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", {200});
}

TEST(ResponseParser, TakesAStatusWithoutAReason) {
  expect_complete("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", {200});
  expect_complete("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", {200});
}

TEST(ResponseParser, PartsPipelinedResponses) {
  expect_complete(
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
      "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
      {200, 404, 200});
}

TEST(ResponseParser, PutsChunksTogether) {
  expect_complete(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n",
      {200});
  expect_complete(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, "
      "chunked\r\n\r\n00005;name=\"v\"\r\nhello\r\n0;x\r\n\r\n",
      {200});
}

TEST(ResponseParser, PassesOverTrailers) {
  expect_complete(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nContent-Length: 7\r\nX: "
      "y\r\n\r\n"
      "HTTP/1.1 204 No Content\r\n\r\n",
      {200, 204});
}

TEST(ResponseParser, TheChunkedCodingOutranksALength) {
  const Seen seen = feed_in_all_ways(
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(seen.statuses, std::vector<int>{200});
  EXPECT_EQ(seen.keep_alive, std::vector<bool>{false}) << "such a connection is not trusted";
}

TEST(ResponseParser, AConnectionOfHttp10IsNotTrustedWithACoding) {
  const Seen seen = feed_in_all_ways(
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1\r\na\r\n0\r\n\r\n");
  EXPECT_EQ(seen.statuses, std::vector<int>{200});
  EXPECT_EQ(seen.keep_alive, std::vector<bool>{false});
}

TEST(ResponseParser, WithoutALengthTheBodyEndsWithTheConnection) {
  for (const char* text :
       {"HTTP/1.1 200 OK\r\n\r\nhello", "HTTP/1.0 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nhello"}) {
    const Seen seen = feed_in_all_ways(text);
    EXPECT_EQ(seen.last, State::more) << text;
    EXPECT_TRUE(seen.ends_with_connection) << text;
  }
  EXPECT_FALSE(
      feed_in_all_ways("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").ends_with_connection);
}

TEST(ResponseParser, InterimResponsesComeBeforeTheFinalOne) {
  expect_complete(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nLink: "
      "x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
      {200});
}

TEST(ResponseParser, SomeResponsesHaveNoBodyWhateverTheirHeadersSay) {
  expect_complete("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", {204});
  expect_complete("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", {304});
  expect_complete(
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      {200, 200}, true);
}

TEST(ResponseParser, SaysWhetherTheConnectionLivesOn) {
  const auto lives = [](const std::string& text) -> bool {
    return feed_in_all_ways(text).keep_alive.at(0);
  };
  EXPECT_TRUE(lives("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_FALSE(lives("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(lives("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_FALSE(lives("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
  EXPECT_TRUE(lives("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"));
}

TEST(ResponseParser, RefusesWhatIsNotHttp) {
  expect_malformed("SSH-2.0-OpenSSH_9.2\r\n", Malformed::status_line);
  expect_malformed("HTTP/2 200\r\n\r\n", Malformed::status_line);
  expect_malformed("HTTP/1.1 20 OK\r\n", Malformed::status_line);
  expect_malformed("HTTP/1.1 2000 OK\r\n", Malformed::status_line);
  expect_malformed("HTTP/1.1 099 OK\r\n", Malformed::status_line);
  expect_malformed("HTTP/1.1 101 Switching Protocols\r\n\r\n", Malformed::status_line);
  expect_malformed("\r\n", Malformed::status_line);
}

TEST(ResponseParser, RefusesLengthsThatContradictOrAreNone) {
  for (const char* value : {"-1", "+5", "5 5", "0x5", "", "5,6", "18446744073709551616"}) {
    expect_malformed(std::string("HTTP/1.1 200 OK\r\nContent-Length: ") + value + "\r\n\r\n",
                     Malformed::length);
  }
  expect_malformed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                   Malformed::length);
}

TEST(ResponseParser, RefusesHeadersThatHideALength) {
  expect_malformed("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", Malformed::header);
  expect_malformed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 6\r\n\r\n", Malformed::header);
  expect_malformed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
                   Malformed::header);
}

TEST(ResponseParser, LookingAtEveryByteRefusesWhatNoHeaderMayHave) {
  constexpr auto every_byte = ResponseParser::Scan::every_byte;
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n";
  for (const char* bad : {"X: a\001b\r\n", "X\001: b\r\n", "(X): b\r\n", ": b\r\n", "X: a\rb\r\n",
                          "X: a\r\r\n", "X: \177\r\n"}) {
    const std::string text = start + bad + "\r\n";
    EXPECT_EQ(feed({text}, false, every_byte).malformed, Malformed::header) << text;
    EXPECT_EQ(feed(byte_by_byte(text), false, every_byte).malformed, Malformed::header) << text;
  }
  for (const char* good : {"X: \"a\" (b)\r\n", "X:\r\n", "X: a\tb\r\n", "X: \303\244\r\n",
                           "X_.~!: b\n", "X: a\r\n b: (c)\r\n"}) {
    const std::string text = start + good + "\r\n";
    EXPECT_EQ(feed({text}, false, every_byte).last, State::complete) << text;
    EXPECT_EQ(feed(byte_by_byte(text), false, every_byte).last, State::complete) << text;
  }
  EXPECT_EQ(feed({"HTTP/1.1 200 O\001K\r\n"}, false, every_byte).malformed, Malformed::status_line);
}

TEST(ResponseParser, RefusesBrokenChunks) {
  const std::string start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect_malformed(start + "g\r\n", Malformed::chunk);
  expect_malformed(start + "\r\n", Malformed::chunk);
  expect_malformed(start + "-1\r\n", Malformed::chunk);
  // Of a line in two pieces not all is kept: these zeros are not the size.
  expect_malformed(start + std::string(300, '0') + "5\r\nhello\r\n0\r\n\r\n", Malformed::chunk);
  expect_malformed(start + "1\r\nab\r\n", Malformed::chunk);
  expect_malformed(start + "10000000000000000\r\n", Malformed::chunk);
}

TEST(ResponseParser, EndlessHeadersAreCutOff) {
  std::string text = "HTTP/1.1 200 OK\r\n";
  while (text.size() < 2 * ResponseParser::header_limit) text += "X-Header: value\r\n";
  EXPECT_EQ(feed({text}).malformed, Malformed::long_header);
  EXPECT_EQ(feed(byte_by_byte(text)).malformed, Malformed::long_header);
}

TEST(ResponseParser, AnEndlessLineIsCutOff) {
  EXPECT_EQ(feed(byte_by_byte("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'))).malformed,
            Malformed::long_header);
  EXPECT_EQ(feed(byte_by_byte(std::string(70'000, 'x'))).malformed, Malformed::long_header);
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(feed(byte_by_byte(chunked + std::string(70'000, '0'))).malformed, Malformed::chunk);
}

TEST(ResponseParser, EndlessInterimResponsesAreCutOff) {
  std::string text;
  while (text.size() < 2 * ResponseParser::header_limit) text += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(feed({text}).malformed, Malformed::long_header);
}

TEST(ResponseParser, ManyChunksAreNotEndlessHeaders) {
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 30'000; ++i) text += "1\r\na\r\n";
  EXPECT_EQ(feed({text + "0\r\n\r\n"}).statuses, std::vector<int>{200});
}

TEST(ResponseParser, ALongHeaderThatDoesNotShapeTheFramingIsPassedOver) {
  const std::string text = "HTTP/1.1 200 OK\r\nSet-Cookie: " + std::string(5000, 'c') +
                           "\r\nContent-Length: 2\r\n\r\nab";
  EXPECT_EQ(feed({text}).statuses, std::vector<int>{200});
  EXPECT_EQ(feed(byte_by_byte(text)).statuses, std::vector<int>{200});
}

TEST(ResponseParser, KnowsWhetherAnythingHasCome) {
  EXPECT_TRUE(feed({}).untouched);
  EXPECT_FALSE(feed({"H"}).untouched);
  EXPECT_TRUE(feed({"HTTP/1.1 204 No Content\r\n\r\n"}).untouched);
}

}  // namespace
}  // namespace krepro::http
