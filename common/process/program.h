// Finds the executable file that a program's name stands for, before anything is forked, so that a
// missing program is one clear line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace krepro {

/// The file that execvp(3) would run: `name` itself where it has a slash, else the first executable
/// file of that name in `search_path` (folders separated by colons). Nothing where there is none.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name,
                                                                std::string_view search_path);
/// In the environment's PATH.
[[nodiscard]] std::optional<std::filesystem::path> find_program(const std::string& name);
/// As find_program, absolute; throws not_possible that says what is wrong with it: not there, not
/// in PATH, a folder, not executable.
[[nodiscard]] std::filesystem::path require_program(const std::string& name,
                                                    std::string_view search_path);
/// PATH of the environment, or the system's default where it is not set.
[[nodiscard]] std::string default_search_path();

}  // namespace krepro
