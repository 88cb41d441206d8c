// The time of day, for names of files and for logs. Nothing is ever measured by it.
#pragma once

#include <string>

namespace krepro {

/// UTC: "2026-11-30T12:46:03Z".
[[nodiscard]] std::string utc_now();
/// Local time, for file names: "20261130-1246".
[[nodiscard]] std::string local_minute_now();

}  // namespace krepro
