// The progress line and the guess of the time left.
#include "suite/execute/progress_line.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace krepro {
namespace {

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool capable_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : shown_(!quiet && capable_terminal()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!shown_) return;
  // The last column is left free: some terminals wrap when it is filled.
  fmt::print(stderr, "\r{}\033[K", text.substr(0, terminal_width() - 1));
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
}

void TimeLeft::learn(std::size_t benchmark, double seconds) {
  Known& known = known_[benchmark];
  known.seconds += seconds;
  ++known.count;
}

double TimeLeft::estimate_seconds(const std::vector<std::size_t>& pending) const {
  double measured = 0;
  double expected = 0;
  int count = 0;
  for (const auto& [benchmark, known] : known_) {
    measured += known.seconds;
    expected += plan_.benchmarks[benchmark].expected_seconds * known.count;
    count += known.count;
  }
  const double ratio = expected > 0 && measured > 0 ? measured / expected : 1;
  double total = 0;
  for (const std::size_t index : pending) {
    const std::size_t benchmark = plan_.trials[index].benchmark;
    const auto known = known_.find(benchmark);
    if (known != known_.end()) {
      total += known->second.seconds / known->second.count;
    } else if (plan_.benchmarks[benchmark].expected_seconds > 0) {
      total += plan_.benchmarks[benchmark].expected_seconds * ratio;
    } else if (count > 0) {
      total += measured / count;
    } else {
      return -1;
    }
  }
  return total;
}

}  // namespace krepro
