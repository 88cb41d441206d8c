// GNU build ids: in the kernel's notes, and in the head of programs and libraries.
#pragma once

#include <string>
#include <string_view>

namespace krepro {

/// Of a run of ELF notes (elf(5)) the GNU build id, hexadecimal; "" where there is none.
[[nodiscard]] std::string gnu_build_id_of_notes(std::string_view notes);

/// The same from the first bytes of an ELF file; "" where they hold none.
[[nodiscard]] std::string gnu_build_id_in(std::string_view head);

}  // namespace krepro
