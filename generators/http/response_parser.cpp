// The framing of responses. Lines are found by memchr and looked at where they lie; only a line
// that is spread over two reads is copied, and of it no more than partial_limit bytes.
#include "generators/http/response_parser.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace krepro::http {

namespace {

constexpr std::uint32_t chunk_line_limit = 4096;
/// With zeros and blanks; below what is kept of a line that came in two pieces.
constexpr std::size_t chunk_digits_limit = 64;
static_assert(chunk_digits_limit < ResponseParser::partial_limit);

/// The bytes of header lines (RFC 9110, 5.5 and 5.6.2), gone through one by one.
namespace scan {

enum Kind : std::uint8_t { token, colon, blank, visible, carriage_return, line_end, control };
/// `value`: also in a status line.
enum State : std::uint8_t { line_start, name, value, at_return, forbidden };

constexpr std::array<std::uint8_t, 256> kinds_of_bytes() {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t byte = 0; byte < kinds.size(); ++byte) {
    const bool alphanumeric = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                              (byte >= 'a' && byte <= 'z');
    const bool is_control = byte < ' ' || byte == 127;
    // Bytes above 127 are allowed in values, for old encodings.
    kinds[byte] = alphanumeric ? token : (is_control ? control : visible);
  }
  for (const char letter : std::string_view("!#$%&'*+-.^_`|~")) {
    kinds[static_cast<unsigned char>(letter)] = token;
  }
  kinds[':'] = colon;
  kinds[' '] = kinds['\t'] = blank;
  kinds['\r'] = carriage_return;
  kinds['\n'] = line_end;
  return kinds;
}

constexpr std::array<std::uint8_t, 256> kind_of_byte = kinds_of_bytes();

/// By state and kind. A line that begins with a blank goes on with the value of the line before.
constexpr std::uint8_t next_state[5][7] = {
    {name, forbidden, value, forbidden, at_return, line_start, forbidden},
    {name, value, name, forbidden, at_return, line_start, forbidden},
    {value, value, value, value, at_return, line_start, forbidden},
    {forbidden, forbidden, forbidden, forbidden, forbidden, line_start, forbidden},
    {forbidden, forbidden, forbidden, forbidden, forbidden, forbidden, forbidden}};

}  // namespace scan

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

/// `lower_name` is in lower case.
bool same_name(std::string_view text, std::string_view lower_name) {
  return text.size() == lower_name.size() &&
         std::equal(text.begin(), text.end(), lower_name.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Calls `take` with each element of a comma-separated list.
template <typename Take>
void for_each_element(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    take(trimmed(list.substr(0, comma)));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// The whole text as a number; false on anything else and on overflow.
bool read_number(std::string_view text, int base, std::uint64_t& value) {
  if (text.empty()) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

/// The names of headers that shape the framing; everything else is passed over.
bool is_known(std::string_view name) {
  switch (name.size()) {
    case 10:
      return same_name(name, "connection");
    case 14:
      return same_name(name, "content-length");
    case 17:
      return same_name(name, "transfer-encoding");
    default:
      return false;
  }
}

}  // namespace

void ResponseParser::next() {
  start_message();
  untouched_ = true;
  header_bytes_ = 0;
}

void ResponseParser::start_message() {
  place_ = Place::status_line;
  malformed_ = Malformed::none;
  keep_alive_ = true;
  chunked_ = false;
  other_coding_ = false;
  has_length_ = false;
  last_was_known_ = false;
  status_ = 0;
  partial_size_ = 0;
  line_bytes_ = 0;
  remaining_ = 0;
  scan_state_ = scan::line_start;
}

ResponseParser::Step ResponseParser::feed(const char* data, std::size_t size) {
  std::size_t at = 0;
  if (size > 0) untouched_ = false;
  while (at < size && place_ != Place::done && malformed_ == Malformed::none) {
    switch (place_) {
      case Place::body:
      case Place::chunk_data: {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, size - at));
        at += part;
        remaining_ -= part;
        if (remaining_ == 0) place_ = place_ == Place::body ? Place::done : Place::chunk_end;
        break;
      }
      case Place::until_close:
        at = size;
        break;
      default:
        at += take_line(data + at, size - at);
        break;
    }
  }
  if (malformed_ != Malformed::none) return {at, State::failed};
  return {at, place_ == Place::done ? State::complete : State::more};
}

const char* ResponseParser::find_line_end(const char* data, std::size_t size) {
  if (scan_ == Scan::lines) return static_cast<const char*>(std::memchr(data, '\n', size));
  std::uint8_t state = scan_state_;
  if (place_ == Place::status_line && state == scan::line_start) state = scan::value;
  for (std::size_t i = 0; i < size; ++i) {
    state = scan::next_state[state][scan::kind_of_byte[static_cast<unsigned char>(data[i])]];
    if (data[i] != '\n') continue;
    scan_state_ = scan::line_start;
    if (state == scan::forbidden) {
      fail(place_ == Place::status_line ? Malformed::status_line : Malformed::header);
    }
    return data + i;
  }
  scan_state_ = state;
  return nullptr;
}

std::size_t ResponseParser::take_line(const char* data, std::size_t size) {
  const bool in_chunks = place_ == Place::chunk_size || place_ == Place::chunk_end;
  const char* end = in_chunks ? static_cast<const char*>(std::memchr(data, '\n', size))
                              : find_line_end(data, size);
  const std::size_t taken = end == nullptr ? size : static_cast<std::size_t>(end - data) + 1;
  // `taken` is at most what one read gives, so that neither sum can wrap.
  line_bytes_ += static_cast<std::uint32_t>(taken);
  if (!in_chunks) header_bytes_ += static_cast<std::uint32_t>(taken);
  if (header_bytes_ > header_limit) {
    fail(Malformed::long_header);
  } else if (in_chunks && line_bytes_ > chunk_line_limit) {
    fail(Malformed::chunk);
  } else if (end == nullptr) {
    keep_partial(data, size);
  } else if (partial_size_ == 0) {
    line_bytes_ = 0;
    end_of_line({data, taken - 1}, false);
  } else {
    keep_partial(data, taken - 1);
    const bool cut = line_bytes_ - 1 > partial_size_;
    line_bytes_ = 0;
    const std::size_t length = partial_size_;
    partial_size_ = 0;
    end_of_line({partial_.data(), length}, cut);
  }
  return taken;
}

void ResponseParser::keep_partial(const char* data, std::size_t size) {
  const std::size_t part = std::min(size, partial_limit - partial_size_);
  std::memcpy(partial_.data() + partial_size_, data, part);
  partial_size_ = static_cast<std::uint16_t>(partial_size_ + part);
}

void ResponseParser::end_of_line(std::string_view line, bool cut) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  switch (place_) {
    case Place::status_line:
      status_line(line);
      break;
    case Place::header:
      if (line.empty()) {
        end_of_headers();
      } else {
        header_line(line, cut);
      }
      break;
    case Place::trailer:
      if (line.empty()) place_ = Place::done;
      break;
    case Place::chunk_end:
      if (!line.empty()) fail(Malformed::chunk);
      place_ = Place::chunk_size;
      break;
    default:
      chunk_size_line(line);
      break;
  }
}

void ResponseParser::status_line(std::string_view line) {
  constexpr std::string_view start = "HTTP/1.";
  constexpr std::size_t status_at = 9;
  constexpr std::size_t size_min = status_at + 3;
  if (line.size() < size_min || line.substr(0, start.size()) != start || !is_digit(line[7]) ||
      line[8] != ' ' || (line.size() > size_min && line[size_min] != ' ')) {
    return fail(Malformed::status_line);
  }
  std::uint64_t status = 0;
  if (!read_number(line.substr(status_at, 3), 10, status) || status < 100 || status == 101) {
    return fail(Malformed::status_line);
  }
  status_ = static_cast<std::uint16_t>(status);
  old_version_ = line[7] == '0';
  keep_alive_ = !old_version_;
  place_ = Place::header;
}

void ResponseParser::header_line(std::string_view line, bool cut) {
  const char first = line.front();
  if (first == ' ' || first == '\t') {
    if (last_was_known_) fail(Malformed::header);
    return;
  }
  last_was_known_ = false;
  if (lower(first) != 'c' && lower(first) != 't') return;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon);
  if (!is_known(name)) {
    // "Content-Length : 5" is how one hides a length from the next reader.
    if (is_known(trimmed(name))) fail(Malformed::header);
    return;
  }
  if (cut) return fail(Malformed::header);
  last_was_known_ = true;
  known_header(name, trimmed(line.substr(colon + 1)));
}

void ResponseParser::known_header(std::string_view name, std::string_view value) {
  if (same_name(name, "content-length")) return content_length(value);
  if (same_name(name, "connection")) {
    for_each_element(value, [this](std::string_view element) {
      if (same_name(element, "close")) keep_alive_ = false;
      if (same_name(element, "keep-alive")) keep_alive_ = true;
    });
    return;
  }
  for_each_element(value, [this](std::string_view coding) {
    if (coding.empty()) return;
    // Only the last coding can be the framing, and chunks of chunks there are not.
    const bool chunked = same_name(coding, "chunked");
    if (chunked && chunked_) fail(Malformed::header);
    chunked_ = chunked;
    other_coding_ = !chunked;
  });
}

void ResponseParser::content_length(std::string_view value) {
  bool any = false;
  for_each_element(value, [this, &any](std::string_view element) {
    std::uint64_t length = 0;
    any = true;
    if (!read_number(element, 10, length) || (has_length_ && length != remaining_)) {
      return fail(Malformed::length);
    }
    has_length_ = true;
    remaining_ = length;
  });
  if (!any) fail(Malformed::length);
}

void ResponseParser::end_of_headers() {
  if (status_ < 200) {
    // The final response follows; what was used up of the header limit stays used up.
    start_message();
    return;
  }
  if (head_ || status_ == 204 || status_ == 304) {
    place_ = Place::done;
  } else if (chunked_) {
    // With a length beside it the connection cannot be trusted any further (RFC 9112, 6.3), nor
    // from a server of HTTP/1.0, which knows no codings (6.1).
    if (has_length_ || old_version_) keep_alive_ = false;
    place_ = Place::chunk_size;
  } else if (has_length_ && !other_coding_) {
    place_ = remaining_ == 0 ? Place::done : Place::body;
  } else {
    keep_alive_ = false;
    place_ = Place::until_close;
  }
}

void ResponseParser::chunk_size_line(std::string_view line) {
  const std::string_view digits = line.substr(0, std::min(line.find(';'), line.size()));
  std::uint64_t size = 0;
  if (digits.size() > chunk_digits_limit || !read_number(trimmed(digits), 16, size)) {
    return fail(Malformed::chunk);
  }
  remaining_ = size;
  place_ = size == 0 ? Place::trailer : Place::chunk_data;
}

}  // namespace krepro::http
