// The schedules of open loops. Sleeping until a start is the caller's business.
#include "common/timing/pacer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/check.h"
#include "common/base/error.h"

namespace krepro {
namespace {

/// 146 years: far beyond any run, and still addable to any reading of the clock.
constexpr double max_elapsed_ns = 0x1p62;

}  // namespace

Pacer::Pacer(Arrivals arrivals, double rate, std::uint64_t seed, std::uint64_t stream, double phase)
    : arrivals_(arrivals), phase_(phase), random_(seed, stream) {
  KREPRO_CHECK(arrivals != Arrivals::closed);
  KREPRO_CHECK(phase >= 0 && phase < 1);
  if (!(rate > 0) || !std::isfinite(rate)) {
    throw usage_error(fmt::format("a rate of {}/s is not possible: it must be above 0", rate));
  }
  interval_ns_ = 1e9 / rate;
}

std::int64_t Pacer::next_ns() {
  KREPRO_CHECK(!closed());
  if (arrivals_ == Arrivals::poisson) {
    elapsed_ns_ += random_.exponential() * interval_ns_;
  } else {
    elapsed_ns_ = (phase_ + static_cast<double>(issued_)) * interval_ns_;
    ++issued_;
  }
  return start_ns_ + static_cast<std::int64_t>(std::min(elapsed_ns_, max_elapsed_ns));
}

}  // namespace krepro
