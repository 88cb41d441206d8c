// Breaking text at spaces.
#include "suite/catalog/wrap.h"

#include <sstream>

namespace krepro {

namespace {

constexpr std::size_t line_width = 78;

}  // namespace

std::string wrapped(const std::string& first, const std::string& text, std::size_t indent) {
  std::string result = first;
  std::size_t column = first.size();
  bool at_start = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!at_start && column + 1 + word.size() > line_width) {
      result.append(1, '\n').append(indent, ' ');
      column = indent;
    } else if (!at_start) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    at_start = false;
  }
  return result + "\n";
}

}  // namespace krepro
