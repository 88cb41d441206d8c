// The only user of libblkid.
#include "generators/randwrite/signature.h"

#include <blkid/blkid.h>

#include <memory>

#include "common/base/error.h"

namespace krepro::randwrite {

namespace {

struct FreeProbe {
  void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
};

std::string value_of(blkid_probe probe, const char* name) {
  const char* value = nullptr;
  if (blkid_probe_lookup_value(probe, name, &value, nullptr) != 0 || value == nullptr) return {};
  return value;
}

std::string name_found(blkid_probe probe) {
  const std::string usage = value_of(probe, "USAGE");
  const std::string type = value_of(probe, "TYPE");
  if (!type.empty()) return usage == "filesystem" ? type + " file system" : type;
  const std::string table = value_of(probe, "PTTYPE");
  return table.empty() ? std::string() : table + " partition table";
}

}  // namespace

std::string find_signature(int fd) {
  const std::unique_ptr<std::remove_pointer_t<blkid_probe>, FreeProbe> probe(blkid_new_probe());
  if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0) != 0) {
    throw usage_error("the device cannot be searched for signatures");
  }
  blkid_probe_enable_superblocks(probe.get(), 1);
  // A damaged superblock is somebody's data as well.
  blkid_probe_set_superblocks_flags(probe.get(),
                                    BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE | BLKID_SUBLKS_BADCSUM);
  blkid_probe_enable_partitions(probe.get(), 1);
  std::string found;
  // One call per signature, so that several at once are all named instead of being ambivalent.
  for (int result = 0; (result = blkid_do_probe(probe.get())) != 1;) {
    if (result < 0) throw usage_error("reading the device in search of signatures failed");
    const std::string name = name_found(probe.get());
    if (name.empty() || found.find(name) != std::string::npos) continue;
    found += (found.empty() ? "" : ", ") + name;
  }
  return found;
}

}  // namespace krepro::randwrite
