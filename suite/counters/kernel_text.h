// Splitting of the kernel's text files without copying: they are read around every trial, and some
// of them have a column per CPU. Private to suite/counters and suite/settings.
#pragma once

#include <cstdint>
#include <optional>
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

}  // namespace krepro
