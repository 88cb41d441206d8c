// The list of everything that is wrong with a profile.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "common/base/error.h"
#include "suite/profile/profile.h"

namespace krepro {

namespace {

/// A file that is no profile at all gives one error per line; nobody reads more than this.
constexpr std::size_t shown_errors_max = 20;

}  // namespace

void ProfileErrors::add(SourcePosition position, const std::string& message,
                        const std::string& suggestion) {
  const std::string text = position.line > 0 ? fmt::format("{}:{}:{}: {}", path_.string(),
                                                           position.line, position.column, message)
                                             : message;
  const auto same = [&](const Found& found) { return found.text == text; };
  if (std::any_of(found_.begin(), found_.end(), same)) return;
  found_.push_back({position, text, suggestion});
}

void ProfileErrors::throw_if_any() const {
  if (found_.empty()) return;
  if (found_.size() == 1) throw usage_error(found_.front().text, found_.front().suggestion);
  std::vector<Found> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Found& a, const Found& b) {
    return std::tie(a.position.line, a.position.column) <
           std::tie(b.position.line, b.position.column);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), shown_errors_max); ++i) {
    if (i > 0) text += '\n';
    text += sorted[i].text;
    if (!sorted[i].suggestion.empty()) text += fmt::format("; {}", sorted[i].suggestion);
  }
  if (sorted.size() > shown_errors_max) {
    text +=
        fmt::format("\n{}: and {} more errors", path_.string(), sorted.size() - shown_errors_max);
  }
  throw usage_error(text);
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

}  // namespace krepro
