// Notes are names and bytes, each padded to four: elf(5).
#include "common/base/elf_notes.h"

#include <elf.h>
#include <fmt/core.h>

#include <cstdint>
#include <cstring>

namespace krepro {
namespace {

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

std::size_t padded(std::size_t size) { return (size + 3U) & ~std::size_t{3U}; }

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

}  // namespace

std::string gnu_build_id_of_notes(std::string_view notes) {
  constexpr std::size_t header = 12;
  const std::string_view gnu("GNU\0", 4);
  std::size_t at = 0;
  while (at + header <= notes.size()) {
    const std::size_t name_size = word_at(notes, at);
    const std::size_t data_size = word_at(notes, at + 4);
    const std::uint32_t type = word_at(notes, at + 8);
    const std::size_t name_at = at + header;
    const std::size_t data_at = name_at + padded(name_size);
    if (data_at + data_size > notes.size()) break;
    if (type == NT_GNU_BUILD_ID && notes.substr(name_at, name_size) == gnu) {
      return hexadecimal(notes.substr(data_at, data_size));
    }
    at = data_at + padded(data_size);
  }
  return {};
}

std::string gnu_build_id_in(std::string_view head) {
  if (head.size() < sizeof(Elf64_Ehdr) || head.substr(0, SELFMAG) != ELFMAG ||
      head[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  Elf64_Ehdr file;
  std::memcpy(&file, head.data(), sizeof file);
  for (std::size_t i = 0; i < file.e_phnum; ++i) {
    const std::size_t at = file.e_phoff + i * sizeof(Elf64_Phdr);
    if (at > head.size() || head.size() - at < sizeof(Elf64_Phdr)) break;
    Elf64_Phdr part;
    std::memcpy(&part, head.data() + at, sizeof part);
    if (part.p_type != PT_NOTE || part.p_offset > head.size()) continue;
    const std::string id = gnu_build_id_of_notes(head.substr(part.p_offset, part.p_filesz));
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace krepro
