// The build id of the running program: the linker's hash over its contents, already loaded with it.
#include <elf.h>
#include <link.h>

#include "common/base/elf_notes.h"
#include "common/generator/session.h"

namespace krepro {

namespace {

int visit(dl_phdr_info* info, std::size_t /*size*/, void* result) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    std::string id = gnu_build_id_of_notes({notes, segment.p_memsz});
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
