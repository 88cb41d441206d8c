// Standard output for results. A reader that goes away (`| head -1`) or a full disk behind it must
// never end a run: what is recorded matters more than what is printed. So printing does not throw;
// main() asks at the end whether something was lost.
#pragma once

#include <string_view>

namespace krepro {

/// Prints to standard output; errors are remembered.
void print_text(std::string_view text);
/// Makes what was printed so far visible.
void flush_text();
/// The errno of the first print or flush that failed; 0: none did.
[[nodiscard]] int output_error();

}  // namespace krepro
