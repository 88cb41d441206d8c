// Breaking text at spaces to the width that may be mailed. No markup, ASCII.
#pragma once

#include <string>

namespace krepro {

/// `first` and then `text`, broken at spaces so that lines have at most 78 columns where words
/// allow it; continued lines start with `indent` spaces. Ends with a line end.
[[nodiscard]] std::string wrapped(const std::string& first, const std::string& text,
                                  std::size_t indent);

}  // namespace krepro
