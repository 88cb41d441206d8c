// `krepro GENERATOR ...`: hands over to the generator's program, with everything after the name.
#pragma once

#include <string>
#include <vector>

namespace krepro {

struct GeneratorCall {
  std::string name;
  std::vector<std::string> arguments;
};

/// Becomes the generator's program (execv); returns only by an exception: usage_error with the
/// nearest of `commands` and generators, not_possible where it is not built.
[[noreturn]] void hand_over(const GeneratorCall& call, const std::vector<std::string>& commands);

}  // namespace krepro
