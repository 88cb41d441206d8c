// Breaking text at spaces.
#include "suite/catalog/wrap.h"

#include <sstream>

namespace krepro {

namespace {

constexpr std::size_t line_width = 78;

}  // namespace

std::string wrapped(const std::string& first, const std::vector<std::string>& words,
                    std::size_t indent, const std::string& continuation) {
  std::string result = first;
  std::size_t column = first.size();
  bool at_start = true;
  for (const std::string& word : words) {
    if (!at_start && column + 1 + word.size() + continuation.size() > line_width) {
      result.append(continuation).append(1, '\n').append(indent, ' ');
      column = indent;
    } else if (!at_start) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    at_start = false;
  }
  result += '\n';
  return result;
}

std::string wrapped(const std::string& first, const std::string& text, std::size_t indent) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return wrapped(first, words, indent, "");
}

}  // namespace krepro
