// Making and printing of the operator's errors, and the suggestion for a mistyped name. Not the
// exit itself: main() returns the code.
#include "common/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

namespace krepro {
namespace {

constexpr std::size_t line_width = 78;
constexpr std::size_t indent_width = 8;  // The width of "krepro: ".

/// Appends `text` word by word; goes on at `column`, breaks before line_width, and indents every
/// further line. A word is never cut: paths and commands are there to be copied.
void append_wrapped(std::string& out, std::string_view text, std::size_t column) {
  bool line_has_words = false;
  while (true) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string_view::npos) return;
    const bool break_wanted = text.substr(0, start).find('\n') != std::string_view::npos;
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    const std::size_t blank = line_has_words ? 1 : 0;
    if (line_has_words && (break_wanted || column + blank + word.size() > line_width)) {
      out += '\n';
      out.append(indent_width, ' ');
      column = indent_width;
    } else if (blank == 1) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    line_has_words = true;
  }
}

/// Lower case, and '_' as '-': spellings that people mix up without any typing error.
std::string folded(std::string_view word) {
  std::string result(word);
  for (char& letter : result) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == '_') letter = '-';
  }
  return result;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment distance).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

Error usage_error(const std::string& message, std::string remedy) {
  return {ExitCode::usage, message, std::move(remedy)};
}

Error not_possible(const std::string& message, std::string remedy) {
  return {ExitCode::not_possible, message, std::move(remedy)};
}

Error system_error(const std::string& what, int error_number, ExitCode code) {
  // Not strerror(): it is not safe with threads.
  return {code, what + ": " + std::generic_category().message(error_number)};
}

namespace {

/// Several errors at once, one line each, not wrapped: each begins with a place in a file that
/// editors and grep follow.
std::string format_list(std::string_view program, std::string_view messages) {
  std::string out;
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    out += fmt::format("{}: {}\n", program, messages.substr(0, end));
    messages.remove_prefix(std::min(end + 1, messages.size()));
  }
  return out;
}

}  // namespace

std::string format_error(std::string_view program, const Error& error) {
  const std::string_view message = error.what();
  if (message.find('\n') != std::string_view::npos) return format_list(program, message);
  std::string out = fmt::format("{}: ", program);
  append_wrapped(out, error.what(), out.size());
  out += '\n';
  if (!error.remedy().empty()) {
    out.append(indent_width, ' ');
    append_wrapped(out, error.remedy(), indent_width);
    out += '\n';
  }
  return out;
}

void print_error(std::string_view program, const Error& error) {
  // One call, so that lines of several processes do not mix.
  std::fputs(format_error(program, error).c_str(), stderr);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = folded(word);
  std::size_t best_distance = wanted.size() / 3 + 1;  // One more than is accepted.
  std::string best;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, folded(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace krepro
