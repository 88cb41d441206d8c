// Whatever bytes a profile holds, it is read or refused with a usage error; nothing else happens.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/error.h"
#include "suite/profile/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const krepro::Profile profile = krepro::parse_profile(text, "fuzz.toml");
    if (profile.benchmarks.empty()) std::abort();
  } catch (const krepro::Error& error) {
    if (error.code() != krepro::ExitCode::usage || *error.what() == '\0') std::abort();
  }
  return 0;
}
