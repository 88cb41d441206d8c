// Fuzz target: a run file of any bytes is read or refused with an Error, never anything else.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/error.h"
#include "suite/record/run_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const krepro::RunFile file = krepro::parse_run_file(
        std::string(reinterpret_cast<const char*>(data), size), "fuzz.jsonl");
    for (const krepro::RecordedTrial* trial : file.final_trials()) {
      (void)krepro::to_json(*trial).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
  } catch (const krepro::Error&) {
  }
  return 0;
}
