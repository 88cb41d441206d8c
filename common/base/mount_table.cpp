#include "common/base/mount_table.h"

#include <charconv>

#include "common/base/kernel_text.h"

namespace krepro {

std::string unescape_octal(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(digits, digits + 3, value, 8).ptr == digits + 3) {
      result.push_back(static_cast<char>(value));
      i += 3;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

std::vector<MountEntry> parse_mount_table(std::string_view mountinfo) {
  constexpr std::string_view separator = " - ";
  std::vector<MountEntry> mounts;
  for (const std::string_view line : lines_of(mountinfo)) {
    const std::size_t dash = line.find(separator);
    if (dash == std::string_view::npos) continue;
    const std::vector<std::string_view> words = words_of(line.substr(0, dash));
    const std::string_view rest = line.substr(dash + separator.size());
    const std::size_t first = rest.find(' ');
    const std::size_t last = rest.rfind(' ');
    if (words.size() < 6 || first == std::string_view::npos || first == last) continue;
    mounts.push_back({std::string(words[2]), unescape_octal(words[3]), unescape_octal(words[4]),
                      std::string(words[5]), std::string(rest.substr(0, first)),
                      unescape_octal(rest.substr(first + 1, last - first - 1)),
                      std::string(rest.substr(last + 1))});
  }
  return mounts;
}

}  // namespace krepro
