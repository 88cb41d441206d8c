// Where one HTTP/1.1 response ends and the next begins (RFC 9112, section 6): the framing, the
// status and whether the connection lives on, and nothing else of a response. Fed with whatever
// arrived, in pieces of any size; allocates nothing; what it remembers is bounded. Reads no socket
// and keeps no body.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krepro::http {

/// What is wrong with a response; each is counted apart.
enum class Malformed : std::uint8_t {
  none,
  status_line,  ///< Not HTTP/1.x, or no status of three digits; 101, which nobody asked for.
  header,       ///< A header that shapes the framing cannot be read.
  long_header,  ///< Headers, interim responses and trailers of more than header_limit.
  length,       ///< Content-Length is not a number, or two differ.
  chunk,        ///< A chunk's size or its end is wrong.
};

class ResponseParser {
 public:
  /// Bytes of headers (with those of interim responses and trailers) that a response may have.
  static constexpr std::uint32_t header_limit = 65536;
  /// Bytes of a line whose two parts came in different pieces that are looked at.
  static constexpr std::size_t partial_limit = 256;

  enum class State : std::uint8_t { more, complete, failed };
  struct Step {
    std::size_t consumed = 0;
    State state = State::more;
  };

  /// How the headers are gone through.
  enum class Scan : std::uint8_t {
    lines,      ///< Line ends are looked for, and the few names that shape the framing.
    every_byte  ///< As wrk's parser: every byte, and one that no header may have is refused.
  };

  /// `head`: the requests are HEAD, so that no response has a body.
  explicit ResponseParser(bool head = false, Scan scan = Scan::lines) : scan_(scan), head_(head) {}

  /// Takes bytes up to the end of one response at most. `complete`: the rest belongs to the next
  /// one, after next(). `failed`: malformed() says why, and the connection is of no use any more.
  Step feed(const char* data, std::size_t size);
  /// The peer has closed: true when that completes the response (a body without a length).
  [[nodiscard]] bool ends_with_connection() const { return place_ == Place::until_close; }
  /// Ready for the next response on the same connection; also for a new connection.
  void next();

  [[nodiscard]] Malformed malformed() const { return malformed_; }
  [[nodiscard]] int status() const { return status_; }
  /// May carry another request after this response; only once it is complete.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  /// Not a byte of a response, or of an interim one before it, has come.
  [[nodiscard]] bool untouched() const { return untouched_; }

 private:
  enum class Place : std::uint8_t {
    status_line,
    header,
    body,
    chunk_size,
    chunk_data,
    chunk_end,
    trailer,
    until_close,
    done
  };

  std::size_t take_line(const char* data, std::size_t size);
  /// The line's end in `data`, null where it is not there. Fails the response where the line has a
  /// byte that may not be in a header.
  const char* find_line_end(const char* data, std::size_t size);
  void keep_partial(const char* data, std::size_t size);
  void end_of_line(std::string_view line, bool cut);
  void status_line(std::string_view line);
  void header_line(std::string_view line, bool cut);
  void known_header(std::string_view name, std::string_view value);
  void content_length(std::string_view value);
  void end_of_headers();
  void chunk_size_line(std::string_view line);
  void start_message();
  void fail(Malformed what) { malformed_ = what; }

  Place place_ = Place::status_line;
  Malformed malformed_ = Malformed::none;
  Scan scan_;
  std::uint8_t scan_state_ = 0;  ///< Of the current line, see response_parser.cpp.
  bool head_;
  bool untouched_ = true;
  bool keep_alive_ = true;
  bool old_version_ = false;  ///< HTTP/1.0.
  bool chunked_ = false;
  bool other_coding_ = false;
  bool has_length_ = false;
  bool last_was_known_ = false;  ///< The header before shapes the framing: it must not be folded.
  std::uint16_t status_ = 0;
  std::uint16_t partial_size_ = 0;
  std::uint32_t header_bytes_ = 0;
  std::uint32_t line_bytes_ = 0;  ///< Of the current line so far.
  std::uint64_t remaining_ = 0;   ///< Of the body or the chunk.
  std::array<char, partial_limit> partial_;
};

}  // namespace krepro::http
