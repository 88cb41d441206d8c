#include "common/base/kernel_text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

namespace krepro {
namespace {

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t start = text.find_first_not_of(separators);
  while (start != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = text.find_first_not_of(separators, end);
  }
  return parts;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) { return split_at(text, "\n"); }

std::vector<std::string_view> words_of(std::string_view line) { return split_at(line, " \t"); }

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || stop != word.data() + word.size()) return std::nullopt;
  return value;
}

std::string_view marked_word(std::string_view text) {
  for (const std::string_view word : words_of(text)) {
    const bool marked = word.size() > 2 && ((word.front() == '[' && word.back() == ']') ||
                                            (word.front() == '(' && word.back() == ')'));
    if (marked) return word.substr(1, word.size() - 2);
  }
  return {};
}

std::string reason_text(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return "absent";
    case EACCES:
    case EPERM:
      return "no permission";
    case 0:
      return "empty";
    default:
      return std::strerror(error_number);
  }
}

}  // namespace krepro
