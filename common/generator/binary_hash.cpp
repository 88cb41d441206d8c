// The build id of the running program: the linker's hash over its contents, already loaded with it.
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>

#include "common/generator/session.h"

namespace krepro {

namespace {

/// Looks for the GNU build-id note in one loaded segment.
std::string build_id_in(const unsigned char* notes, std::size_t size) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof(header));
    const std::size_t name_at = at + sizeof(header);
    const std::size_t body_at = name_at + (header.n_namesz + 3U) / 4 * 4;
    const std::size_t next = body_at + (header.n_descsz + 3U) / 4 * 4;
    if (next > size) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name_at, "GNU", 4) == 0) {
      return fmt::format("{:02x}",
                         fmt::join(notes + body_at, notes + body_at + header.n_descsz, ""));
    }
    at = next;
  }
  return {};
}

int visit(dl_phdr_info* info, std::size_t /*size*/, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    std::string id = build_id_in(notes, segment.p_memsz);
    if (!id.empty()) {
      *static_cast<std::string*>(result) = std::move(id);
      break;
    }
  }
  return 1;  // The first object is the program itself; the libraries do not count.
}

}  // namespace

std::string binary_hash() {
  std::string result;
  dl_iterate_phdr(visit, &result);
  return result;
}

}  // namespace krepro
