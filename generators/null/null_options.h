// What krepro-null says of itself: its options and metrics.
#pragma once

#include "common/generator/description.h"

namespace krepro::null {

[[nodiscard]] Description make_description();

}  // namespace krepro::null
