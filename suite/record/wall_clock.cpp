// The only reader of CLOCK_REALTIME.
#include "suite/record/wall_clock.h"

#include <time.h>

namespace krepro {
namespace {

std::string formatted(const tm& time, const char* format) {
  char text[32];
  const std::size_t length = strftime(text, sizeof text, format, &time);
  return {text, length};
}

time_t seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec;
}

}  // namespace

std::string utc_now() {
  const time_t now = seconds_now();
  tm utc{};
  gmtime_r(&now, &utc);
  return formatted(utc, "%Y-%m-%dT%H:%M:%SZ");
}

std::string local_minute_now() {
  const time_t now = seconds_now();
  tm local{};
  localtime_r(&now, &local);
  return formatted(local, "%Y%m%d-%H%M");
}

}  // namespace krepro
