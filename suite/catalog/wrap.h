// Breaking text at spaces to the width that may be mailed. No markup, ASCII.
#pragma once

#include <string>
#include <vector>

namespace krepro {

/// `first` and then the words of `text`, broken so that lines have at most 78 columns where words
/// allow it; continued lines start with `indent` spaces. Ends with a line end.
[[nodiscard]] std::string wrapped(const std::string& first, const std::string& text,
                                  std::size_t indent);
/// The same of words that may hold spaces; `continuation` ends each line that goes on (" \\" for a
/// shell).
[[nodiscard]] std::string wrapped(const std::string& first, const std::vector<std::string>& words,
                                  std::size_t indent, const std::string& continuation);

}  // namespace krepro
