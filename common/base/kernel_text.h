// Texts of the kernel's files taken apart without copying (they are read around every trial, and
// some have a column per CPU), and why one could not be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krepro {

/// The lines without their ends; the last one too where it has none. Views of `text`, which has to
/// live as long: no temporary.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);
/// The words between spaces and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
/// The whole word as a decimal number; nothing where it is none, or does not fit.
[[nodiscard]] std::optional<std::uint64_t> number_in(std::string_view word);

/// Of "always [madvise] never" or "none (full)" the word that is marked; empty where none is.
[[nodiscard]] std::string_view marked_word(std::string_view text);
/// "absent", "no permission", "empty" for 0, or the text of the errno value.
[[nodiscard]] std::string reason_text(int error_number);

}  // namespace krepro
