// Other machines from files: what --topology takes. hwloc's XML, or a text with hwloc's synthetic
// description and what that cannot say.
#pragma once

#include <filesystem>
#include <string>

#include "suite/placement/machine.h"

namespace krepro {

/// A file that `lstopo FILE.xml` wrote, or a text: lines "# ..." and "key = value" (architecture,
/// allowed, offline, kinds) and a synthetic description over one or more lines. Throws usage_error
/// with the file's name and line.
[[nodiscard]] Machine read_machine_file(const std::filesystem::path& path);

/// The text form alone; `name` is for messages.
[[nodiscard]] Machine parse_machine_text(const std::string& text, const std::string& name);

/// `file` where one is given, else the machine itself.
[[nodiscard]] Machine machine_from(const std::filesystem::path& file);

}  // namespace krepro
