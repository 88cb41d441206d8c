// Printing that remembers its first error; for standard output alone.
#include "suite/report/output.h"

#include <cerrno>
#include <cstdio>

namespace krepro {
namespace {

int first_error = 0;

void remember(bool failed) {
  if (failed && first_error == 0) first_error = errno != 0 ? errno : EIO;
}

}  // namespace

void print_text(std::string_view text) {
  errno = 0;
  remember(std::fwrite(text.data(), 1, text.size(), stdout) < text.size());
}

void flush_text() {
  errno = 0;
  remember(std::fflush(stdout) != 0);
}

int output_error() { return first_error; }

}  // namespace krepro
