#include "suite/counters/kernel_text.h"

#include <algorithm>
#include <charconv>
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

}  // namespace krepro
