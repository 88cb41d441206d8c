// The version of every program of the project; CMake checks that it is the project's.
#pragma once

namespace krepro {

inline constexpr const char* version = "0.1.0";

}  // namespace krepro
