// Any bytes in any pieces: the parser must not read out of bounds, must make progress, and must say
// the same whether they come at once or byte by byte.
#include <cstdint>

#include "common/base/check.h"
#include "generators/http/response_parser.h"

namespace {

using krepro::http::Malformed;
using krepro::http::ResponseParser;

struct Outcome {
  std::uint64_t responses = 0;
  std::uint64_t statuses = 0;
  Malformed malformed = Malformed::none;
  bool ends_with_connection = false;
  bool operator==(const Outcome&) const = default;
};

Outcome feed(const char* data, std::size_t size, std::size_t piece, bool head,
             ResponseParser::Scan scan) {
  ResponseParser parser(head, scan);
  Outcome outcome;
  std::size_t at = 0;
  while (at < size) {
    const std::size_t end = piece == 0 || size - at < piece ? size : at + piece;
    const ResponseParser::Step step = parser.feed(data + at, end - at);
    KREPRO_CHECK(step.consumed > 0 && step.consumed <= end - at);
    at += step.consumed;
    if (step.state == ResponseParser::State::failed) break;
    if (step.state == ResponseParser::State::more) continue;
    ++outcome.responses;
    outcome.statuses = outcome.statuses * 31 + static_cast<std::uint64_t>(parser.status());
    parser.next();
  }
  outcome.malformed = parser.malformed();
  outcome.ends_with_connection = parser.ends_with_connection();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const char* text = reinterpret_cast<const char*>(data);
  for (const auto scan : {ResponseParser::Scan::lines, ResponseParser::Scan::every_byte}) {
    for (const bool head : {false, true}) {
      const Outcome whole = feed(text, size, 0, head, scan);
      // A framing header of more than partial_limit bytes is refused where it comes in pieces only.
      if (size <= ResponseParser::partial_limit) {
        KREPRO_CHECK(feed(text, size, 1, head, scan) == whole);
      }
      static_cast<void>(feed(text, size, 7, head, scan));
    }
  }
  return 0;
}
