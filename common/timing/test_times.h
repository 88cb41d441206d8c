// Times that the tests here count with. For tests only.
#pragma once

#include <cstdint>

#include "common/base/units.h"

namespace krepro {

constexpr std::int64_t second = one_second_ns;
constexpr std::int64_t start = 98'765'432'109'876;  ///< A clock reading that is round in no unit.

}  // namespace krepro
