// What krepro-http says of itself: options, metrics, the original and the rows that are compared
// with it. Runs nothing.
#pragma once

#include "common/generator/description.h"

namespace krepro::http {

[[nodiscard]] const Description& description();

}  // namespace krepro::http
