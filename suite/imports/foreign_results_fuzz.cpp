// Fuzz target: any bytes are read as a foreign result or a published table, or refused with an
// Error, never anything else.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/error.h"
#include "suite/compare/reference.h"
#include "suite/imports/foreign_results.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    static_cast<void>(krepro::parse_foreign(text, "fuzz"));
  } catch (const krepro::Error&) {
  }
  try {
    static_cast<void>(krepro::parse_published_table(text, "fuzz.csv"));
  } catch (const krepro::Error&) {
  }
  return 0;
}
